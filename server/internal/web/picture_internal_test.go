package web

import (
	"context"
	"errors"
	"io"
	"net/http"
	"net/http/httptest"
	"strconv"
	"testing"
	"testing/synctest"
	"time"

	"connectrpc.com/connect"
	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
	"google.golang.org/grpc/codes"
	"google.golang.org/grpc/status"

	pb "github.com/gridstand/gridstand/proto/gridstand/v1"
	"github.com/gridstand/gridstand/server/internal/web/picture"
)

// gallery is a picture handler with fake games.
type gallery struct {
	*pictures
	games          map[string]*pb.Game
	drawn, charged int
	affords        int // reads
}

func newGallery() *gallery {
	g := &gallery{affords: 100 * drawingReads, games: map[string]*pb.Game{
		"live": {Id: "live", Version: 7, Status: pb.GameStatus_GAME_STATUS_ACTIVE},
		"over": {Id: "over", Version: 9, Status: pb.GameStatus_GAME_STATUS_FINISHED},
	}}
	g.pictures = &pictures{describe: func(_ context.Context, page, id string) (description, error) {
		if found := g.games[id]; found != nil && page == "game" {
			poster := picture.Poster{Title: id, About: strconv.Itoa(int(found.GetVersion()))}
			return description{poster: poster, final: found.GetStatus() == pb.GameStatus_GAME_STATUS_FINISHED}, nil
		}
		return description{}, status.Error(codes.NotFound, "no such game")
	}, charge: func(_ context.Context, reads int) error {
		if g.charged += reads; g.charged > g.affords {
			return connect.NewError(connect.CodeResourceExhausted, errors.New("too many reads"))
		}
		return nil
	}}
	g.draw = func(w io.Writer, poster picture.Poster) error {
		g.drawn++
		_, err := io.WriteString(w, "picture of "+poster.Title+" at "+poster.About)
		return err
	}
	return g
}

// get requests a picture. headers contains alternating names and values.
func (g *gallery) get(ctx context.Context, method, id string, headers ...string) *httptest.ResponseRecorder {
	mux := http.NewServeMux()
	mux.Handle("GET /g/{id}/picture.png", g)
	r := httptest.NewRequestWithContext(ctx, method, "/g/"+id+"/picture.png", nil)
	for i := 0; i < len(headers); i += 2 {
		r.Header.Set(headers[i], headers[i+1])
	}
	w := httptest.NewRecorder()
	mux.ServeHTTP(w, r)
	return w
}

// Ensure that a picture is at most 10 seconds old, and that it is neither drawn nor charged more often, no
// matter how often it is requested, in any spelling. TestReads of package cached shows that requests at once
// share a drawing, too.
func TestPictures_Live(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		g := newGallery()
		for n := range 6 {
			w := g.get(t.Context(), http.MethodGet, []string{"live", "LIVE"}[n%2])
			require.Equal(t, http.StatusOK, w.Code)
			assert.Equal(t, "picture of live at 7", w.Body.String())
			assert.Equal(t, "image/png", w.Header().Get("Content-Type"))
			assert.Equal(t, "public, max-age=10", w.Header().Get("Cache-Control"))
		}
		assert.Equal(t, 1, g.drawn)
		assert.Equal(t, drawingReads, g.charged)
		g.games["live"] = &pb.Game{Id: "live", Version: 8, Status: pb.GameStatus_GAME_STATUS_FINISHED}
		time.Sleep(liveAge - time.Second) //nolint:forbidigo // The bubble's clock is fake.
		assert.Equal(t, "picture of live at 7", g.get(t.Context(), http.MethodGet, "live").Body.String())
		time.Sleep(time.Second) //nolint:forbidigo // as above
		w := g.get(t.Context(), http.MethodGet, "live")
		assert.Equal(t, "picture of live at 8", w.Body.String())
		assert.Equal(t, "public, max-age=86400", w.Header().Get("Cache-Control"))
		assert.Equal(t, 2, g.drawn)
	})
}

// Ensure that a picture is not sent to a client that already has it, and that a client can
// request just the headers of a picture.
func TestPictures_Conditional(t *testing.T) {
	t.Parallel()
	g := newGallery()
	w := g.get(t.Context(), http.MethodHead, "over")
	require.Equal(t, http.StatusOK, w.Code)
	assert.Empty(t, w.Body.String())
	assert.Equal(t, "20", w.Header().Get("Content-Length"))
	etag := w.Header().Get("ETag")
	require.NotEmpty(t, etag)

	w = g.get(t.Context(), http.MethodGet, "over", "If-None-Match", etag)
	assert.Equal(t, http.StatusNotModified, w.Code)
	assert.Empty(t, w.Body.String())
	w = g.get(t.Context(), http.MethodGet, "over", "If-None-Match", `"another"`)
	assert.Equal(t, http.StatusOK, w.Code)
}

// Ensure that a client whose other calls delay it does not delay others that request the same picture.
func TestPictures_Delayed(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		g := newGallery()
		describe, delayed := g.describe, make(chan struct{})
		g.describe = func(ctx context.Context, page, id string) (description, error) {
			<-delayed
			return describe(ctx, page, id)
		}
		go g.get(t.Context(), http.MethodGet, "live")
		synctest.Wait()
		g.describe = describe
		assert.Equal(t, http.StatusOK, g.get(t.Context(), http.MethodGet, "live").Code)
		close(delayed)
	})
}

// Ensure that a request for a picture fails if the game is unknown, cannot be drawn, or if its client has no
// reads left, and that no failure is cached.
func TestPictures_Fail(t *testing.T) {
	t.Parallel()
	g := newGallery()
	w := g.get(t.Context(), http.MethodGet, "nothing")
	assert.Equal(t, http.StatusNotFound, w.Code)
	assert.Equal(t, "application/json", w.Header().Get("Content-Type"))
	assert.Empty(t, w.Header().Get("Cache-Control"))
	draw := g.draw
	g.draw = func(io.Writer, picture.Poster) error { return errors.New("no board") }
	assert.Equal(t, http.StatusInternalServerError, g.get(t.Context(), http.MethodGet, "over").Code)
	g.draw, g.affords = draw, 2*drawingReads
	assert.Equal(t, http.StatusOK, g.get(t.Context(), http.MethodGet, "over").Code)
	assert.Equal(t, http.StatusTooManyRequests, g.get(t.Context(), http.MethodGet, "live").Code)
	assert.Equal(t, 1, g.drawn)
	assert.Equal(t, http.StatusOK, g.get(t.Context(), http.MethodGet, "over").Code, "a picture that is kept costs nothing")
}
