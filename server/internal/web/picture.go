package web

import (
	"bytes"
	"context"
	"crypto/sha256"
	"encoding/base64"
	"io"
	"net/http"
	"strconv"
	"time"

	lru "github.com/hashicorp/golang-lru/v2"
	"google.golang.org/grpc/codes"
	"google.golang.org/grpc/status"

	pb "github.com/gridstand/gridstand/proto/gridstand/v1"
	"github.com/gridstand/gridstand/server/internal/web/picture"
)

// Limits on pictures. A picture takes 5 to 10 ms of processor time, more than any other
// read.
const (
	// keptPictures is the number of pictures in the cache, which take up to 10 MB of
	// memory.
	keptPictures = 256
	// liveAge and finishedAge are how long a picture of an active game and of a finished
	// game, respectively, is served before the game is read again. Clients may cache it for
	// as long.
	liveAge     = 10 * time.Second
	finishedAge = 24 * time.Hour
	// drawingReads is the number of reads that drawing a picture counts as.
	drawingReads = 200
)

// pictures serves pictures of games for link previews.
type pictures struct {
	game func(ctx context.Context, id string) (*pb.Game, error)
	draw func(io.Writer, *pb.Game) error
	now  func() time.Time
	// charge counts reads by the client of a request, or returns an error if they exceed its limit.
	charge func(ctx context.Context, reads int) error
	kept   *lru.Cache[string, drawing]
}

// drawing is a cached picture of a game.
type drawing struct {
	version int32
	png     []byte
	etag    string
	age     time.Duration // how long the picture may be served before the game is read again
	fresh   time.Time     // when the game must be read again
}

func newPictures(game func(ctx context.Context, id string) (*pb.Game, error), charge func(context.Context, int) error) *pictures {
	kept, _ := lru.New[string, drawing](keptPictures) // returns an error only if the size is below 1
	return &pictures{game: game, draw: picture.Draw, now: time.Now, charge: charge, kept: kept}
}

// ServeHTTP serves the picture of the game with the ID in the path. The picture of a
// private game is available to any client that knows the game's ID, because such a client
// may also watch the game.
func (p *pictures) ServeHTTP(w http.ResponseWriter, r *http.Request) {
	d, err := p.picture(r.Context(), r.PathValue("id"))
	if err != nil {
		WriteError(w, r, err)
		return
	}
	writeImage(w, r, d.png, d.etag, d.age)
}

// writeImage writes a PNG that clients may cache for the given time, or responds that the
// client's cached copy is up to date.
func writeImage(w http.ResponseWriter, r *http.Request, png []byte, etag string, age time.Duration) {
	header := w.Header()
	header.Set("Content-Type", "image/png")
	header.Set("Cache-Control", "public, max-age="+strconv.Itoa(int(age.Seconds())))
	header.Set("ETag", etag)
	header.Set("X-Content-Type-Options", "nosniff")
	serveContent(w, r, png)
}

// picture returns the picture of a game. It is at most liveAge old, or finishedAge if the
// game is finished. Reading the game takes one of the places of the client's address until the
// response is written, which bounds the pictures that are drawn at once.
func (p *pictures) picture(ctx context.Context, id string) (drawing, error) {
	d, ok := p.kept.Get(id)
	if ok && p.now().Before(d.fresh) {
		return d, nil
	}
	g, err := p.game(ctx, id)
	if err != nil {
		if status.Code(err) == codes.NotFound {
			p.kept.Remove(id)
		}
		return drawing{}, err
	}
	if !ok || d.version != g.GetVersion() {
		if err := p.charge(ctx, drawingReads); err != nil {
			return drawing{}, err
		}
		if d, err = p.drawn(g); err != nil {
			return drawing{}, err
		}
	}
	d.fresh = p.now().Add(d.age)
	p.kept.Add(id, d)
	return d, nil
}

// drawn draws a game and returns the picture.
func (p *pictures) drawn(g *pb.Game) (drawing, error) {
	var b bytes.Buffer
	if err := p.draw(&b, g); err != nil {
		return drawing{}, err
	}
	age := liveAge
	if g.GetStatus() == pb.GameStatus_GAME_STATUS_FINISHED {
		age = finishedAge
	}
	return drawing{version: g.GetVersion(), png: b.Bytes(), etag: etagOf(b.Bytes()), age: age}, nil
}

// touchIcon serves the icon that phones show on the home screen.
func touchIcon(w http.ResponseWriter, r *http.Request) {
	icon := picture.Icon()
	writeImage(w, r, icon, etagOf(icon), finishedAge)
}

// etagOf returns the ETag of a file with the given content.
func etagOf(data []byte) string { return `"` + digest(data) + `"` }

// digest returns a short digest of a file's content.
func digest(data []byte) string {
	sum := sha256.Sum256(data)
	return base64.RawURLEncoding.EncodeToString(sum[:12])
}
