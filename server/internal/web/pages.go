package web

import (
	"bytes"
	"cmp"
	"compress/gzip"
	"context"
	"embed"
	"html/template"
	"net/http"
	"net/url"
	"path"
	"regexp"
	"strings"
	"sync"
	"time"
	"unicode"
	"unicode/utf8"

	"google.golang.org/grpc/codes"
	"google.golang.org/grpc/status"

	"github.com/gridstand/gridstand/internal/id"
	"github.com/gridstand/gridstand/internal/loopback"
	"github.com/gridstand/gridstand/internal/shortid"
)

// embedded has the files that make generate made from the directory site.
//
//go:embed assets
var embedded embed.FS

// policy is the Content-Security-Policy of all pages.
const policy = "default-src 'none'; script-src 'self'; style-src 'self'; img-src 'self' data:; " +
	"connect-src 'self'; manifest-src 'self'; base-uri 'none'; form-action 'none'; frame-ancestors 'none'"

// Meta describes a page in its title and in link previews.
type Meta struct {
	Title, Description string
	// Image is the path of a picture of the page's game, or empty if the page shows none.
	// Previews without such a picture show the site's icon.
	Image string
}

// shell is the data for the template that all pages share.
type shell struct {
	Meta
	// Page is the page's name in main.js, or empty if the page only shows Heading and Text. ID identifies
	// what the page shows.
	Page, ID      string
	Heading, Text string
	// Daily is whether the server has daily games.
	Daily bool
	// Assets is the path of the directory of the page's files. It contains their hash, so that
	// browsers can keep them.
	Assets string
	// Origin is the public URL of the server's pages if it is known, and otherwise the one that the
	// request names. URL is the page's own, for link previews. It is empty if only the request names
	// its host, which may be any, unless that is a loopback address.
	Origin, URL string
	// Site is the public URL of the server's pages, for links that players share, if it is
	// known and other machines cannot reach Origin. Otherwise it is empty.
	Site string
}

// about returns the description of a page for link previews, given its name and the ID
// of what it shows, or an empty one if the page has no specific description. If the page
// shows something that does not exist, the error has the code NotFound.
type about func(ctx context.Context, page, id string) (Meta, error)

// kinds are the kinds of pages: each has patterns for paths, whose id identifies what the page shows, its name
// in main.js, and a title and description for pages without specific ones.
var kinds = []struct{ patterns, page, title, description string }{
	{"/{$}", "tv", "Gridstand", "Watch 2048 and Tribolo live, move by move, and play in the browser or the terminal."},
	{"/g/{id}", "game", "Game – Gridstand", "Watch this game, live or from its first move."},
	{"/c/{id}", "challenge", "Challenge – Gridstand", "Play the same tiles as others."},
	{"/daily /daily/{id}", "daily", "Daily game – Gridstand", "The same tiles for everyone, with a new game every day."},
	{"/race", "race", "Race – Gridstand", "Play the same tiles as others, at the same time."},
	{"/play /play/{id}", "play", "Play – Gridstand", "Play with arrow keys or by swiping; others can watch."},
	{"/top /top/{id}", "top", "Best scores – Gridstand", "The best scores of today, of this week and of all time."},
	{"/p/{id}", "player", "Player – Gridstand", "A player's games."},
	{"/link", "link", "Link – Gridstand", "Continue with your account in this browser."},
	{"/account", "account", "Account – Gridstand", "Your name, and the token that signs you in elsewhere."},
}

