package web

import (
	"compress/gzip"
	"context"
	"io"
	"net/http"
	"net/http/httptest"
	"os"
	"path"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
	"google.golang.org/grpc/codes"
	"google.golang.org/grpc/status"
)

// maxSize is the maximum total size in bytes of the pages' compressed HTML, CSS and JavaScript.
const maxSize = 45_000

// adasPages returns the same description for every game's page, and none for other pages.
var adasPages = pages(aboutAda, "", true)

// aboutAda describes every game's page as Ada's, and no other page.
func aboutAda(_ context.Context, page, _ string) (Meta, error) {
	if page != "game" {
		return Meta{}, nil
	}
	return Meta{Title: "ada <script>", Description: "Live now", Image: "/g/x/picture.png"}, nil
}

// get requests a path from adasPages. headers contains names and values alternately.
func get(t *testing.T, target string, headers ...string) *http.Response {
	t.Helper()
	return getFrom(t, adasPages, target, headers...)
}

// getFrom is like get but requests the path from the given pages.
func getFrom(t *testing.T, pages http.Handler, target string, headers ...string) *http.Response {
	t.Helper()
	r := httptest.NewRequest(http.MethodGet, target, nil)
	for i := 0; i < len(headers); i += 2 {
		r.Header.Set(headers[i], headers[i+1])
	}
	w := httptest.NewRecorder()
	pages.ServeHTTP(w, r)
	return w.Result()
}

// body returns the body of a response.
func body(t *testing.T, r *http.Response) string {
	t.Helper()
	b, err := io.ReadAll(r.Body)
	require.NoError(t, err)
	return string(b)
}

func TestPages_Shell(t *testing.T) {
	t.Parallel()
	for _, c := range []struct{ target, page, id string }{
		{"/", "tv", ""},
		{"/g/kx3fq2lhau3j3mvt67orv2pzel", "game", "kx3fq2lhau3j3mvt67orv2pzel"},
		{"/top", "top", ""},
		{"/top/twos", "top", "twos"},
		{"/p/ada%20b", "player", "ada b"},
		{"/p/%22%3E%3Cb%3E", "player", "&#34;&gt;&lt;b&gt;"},
	} {
		r := get(t, c.target)
		text := body(t, r)
		assert.Equal(t, http.StatusOK, r.StatusCode, c.target)
		assert.Contains(t, text, `data-page="`+c.page+`" data-id="`+c.id+`"`, c.target)
		assert.Equal(t, "text/html; charset=utf-8", r.Header.Get("Content-Type"))
		assert.Equal(t, policy, r.Header.Get("Content-Security-Policy"))
		assert.Empty(t, r.Cookies())
		assert.NotContains(t, text, "<style")
		assert.NotContains(t, text, "<title></title>", "a page without a description keeps its title")
		for _, loaded := range regexp.MustCompile(`(?:href|src)="(/assets/[^"]*)"`).FindAllStringSubmatch(text, -1) {
			assert.Contains(t, get(t, loaded[1]).Header.Get("Cache-Control"), "immutable", "a second visit requests "+loaded[1])
		}
		assert.NotContains(t, text, `style="`)
	}
}

// Ensure that a game's page has the metadata that sites need for a preview, other pages have the icon,
// and that previews name the server's public URL if it is known, whatever address and scheme the
// request names. Only pages opened at a loopback address, which other machines cannot reach, share it, and
// say that the browser has another account there.
func TestPages_Previews(t *testing.T) {
	t.Parallel()
	const game = "/g/kx3fq2lhau3j3mvt67orv2pzel"
	assert.Contains(t, body(t, get(t, game, "X-Forwarded-Proto", "https")), `content="https://`)
	public := pages(aboutAda, "https://play.example", true)
	for target, image := range map[string]string{game: "/g/x/picture.png", "/": "/apple-touch-icon.png", "/g/kx3fq2": "/apple-touch-icon.png", "/nothing": "/apple-touch-icon.png"} {
		for host, origin := range map[string]string{
			"http://games.example:2048": "http://games.example:2048", "http://localhost:2048": "http://localhost:2048", "http://evil.example": "https://play.example",
		} {
			handler := adasPages
			if host != origin {
				handler = public
			}
			text := body(t, getFrom(t, handler, host+target))
			assert.Equal(t, 1, strings.Count(text, `property="og:image" content=`), target)
			assert.Contains(t, text, `<meta property="og:image" content="`+origin+image+`">`, target)
			named := `<meta property="og:url" content="` + origin + target + `">`
			assert.Equal(t, !strings.Contains(host, "games"), strings.Contains(text, named), "a request cannot name the page's URL")
			assert.Equal(t, target == game, strings.Contains(text, `<meta name="twitter:card" content="summary_large_image">`), target)
			assert.Equal(t, target == game, strings.Contains(text, `<meta property="og:title" content="ada &lt;script&gt;">`), target)
			assert.NotContains(t, text, "<script>")
			assert.NotContains(t, text, "evil.example")
			assert.NotContains(t, text, "data-site", host)
			assert.NotContains(t, text, "Others use", host)
		}
	}
	text := body(t, getFrom(t, public, "http://[::1]:2048"+game))
	assert.Contains(t, text, ` data-site="https://play.example"`)
	assert.Contains(t, text, `Others use <a href="https://play.example`+game+`">https://play.example</a>`)
}

