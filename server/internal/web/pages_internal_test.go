package web

import (
	"compress/gzip"
	"context"
	"io"
	"net/http"
	"net/http/httptest"
	"path"
	"strings"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
)

// maxSize bounds what a browser loads for all pages in bytes: HTML, CSS and JavaScript,
// uncompressed.
const maxSize = 60_000

// adasPages describes every game in the same way.
var adasPages = pages(func(context.Context, string) (Meta, bool) {
	return Meta{Title: "ada <script>", Description: "Live now", Image: "/g/x/picture.png"}, true
})

// get asks adasPages for a path, with headers given as name and value in turns.
func get(t *testing.T, target string, headers ...string) *http.Response {
	t.Helper()
	r := httptest.NewRequest(http.MethodGet, target, nil)
	for i := 0; i < len(headers); i += 2 {
		r.Header.Set(headers[i], headers[i+1])
	}
	w := httptest.NewRecorder()
	adasPages.ServeHTTP(w, r)
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
	for _, c := range []struct{ target, page, id, module string }{
		{"/", "tv", "", "tv.js"},
		{"/g/abc", "game", "abc", "replay.js"},
		{"/play/tribolo", "play", "tribolo", "api.js"},
		{"/top", "top", "", "top.js"},
		{"/top/twos", "top", "twos", "top.js"},
		{"/p/ada%20b", "player", "ada b", "api.js"},
		{"/account", "account", "", "account.js"},
		{"/p/%22%3E%3Cb%3E", "player", "&#34;&gt;&lt;b&gt;", "api.js"},
	} {
		r := get(t, c.target)
		text := body(t, r)
		assert.Equal(t, http.StatusOK, r.StatusCode, c.target)
		assert.Contains(t, text, `data-page="`+c.page+`" data-id="`+c.id+`"`, c.target)
		assert.Equal(t, "text/html; charset=utf-8", r.Header.Get("Content-Type"))
		assert.Equal(t, policy, r.Header.Get("Content-Security-Policy"))
		assert.Equal(t, "nosniff", r.Header.Get("X-Content-Type-Options"))
		assert.Empty(t, r.Cookies())
		assert.NotContains(t, text, "<style")
		assert.NotContains(t, text, `style="`)
	}
}

// A browser loads the modules of a page at once rather than one after the other.
func TestPages_Modules(t *testing.T) {
	t.Parallel()
	text := body(t, get(t, "/g/abc"))
	for _, module := range []string{"game.js", "replay.js", "board.js", "twenty48.js", "api.js", "dom.js"} {
		assert.Equal(t, 1, strings.Count(text, `<link rel="modulepreload" href="/assets/`+module+`">`), module)
	}
	assert.NotContains(t, text, "verify.js", "only a finished game needs it")
}

func TestPages_Previews(t *testing.T) {
	t.Parallel()
	text := body(t, get(t, "http://play.example/g/abc"))
	assert.Contains(t, text, `<meta property="og:title" content="ada &lt;script&gt;">`)
	assert.Contains(t, text, `<meta property="og:image" content="http://play.example/g/x/picture.png">`)
	assert.Contains(t, text, `<meta property="og:url" content="http://play.example/g/abc">`)
	assert.Contains(t, body(t, get(t, "/g/abc", "X-Forwarded-Proto", "https")), `content="https://`)
	assert.NotContains(t, body(t, get(t, "/top")), "og:image")
}

func TestPages_UnknownPath(t *testing.T) {
	t.Parallel()
	for _, target := range []string{"/nothing", "/g/", "/g/a/b", "/favicon.ico"} {
		r := get(t, target)
		assert.Equal(t, http.StatusNotFound, r.StatusCode, target)
		assert.Contains(t, body(t, r), "Page not found", target)
	}
	for _, target := range []string{"/assets/none.js", "/assets/shell.html"} {
		assert.Equal(t, http.StatusNotFound, get(t, target).StatusCode, target)
	}
}

func TestPages_Assets(t *testing.T) {
	t.Parallel()
	for name, kind := range map[string]string{
		"main.js": "text/javascript; charset=utf-8", "style.css": "text/css; charset=utf-8",
		"palette.css": "text/css; charset=utf-8", "icon.svg": "image/svg+xml",
	} {
		r := get(t, "/assets/"+name)
		plain := body(t, r)
		assert.Equal(t, http.StatusOK, r.StatusCode, name)
		assert.Equal(t, kind, r.Header.Get("Content-Type"), name)
		assert.Equal(t, "no-cache", r.Header.Get("Cache-Control"), name)
		etag := r.Header.Get("ETag")
		assert.Regexp(t, `^"[\w-]{16}"$`, etag, name)
		assert.Equal(t, http.StatusNotModified, get(t, "/assets/"+name, "If-None-Match", etag).StatusCode, name)

		packed := get(t, "/assets/"+name, "Accept-Encoding", "br, gzip")
		assert.NotEqual(t, etag, packed.Header.Get("ETag"), name)
		assert.Equal(t, "gzip", packed.Header.Get("Content-Encoding"), name)
		z, err := gzip.NewReader(packed.Body)
		require.NoError(t, err, name)
		b, err := io.ReadAll(z)
		require.NoError(t, err, name)
		assert.Equal(t, plain, string(b), name)
	}
}

// The page stays small without a build step: the server leaves out what only readers of
// the source need.
func TestPages_Size(t *testing.T) {
	t.Parallel()
	total, sizes := 0, map[string]int{}
	for name, f := range readSite() {
		switch path.Ext(name) {
		case ".html", ".css", ".js":
			sizes[name] = len(f.plain)
			total += len(f.plain)
		}
	}
	t.Logf("%d of %d bytes: %v", total, maxSize, sizes)
	assert.LessOrEqual(t, total, maxSize, "%v", sizes)
}
