package server_test

import (
	"context"
	"image"
	"image/png"
	"io"
	"net/http"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	playertest "github.com/gridstand/gridstand/internal/testkit/player"
	servertest "github.com/gridstand/gridstand/internal/testkit/server"
	pb "github.com/gridstand/gridstand/proto/gridstand/v1"
)

// Ensure that a link to a game provides what messaging apps need for a preview: a description
// and a picture of the game. A private game's link provides both to anyone with the game's ID.
func TestLinkPreview(t *testing.T) {
	t.Parallel()
	c := servertest.Config(t)
	c.Proxies = "127.0.0.1"
	server, _ := servertest.Start(t, c)
	conn := servertest.Dial(t, server.Addr())
	ctx := within(t)
	ann := playertest.New(ctx, t, conn, "Ann")

	get := func(ctx context.Context, path string) *http.Response {
		request, err := http.NewRequestWithContext(ctx, http.MethodGet, "http://"+server.Addr().String()+path, nil)
		require.NoError(t, err)
		request.Header.Set("X-Forwarded-Proto", "https")
		request.Header.Set("X-Forwarded-For", "192.0.2.7")
		client := http.Client{Transport: &http.Transport{DisableKeepAlives: true}}
		response, err := client.Do(request)
		require.NoError(t, err)
		t.Cleanup(func() { assert.NoError(t, response.Body.Close()) })
		return response
	}
	for _, private := range []bool{false, true} {
		path := "/g/" + ann.Create(t, &pb.CreateGameRequest{Variant: "classic", Private: private}).GetId()

		page, err := io.ReadAll(get(ctx, path).Body)
		require.NoError(t, err)
		assert.Contains(t, string(page), "<title>Ann: 0 points · 2048 classic</title>")
		assert.Contains(t, string(page), `content="https://`+server.Addr().String()+path+`/picture.png?v=1"`)

		response := get(ctx, path+"/picture.png?v=1")
		require.Equal(t, http.StatusOK, response.StatusCode)
		picture, err := png.Decode(response.Body)
		require.NoError(t, err)
		assert.Equal(t, image.Rect(0, 0, 1200, 630), picture.Bounds())
	}

	assert.Equal(t, http.StatusNotFound, get(ctx, "/g/unknown/picture.png").StatusCode)
}