// Ensure that the header leads to the daily game if and only if the server has one.
func TestPages_NoDaily(t *testing.T) {
	t.Parallel()
	for _, daily := range []bool{true, false} {
		text := body(t, getFrom(t, pages(aboutAda, "", daily), "/"))
		assert.Equal(t, daily, strings.Contains(text, `href="/daily"`))
		assert.Contains(t, text, `href="/race"`)
	}
}

func TestPages_UnknownPath(t *testing.T) {
	t.Parallel()
	for _, target := range []string{"/nothing", "/g/", "/g/a/b", "/favicon.ico"} {
		r := get(t, target)
		assert.Equal(t, http.StatusNotFound, r.StatusCode, target)
		assert.Contains(t, body(t, r), "Page not found", target)
	}
	r := get(t, "/c/kx3fq2lhau3j3mvt67orv2pze")
	assert.Equal(t, http.StatusNotFound, r.StatusCode)
	assert.Contains(t, body(t, r), "A link needs all 26 characters of the id.")
	for _, target := range []string{
		"/g/nope", "/c/no-challenge", "/g/KX3FQ2LHAU3J3MVT67ORV2PZEL", "/g/%1b%5b2J", "/c/%00",
		"/p/%1b%5b2J", "/p/a%E2%80%AEb", "/p/%FF", "/daily/%07", "/top/a%0Ab", "/play/%E2%81%A6",
	} {
		r := get(t, target)
		text := body(t, r)
		assert.Equal(t, http.StatusNotFound, r.StatusCode, target)
		assert.Contains(t, text, "There is nothing at this address.", target)
		assert.Contains(t, text, `data-id=""`, target)
		assert.False(t, strings.ContainsAny(text, "\x00\a\x1b\u202e\u2066\ufffd"), target)
	}
	assert.Equal(t, http.StatusOK, get(t, "/g/kx3fq2lhau3j3mvt67orv2pzel").StatusCode)
	_, directory := readSite()
	for _, target := range []string{"/assets/other/none.js", "/assets/other/shell.html", directory + "/none.js"} {
		assert.Equal(t, http.StatusNotFound, get(t, target).StatusCode, target)
	}
}

// Ensure that the page of something that does not exist has the status 404, that an impossible ID
// is not looked up, and that a failing store does not make pages look missing.
func TestPages_Missing(t *testing.T) {
	t.Parallel()
	var asked []string
	answer := status.Error(codes.NotFound, "nothing")
	handler := pages(func(_ context.Context, page, id string) (Meta, error) {
		asked = append(asked, page+" "+id)
		return Meta{Title: "lost"}, answer
	}, "", true)
	const id = "kx3fq2lhau3j3mvt67orv2pzel"
	looks := func(want int, targets ...string) {
		t.Helper()
		for _, target := range targets {
			r := getFrom(t, handler, target)
			assert.Equal(t, want, r.StatusCode, target)
			assert.NotContains(t, body(t, r), "lost", target)
		}
	}
	looks(http.StatusNotFound, "/g/"+id, "/c/"+id, "/p/ada", "/daily/nothing", "/g/nope", "/c/no-challenge", "/g/"+strings.ToUpper(id))
	assert.Equal(t, []string{"game " + id, "challenge " + id, "player ada", "daily nothing"}, asked)
	answer = status.Error(codes.Unavailable, "no store")
	looks(http.StatusOK, "/g/"+id, "/c/"+id, "/p/ada", "/daily/nothing")
}

// Ensure that the page of a link with a short ID says what to do.
func TestPages_ShortID(t *testing.T) {
	t.Parallel()
	for _, target := range []string{"/g/kx3fq2", "/c/kx3fq2lhau3j3mvt67orv2pze"} {
		r := get(t, target)
		assert.Equal(t, http.StatusNotFound, r.StatusCode, target)
		assert.Contains(t, body(t, r), "A link needs all 26 characters of the id.", target)
	}
}

