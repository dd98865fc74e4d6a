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

// Limits on pictures, which cost more than any other read: 5 to 10 ms of processor time.
const (
	// keptPictures are up to 10 MB in memory.
	keptPictures = 256
	// drawingAtOnce bounds the processors that draw; others wait up to drawingWait.
	drawingAtOnce = 2
	drawingWait   = time.Second
	// A picture of a game that goes on is served for liveAge without a look at the game.
	liveAge     = 10 * time.Second
	finishedAge = 24 * time.Hour
	// One address may have drawingsPerSecond made for it, and ten seconds' worth at once:
	// otherwise a client that asks for many games would keep the slots for drawing busy.
	drawingsPerSecond = 10
)

var (
	// errBusy reports that too many pictures are being drawn.
	errBusy = errors.New("too many pictures are being drawn")
	// errTooMany reports that too many pictures were drawn for an address.
	errTooMany = errors.New("too many pictures were drawn for this address")
)

// pictures serves pictures of games for the previews of links.
type pictures struct {
	game func(ctx context.Context, id string) (*pb.Game, error)
	draw func(io.Writer, *pb.Game) error
	now  func() time.Time
	// address returns the address that limits count a request for.
	address func(ctx context.Context) string
	pace    *ratelimit.Pacer
	slots   chan struct{} // one for each picture that is being drawn
	wait    time.Duration
	kept    *lru.Cache[string, drawing]
}

// drawing is a picture of a game.
type drawing struct {
	version      int32
	png          []byte
	etag         string
	cacheControl string
	fresh        time.Time // until when the game need not be looked at again
}

func newPictures(game func(ctx context.Context, id string) (*pb.Game, error), address func(context.Context) string) *pictures {
	kept, _ := lru.New[string, drawing](keptPictures) // fails only for a size below 1
	return &pictures{
		game: game, draw: picture.Draw, now: time.Now, address: address, pace: ratelimit.PerSecond(drawingsPerSecond),
		slots: make(chan struct{}, drawingAtOnce), wait: drawingWait, kept: kept,
	}
}

// ServeHTTP serves the picture of the game with the id in the path. A client that
// knows the id of a private game may watch it, and so may see its picture.
func (p *pictures) ServeHTTP(w http.ResponseWriter, r *http.Request) {
	d, err := p.picture(r.Context(), r.PathValue("id"))
	if err != nil {
		writeError(w, r, later(err))
		return
	}
	writeImage(w, r, d.png, d.etag, d.cacheControl)
}

// later tells clients to retry after an error that ends soon.
func later(err error) error {
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

// writeImage answers with a PNG, or says that the client's copy is current.
func writeImage(w http.ResponseWriter, r *http.Request, png []byte, etag, cacheControl string) {
	header := w.Header()
	header.Set("Content-Type", "image/png")
	header.Set("Cache-Control", cacheControl)
	header.Set("ETag", etag)
	header.Set("X-Content-Type-Options", "nosniff")
	http.ServeContent(w, r, "", time.Time{}, bytes.NewReader(png))
}

// picture returns a picture of a game that is at most liveAge old.
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
	if ok && p.now().Before(d.fresh) { // another request was faster
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

// enter waits until a picture may be drawn.
func (p *pictures) enter(ctx context.Context) error {
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

// drawn draws a game.
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

// touchIcon serves the icon for home screens.
func touchIcon(w http.ResponseWriter, r *http.Request) {
	icon := picture.Icon()
	writeImage(w, r, icon, etagOf(icon), "public, max-age=86400")
}

// etagOf returns the ETag of a file's bytes.
func etagOf(data []byte) string { return `"` + digest(data) + `"` }

// digest identifies a file's bytes.
func digest(data []byte) string {
	sum := sha256.Sum256(data)
	return base64.RawURLEncoding.EncodeToString(sum[:12])
}
