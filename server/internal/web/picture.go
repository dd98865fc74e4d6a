package web

import (
	"bytes"
	"context"
	"crypto/sha256"
	"encoding/base64"
	"io"
	"net/http"
	"strconv"
	"strings"
	"time"

	"github.com/gridstand/gridstand/server/internal/cached"
	"github.com/gridstand/gridstand/server/internal/web/picture"
)

// Limits on pictures. A picture takes 5 to 10 ms of processor time, more than any other
// read.
const (
	// liveAge and finishedAge are how long clients may cache a picture of an active game and of a finished
	// game, respectively. The server keeps each for liveAge.
	liveAge     = 10 * time.Second
	finishedAge = 24 * time.Hour
	// drawingReads is the number of reads that drawing a picture counts as.
	drawingReads = 200
)

// pictures serves pictures of games, challenges and players for link previews.
type pictures struct {
	// describe describes a page, given its module and the ID of what it shows. draw draws its picture.
	describe func(ctx context.Context, page, id string) (description, error)
	draw     func(io.Writer, picture.Poster) error
	// charge counts reads by the client of a request, or returns an error if they exceed its limit.
	charge func(ctx context.Context, reads int) error
	// kept lets requests for a picture share it.
	kept cached.Reads[string, drawing]
}

// drawing is a drawn picture.
type drawing struct {
	png   []byte
	etag  string
	final bool // whether it no longer changes
}

// ServeHTTP serves the picture of what the page at the same path shows. The picture of a
// private game is available to any client that knows the game's ID, because such a client
// may also watch the game.
func (p *pictures) ServeHTTP(w http.ResponseWriter, r *http.Request) {
	kind, _, _ := strings.Cut(strings.TrimPrefix(r.URL.Path, "/"), "/")
	id := strings.ToLower(r.PathValue("id")) // All spellings of a player's name share a picture.
	d, err := p.picture(r.Context(), kind, id)
	if err != nil {
		WriteError(w, r, err)
		return
	}
	age := liveAge
	if d.final {
		age = finishedAge
	}
	serveContent(w, r, "image/png", cachedFor(age), d.etag, d.png)
}

// cachedFor returns the header that lets browsers and proxies cache a response for the given time.
func cachedFor(age time.Duration) string {
	return "public, max-age=" + strconv.Itoa(int(age.Seconds()))
}

// picture returns the picture of a page, drawn at most liveAge ago. Describing the page takes one of the
// places of the client's address until the response is written, which bounds the pictures that are drawn
// at once. No client waits for the places of another one's address.
func (p *pictures) picture(ctx context.Context, kind, id string) (drawing, error) {
	of, err := p.describe(ctx, pictured[kind], id)
	if err != nil {
		return drawing{}, err
	}
	return p.kept.Get(ctx, kind+"/"+id, liveAge, func() (drawing, error) {
		if err := p.charge(ctx, drawingReads); err != nil {
			return drawing{}, err
		}
		var b bytes.Buffer
		err := p.draw(&b, of.poster)
		return drawing{png: b.Bytes(), etag: digest(b.Bytes()), final: of.final}, err
	})
}

// pictured maps the first parts of the paths of pages with pictures to the pages' modules.
var pictured = map[string]string{"g": "game", "c": "challenge", "p": "player"}

// digest returns a short digest of a file's content.
func digest(data []byte) string {
	sum := sha256.Sum256(data)
	return base64.RawURLEncoding.EncodeToString(sum[:12])
}