// pages serves an HTML shell for each page, and the files that the pages load. public is the public URL of
// the pages, or empty, and daily is whether the server has daily games.
func pages(about about, public string, daily bool) http.Handler {
	files, directory := readSite()
	shells := template.Must(template.New("").Parse(string(files["shell.html"].plain)))
	s := site{shells, directory, about, public, daily}
	mux := http.NewServeMux()
	for _, kind := range kinds {
		page := shell{Meta: Meta{Title: kind.title, Description: kind.description}, Page: kind.page}
		for pattern := range strings.FieldsSeq(kind.patterns) {
			mux.HandleFunc("GET "+pattern, func(w http.ResponseWriter, r *http.Request) { s.page(w, r, page) })
			if pattern != "/{$}" {
				mux.HandleFunc("GET "+pattern+"/{$}", withoutSlash)
			}
		}
	}
	for _, name := range atRoot {
		mux.Handle("GET /"+name, files.serve(cachedFor(finishedAge)))
	}
	// Another version is that of another server. Browsers revalidate its files every time, so that a page
	// does not mix files from two versions for long.
	mux.Handle("GET /assets/{version}/{file}", files.serve("no-cache"))
	mux.Handle("GET "+s.assets+"/{file}", files.serve("public, max-age=31536000, immutable"))
	mux.HandleFunc("/", s.missing)
	return mux
}

// atRoot are the files with which phones install the pages as an app. Their paths stay the same.
var atRoot = []string{"apple-touch-icon.png", "icon-192.png", "icon-512.png", "manifest.webmanifest"}

// withoutSlash redirects to the path without the slash at its end.
func withoutSlash(w http.ResponseWriter, r *http.Request) {
	to := url.URL{Path: strings.TrimSuffix(r.URL.Path, "/"), RawQuery: r.URL.RawQuery}
	http.Redirect(w, r, to.RequestURI(), http.StatusMovedPermanently)
}

// site serves the pages.
type site struct {
	shells *template.Template
	assets string // see shell.Assets
	about  about
	public string // public URL of the pages, or empty
	daily  bool   // whether the server has daily games
}

// page serves a page. Names and variants are not limited to what an ID can be.
func (s site) page(w http.ResponseWriter, r *http.Request, page shell) {
	page.ID = r.PathValue("id")
	hasID := page.Page == "game" || page.Page == "challenge"
	switch {
	case hasID && shortid.Valid(page.ID):
		s.plain(w, r, http.StatusNotFound, "Incomplete link", "A link needs all 26 characters of the id.")
		return
	case hasID && !id.Valid(page.ID), strings.ContainsFunc(page.ID, isUnprintable):
		s.missing(w, r)
		return
	}
	if loopback.Is(r.Host) {
		page.Site = s.public
	}
	meta, err := s.about(r.Context(), page.Page, page.ID)
	if err == nil && meta.Title != "" {
		page.Meta = meta
	}
	code := http.StatusOK
	if status.Code(err) == codes.NotFound {
		code = http.StatusNotFound // The page explains what does not exist.
	}
	s.write(w, r, page, code)
}

// plain serves a page that only shows a text.
func (s site) plain(w http.ResponseWriter, r *http.Request, code int, heading, text string) {
	s.write(w, r, shell{Meta: Meta{Title: heading + " – Gridstand"}, Heading: heading, Text: text}, code)
}

// missing serves the page for paths that no page has.
func (s site) missing(w http.ResponseWriter, r *http.Request) {
	s.plain(w, r, http.StatusNotFound, "Page not found", "There is nothing at this address.")
}

// isUnprintable reports whether no name or ID can contain r: a control character, one that changes
// the direction of text, or a byte that is not UTF-8.
func isUnprintable(r rune) bool { return r == utf8.RuneError || !unicode.IsPrint(r) }

// write renders a page as the response.
func (s site) write(w http.ResponseWriter, r *http.Request, page shell, code int) {
	scheme := "http"
	if r.TLS != nil || r.Header.Get("X-Forwarded-Proto") == "https" {
		scheme = "https"
	}
	page.Daily, page.Assets, page.Origin = s.daily, s.assets, cmp.Or(s.public, scheme+"://"+r.Host)
	if s.public != "" || loopback.Is(r.Host) {
		page.URL = page.Origin + r.URL.EscapedPath()
	}
	var text bytes.Buffer
	_ = s.shells.Execute(&text, page) // fails only if the template does not fit a shell
	header := w.Header()
	header.Set("Content-Type", "text/html; charset=utf-8")
	header.Set("Content-Security-Policy", policy)
	if scheme == "https" { // Over HTTP, browsers ignore the header and log a warning.
		header.Set("Cross-Origin-Opener-Policy", "same-origin")
	}
	header.Set("Referrer-Policy", "same-origin")
	header.Set("Cache-Control", "no-cache")
	header.Set("Vary", "Accept-Encoding")
	data := text.Bytes()
	if acceptsGzip(r.Header) {
		header.Set("Content-Encoding", compression)
		data = pack(data)
	}
	w.WriteHeader(code)
	_, _ = w.Write(data)
}

