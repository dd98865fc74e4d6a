package web_test

import (
	"bytes"
	"html"
	"image/png"
	"net/http"
	"net/url"
	"regexp"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	waittest "github.com/gridstand/gridstand/internal/testkit/wait"
	pb "github.com/gridstand/gridstand/proto/gridstand/v1"
)

// Ensure that the pages of a game, a player and the daily game name pictures that the server draws,
// and that phones find the icons of the app.
func TestPreviews(t *testing.T) {
	t.Parallel()
	s := start(t)
	ada := s.player(t)
	g := ada.Create(t, &pb.CreateGameRequest{Variant: "classic"})
	image := regexp.MustCompile(`property="og:image" content="http://[^/"]*([^"]*/picture.png[^"]*)"`)
	for _, path := range []string{"/g/" + g.GetId(), "/p/" + url.PathEscape(g.GetSeats()[0].GetPlayer().GetName()), "/daily"} {
		var found [][]byte
		waittest.Until(t, path+" names its picture", func() bool { // It does not while the server is slow.
			_, page := s.do(t, http.MethodGet, path, "")
			found = image.FindSubmatch(page)
			return found != nil
		})
		response, data := s.do(t, http.MethodGet, html.UnescapeString(string(found[1])), "")
		require.Equal(t, http.StatusOK, response.StatusCode, "%s: %s", path, found[1])
		config, err := png.DecodeConfig(bytes.NewReader(data))
		require.NoError(t, err, path)
		assert.Equal(t, 1200, config.Width, path)
	}
	_, manifest := s.do(t, http.MethodGet, "/manifest.webmanifest", "")
	for icon, side := range map[string]int{"/apple-touch-icon.png": 180, "/icon-192.png": 192, "/icon-512.png": 512} {
		if side > 180 {
			assert.Contains(t, string(manifest), icon)
		}
		response, data := s.do(t, http.MethodGet, icon, "")
		assert.Equal(t, "image/png", response.Header.Get("Content-Type"), icon)
		assert.Equal(t, "public, max-age=86400", response.Header.Get("Cache-Control"), icon)
		config, err := png.DecodeConfig(bytes.NewReader(data))
		require.NoError(t, err, icon)
		assert.Equal(t, side, config.Width, icon)
	}
}

// Ensure that browsers take every response for what it is.
func TestNoSniff(t *testing.T) {
	t.Parallel()
	s := start(t)
	for _, path := range []string{
		"/", "/nothing", "/assets/any/main.js", "/assets/any/nothing", "/manifest.webmanifest", "/icon-192.png",
		"/g/kx3fq2lhau3j3mvt67orv2pzel/events", "/gridstand.v1.GameService/Cheat", "/gridstand.v1.GameService/GetGame",
	} {
		response, _ := s.do(t, http.MethodGet, path, "")
		assert.Equal(t, "nosniff", response.Header.Get("X-Content-Type-Options"), path)
	}
}
