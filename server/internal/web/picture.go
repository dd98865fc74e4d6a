package web

import (
	"bytes"
	"context"
	"crypto/sha256"
	"encoding/base64"
	"errors"
	"io"
	"net/http"
	"time"

	"connectrpc.com/connect"
	lru "github.com/hashicorp/golang-lru/v2"
	"google.golang.org/grpc/codes"
	"google.golang.org/grpc/status"

	pb "github.com/gridstand/gridstand/proto/gridstand/v1"
	"github.com/gridstand/gridstand/server/internal/ratelimit"
	"github.com/gridstand/gridstand/server/internal/web/picture"
)

// Limits on pictures. A picture takes 5 to 10 ms of processor time, more than any other
// read.
const (
	// keptPictures is the number of pictures in the cache, which take up to 10 MB of
	// memory.
	keptPictures = 256
	// drawingAtOnce is the maximum number of pictures that are drawn concurrently. Further
	// requests wait for up to drawingWait.
	drawingAtOnce = 2
	drawingWait   = time.Second
	// liveAge and finishedAge are how long a picture of an active game and of a finished
	// game, respectively, is served before the game is read again.
	liveAge     = 10 * time.Second
	finishedAge = 24 * time.Hour
	// drawingsPerSecond limits the rate at which pictures are drawn for one address.
	// Bursts may contain ten seconds' worth of pictures. Without the limit, a client that
	// requests pictures of many games could occupy all slots.
	drawingsPerSecond = 10
)

var (
	// errBusy means that too many pictures are being drawn at the moment.
	errBusy = errors.New("too many pictures are being drawn")
	// errTooMany means that too many pictures have been drawn for an address.
	errTooMany = errors.New("too many pictures were drawn for this address")
)

// pictures serves pictures of games for link previews.
type pictures struct {
	game func(ctx context.Context, id string) (*pb.Game, error)
	draw func(io.Writer, *pb.Game) error
	now  func() time.Time
	// address returns the client address that the limits apply to.
	address func(ctx context.Context) string
	pace    *ratelimit.Pacer
	slots   chan struct{} // one for each picture being drawn
	wait    time.Duration
	kept    *lru.Cache[string, drawing]
}

// drawing is a cached picture of a game.
type drawing struct {
	version      int32
	png          []byte
	etag         string
	cacheControl string
	fresh        time.Time // when the game must be read again
}

func newPictures(game func(ctx context.Context, id string) (*pb.Game, error), address func(context.Context) string) *pictures {
	kept, _ := lru.New[string, drawing](keptPictures) // returns an error only if the size is below 1
	return &pictures{
		game: game, draw: picture.Draw, now: time.Now, address: address, pace: ratelimit.PerSecond(drawingsPerSecond),
		slots: make(chan struct{}, drawingAtOnce), wait: drawingWait, kept: kept,
	}
}

// ServeHTTP serves the picture of the game with the ID in the path. The picture of a
// private game is available to any client that knows the game's ID, because such a client
// may also watch the game.
func (p *pictures) ServeHTTP(w http.ResponseWriter, r *http.Request) {
	d, err := p.picture(r.Context(), r.PathValue("id"))
	if err != nil {
		writeError(w, r, withRetry(err))
		return
	}
	writeImage(w, r, d.png, d.etag, d.cacheControl)
}

// withRetry adds a retry hint to temporary errors, and returns other errors unchanged.
func withRetry(err error) error {
	code := connect.CodeUnavailable
	switch {
	case errors.Is(err, errTooMany):
		code = connect.CodeResourceExhausted
	case !errors.Is(err, errBusy):
		return err
	}
	e := connect.NewError(code, err)
	e.Meta().Set("Retry-After", "1")
	return e
}

// writeImage writes a PNG, or responds that the client's cached copy is up to date.
func writeImage(w http.ResponseWriter, r *http.Request, png []byte, etag, cacheControl string) {
	header := w.Header()
	header.Set("Content-Type", "image/png")
	header.Set("Cache-Control", cacheControl)
	header.Set("ETag", etag)
	header.Set("X-Content-Type-Options", "nosniff")
	http.ServeContent(w, r, "", time.Time{}, bytes.NewReader(png))
}

// picture returns the picture of a game. It is at most liveAge old, or finishedAge if the
// game is finished.
func (p *pictures) picture(ctx context.Context, id string) (drawing, error) {
	if d, ok := p.kept.Get(id); ok && p.now().Before(d.fresh) {
		return d, nil
	}
	g, err := p.game(ctx, id)
	if err != nil {
		if status.Code(err) == codes.NotFound {
			p.kept.Remove(id)
		}
		return drawing{}, err
	}
	if err := p.enter(ctx); err != nil {
		return drawing{}, err
	}
	defer func() { <-p.slots }()

	d, ok := p.kept.Get(id)
	if ok && p.now().Before(d.fresh) { // another request has already drawn it
		return d, nil
	}
	if !ok || d.version != g.GetVersion() {
		if !p.pace.Take(p.address(ctx)) {
			return drawing{}, errTooMany
		}
		if d, err = p.drawn(g); err != nil {
			return drawing{}, err
		}
	}
	age := liveAge
	if g.GetStatus() == pb.GameStatus_GAME_STATUS_FINISHED {
		age = finishedAge
	}
	d.fresh = p.now().Add(age)
	p.kept.Add(id, d)
	return d, nil
}

// enter waits until another picture may be drawn.
func (p *pictures) enter(ctx context.Context) error {
	select {
	case p.slots <- struct{}{}: // without a wait, which could end before the select on a stalled machine
		return nil
	default:
	}
	timeout := time.NewTimer(p.wait)
	defer timeout.Stop()
	select {
	case p.slots <- struct{}{}:
		return nil
	case <-timeout.C:
		return errBusy
	case <-ctx.Done():
		return ctx.Err()
	}
}

// drawn draws a game and returns the picture with its cache headers.
func (p *pictures) drawn(g *pb.Game) (drawing, error) {
	var b bytes.Buffer
	if err := p.draw(&b, g); err != nil {
		return drawing{}, err
	}
	cacheControl := "public, max-age=10"
	if g.GetStatus() == pb.GameStatus_GAME_STATUS_FINISHED {
		cacheControl = "public, max-age=86400"
	}
	return drawing{version: g.GetVersion(), png: b.Bytes(), etag: etagOf(b.Bytes()), cacheControl: cacheControl}, nil
}

// touchIcon serves the icon that phones show on the home screen.
func touchIcon(w http.ResponseWriter, r *http.Request) {
	icon := picture.Icon()
	writeImage(w, r, icon, etagOf(icon), "public, max-age=86400")
}

// etagOf returns the ETag of a file with the given content.
func etagOf(data []byte) string { return `"` + digest(data) + `"` }

// digest returns a short digest of a file's content.
func digest(data []byte) string {
	sum := sha256.Sum256(data)
	return base64.RawURLEncoding.EncodeToString(sum[:12])
}