// asset is a file that the pages load.
type asset struct {
	plain, gzip []byte
	etag        string // without the quotes that the header needs
}

// contentTypes maps file extensions to content types. Those in package mime depend on the
// operating system.
var contentTypes = map[string]string{
	".css": "text/css; charset=utf-8", ".js": "text/javascript; charset=utf-8", ".svg": "image/svg+xml",
	".png": "image/png", ".webmanifest": "application/manifest+json",
}

// assets maps the names of the pages' files to their contents.
type assets map[string]asset

// readSite returns the embedded files, and the path of a directory that has them, whose name is their hash.
var readSite = sync.OnceValues(func() (files assets, directory string) {
	files = assets{}
	var all []byte
	entries, _ := embedded.ReadDir("assets") // Reading embedded files cannot fail.
	for _, e := range entries {
		data, _ := embedded.ReadFile("assets/" + e.Name())
		files[e.Name()] = asset{data, pack(data), digest(data)}
		all = append(all, e.Name()+" "+files[e.Name()].etag+"\n"...)
	}
	return files, "/assets/" + digest(all)
})

// packers are unused *gzip.Writers. A new one takes 800 kB.
var packers = sync.Pool{New: func() any { return gzip.NewWriter(nil) }}

// pack compresses data.
func pack(data []byte) []byte {
	var packed bytes.Buffer
	z := packers.Get().(*gzip.Writer)
	defer packers.Put(z)
	z.Reset(&packed)
	_, _ = z.Write(data) // Writing to a Buffer cannot fail.
	_ = z.Close()
	return packed.Bytes()
}

// serve returns a handler that serves the file at the end of the path, with the given Cache-Control.
func (a assets) serve(caching string) http.HandlerFunc {
	return func(w http.ResponseWriter, r *http.Request) {
		name := path.Base(r.URL.Path)
		f, ok := a[name]
		if !ok || strings.HasSuffix(name, ".html") {
			http.Error(w, "There is no such file.", http.StatusNotFound)
			return
		}
		data, etag := f.plain, f.etag
		if acceptsGzip(r.Header) {
			data, etag = f.gzip, etag+"-gzip"
			w.Header().Set("Content-Encoding", compression)
		}
		w.Header().Set("Vary", "Accept-Encoding")
		serveContent(w, r, contentTypes[path.Ext(name)], caching, etag, data)
	}
}

// noWeight matches the weight of a coding that a client does not accept (RFC 9110, section 12.4.2).
var noWeight = regexp.MustCompile(`^\s*[qQ]=0(\.0*)?\s*$`)

// acceptsGzip reports whether a client lists gzip among the codings that it accepts.
func acceptsGzip(header http.Header) bool {
	for coding := range strings.SplitSeq(strings.Join(header.Values("Accept-Encoding"), ","), ",") {
		name, weight, _ := strings.Cut(coding, ";")
		if strings.EqualFold(strings.TrimSpace(name), compression) {
			return !noWeight.MatchString(weight)
		}
	}
	return false
}

// serveContent writes a file, or responds that the client's cached copy is up to date. It ignores ranges:
// each would get its own part, so that a request of 16 kB could get an answer of 400 kB in 3,900 parts.
func serveContent(w http.ResponseWriter, r *http.Request, kind, caching, etag string, data []byte) {
	header := w.Header()
	header.Set("Content-Type", kind)
	header.Set("Cache-Control", caching)
	header.Set("ETag", `"`+etag+`"`)
	r.Header.Del("Range")
	http.ServeContent(w, r, "", time.Time{}, bytes.NewReader(data))
}