// Ensure that a slash at the end of a page's link does no harm.
func TestPages_TrailingSlash(t *testing.T) {
	t.Parallel()
	for target, want := range map[string]string{
		"/g/kx3fq2lhau3j3mvt67orv2pzel/": "/g/kx3fq2lhau3j3mvt67orv2pzel",
		"/daily/classic/?date=1&x=%2F":   "/daily/classic?date=1&x=%2F",
		"/race/":                         "/race",
	} {
		r := get(t, target)
		assert.Equal(t, http.StatusMovedPermanently, r.StatusCode, target)
		assert.Equal(t, want, r.Header.Get("Location"), target)
	}
	for _, target := range []string{"/nothing/", "/%2Fexample.com/", `/\example.com/`} {
		assert.Equal(t, http.StatusNotFound, get(t, target).StatusCode, target)
	}
}

func TestPages_Assets(t *testing.T) {
	t.Parallel()
	_, directory := readSite()
	for name, kind := range map[string]string{
		"main.js": "text/javascript; charset=utf-8", "style.css": "text/css; charset=utf-8",
		"icon.svg": "image/svg+xml", "icon-192.png": "image/png", "manifest.webmanifest": "application/manifest+json",
	} {
		r := get(t, "/assets/other/"+name)
		plain := body(t, r)
		assert.Equal(t, http.StatusOK, r.StatusCode, name)
		assert.Equal(t, kind, r.Header.Get("Content-Type"), name)
		assert.Equal(t, "no-cache", r.Header.Get("Cache-Control"), name)
		etag := r.Header.Get("ETag")
		assert.Regexp(t, `^"[\w-]{16}"$`, etag, name)
		assert.Equal(t, http.StatusNotModified, get(t, "/assets/other/"+name, "If-None-Match", etag).StatusCode, name)

		for _, target := range []string{directory + "/" + name, "/assets/another/" + name} {
			r := get(t, target)
			assert.Equal(t, plain, body(t, r), target)
			assert.Equal(t, strings.HasPrefix(target, directory), strings.Contains(r.Header.Get("Cache-Control"), "immutable"), target)
		}
		packed := get(t, "/assets/other/"+name, "Accept-Encoding", "br, gzip")
		assert.NotEqual(t, etag, packed.Header.Get("ETag"), name)
		assert.Equal(t, "gzip", packed.Header.Get("Content-Encoding"), name)
		z, err := gzip.NewReader(packed.Body)
		require.NoError(t, err, name)
		b, err := io.ReadAll(z)
		require.NoError(t, err, name)
		assert.Equal(t, plain, string(b), name)
	}
}

// Ensure that a file is compressed if and only if the client lists gzip.
func TestPages_AcceptEncoding(t *testing.T) {
	t.Parallel()
	for accepted, want := range map[string]bool{
		"gzip": true, "GZIP": true, "gzip, deflate, br, zstd": true, "br;q=1, gzip;q=0.8": true, "gzip ; q=0.001": true,
		"": false, "br": false, "gzip;q=0": false, "br, gzip; q=0.000": false, "x-gzips": false, "identity": false,
	} {
		for _, target := range []string{"/assets/other/main.js", "/"} {
			r := get(t, target, "Accept-Encoding", accepted)
			assert.Equal(t, want, r.Header.Get("Content-Encoding") == "gzip", "%q", accepted)
			assert.Equal(t, "Accept-Encoding", r.Header.Get("Vary"))
		}
	}
	assert.True(t, acceptsGzip(http.Header{"Accept-Encoding": {"br", "gzip"}}), "two headers")
}

// Ensure that minification keeps the pages small, although their sources have comments and
// long names.
func TestPages_Size(t *testing.T) {
	t.Parallel()
	total := 0
	files, _ := readSite()
	for name, f := range files {
		if slices.Contains([]string{".html", ".css", ".js"}, path.Ext(name)) {
			total += len(f.gzip)
		}
	}
	t.Logf("%d bytes", total)
	assert.LessOrEqual(t, total, maxSize)
}

// Ensure that every module is part of the pages.
func TestPages_Modules(t *testing.T) {
	t.Parallel()
	modules, err := filepath.Glob("site/*.js")
	require.NoError(t, err)
	var all strings.Builder
	for _, name := range modules {
		text, err := os.ReadFile(name)
		require.NoError(t, err)
		all.Write(text)
	}
	for _, name := range modules {
		if name = filepath.Base(name); name != "main.js" {
			assert.Contains(t, all.String(), " from './"+name+"'", "no module imports it")
		}
	}
}
