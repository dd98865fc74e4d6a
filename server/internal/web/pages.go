package web

import (
	"bytes"
	"compress/gzip"
	"context"
	"embed"
	"html/template"
	"net/http"
	"path"
	"regexp"
	"slices"
	"strings"
	"sync"
	"time"

	"github.com/gridstand/gridstand/internal/palette"
)

//go:embed site
var site embed.FS

// policy is the Content-Security-Policy of all pages.
const policy = "default-src 'none'; script-src 'self'; style-src 'self'; img-src 'self' data:; " +
	"connect-src 'self'; base-uri 'none'; form-action 'none'; frame-ancestors 'none'"

// Meta describes a page to people and to link previews.
type Meta struct {
	Title, Description string
	// Image is the path of a picture, empty for none.
	Image string
}

// shell is what the template of every page shows.
type shell struct {
	Meta
	// Page is the module that shows the page, empty if there is none. ID is what it shows.
	Page, ID string
	// Modules are the files that the page will need, so that a browser loads them at once.
	Modules []string
	// Origin and Path are the page's own address, for link previews.
	Origin, Path string
}

// pages serves the page: an HTML shell for each address, and its files. about describes
// a game for link previews; it reports false for a game that it does not know. It may
// be nil.
func pages(about func(ctx context.Context, gameID string) (Meta, bool)) http.Handler {
	// A server that shows no page never prepares them.
	handler := sync.OnceValue(func() http.Handler { return newPages(about) })
	return http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) { handler().ServeHTTP(w, r) })
}

// newPages returns the handler of pages.
func newPages(about func(ctx context.Context, gameID string) (Meta, bool)) http.Handler {
	files := readSite()
	tmpl := template.Must(template.New("").Parse(string(files["shell.html"].plain)))
	mux := http.NewServeMux()
	page := func(pattern, module, key string, meta Meta) {
		modules := files.imports(module + ".js")
		mux.HandleFunc("GET "+pattern, func(w http.ResponseWriter, r *http.Request) {
			s := shell{Meta: meta, Page: module, Modules: modules}
			if key != "" {
				s.ID = r.PathValue(key)
			}
			if module == "game" && about != nil {
				if m, ok := about(r.Context(), s.ID); ok {
					s.Meta = m
				}
			}
			s.write(w, r, tmpl, http.StatusOK)
		})
	}
	page("/{$}", "tv", "", Meta{
		Title:       "Gridstand",
		Description: "Watch 2048 and Tribolo live, move by move, and play in the browser or the terminal.",
	})
	page("/g/{id}", "game", "id", Meta{Title: "Game – Gridstand", Description: "Watch this game, live or from its first move."})
	play := Meta{Title: "Play – Gridstand", Description: "Play with arrow keys or by swiping; others can watch."}
	page("/play", "play", "", play)
	page("/play/{variant}", "play", "variant", play)
	top := Meta{Title: "Leaderboards – Gridstand", Description: "The best scores of today, of this week and of all time."}
	page("/top", "top", "", top)
	page("/top/{variant}", "top", "variant", top)
	page("/p/{name}", "player", "name", Meta{Title: "Player – Gridstand", Description: "The games of a player."})
	page("/account", "account", "", Meta{Title: "Account – Gridstand", Description: "Your name, and the token that signs you in elsewhere."})
	mux.Handle("GET /assets/{file}", files)
	mux.HandleFunc("/", func(w http.ResponseWriter, r *http.Request) {
		shell{Meta: Meta{Title: "Page not found – Gridstand"}}.write(w, r, tmpl, http.StatusNotFound)
	})
	return mux
}

// write answers with the shell.
func (s shell) write(w http.ResponseWriter, r *http.Request, tmpl *template.Template, status int) {
	scheme := "http"
	if r.TLS != nil || r.Header.Get("X-Forwarded-Proto") == "https" {
		scheme = "https"
	}
	s.Origin, s.Path = scheme+"://"+r.Host, r.URL.EscapedPath()
	var page bytes.Buffer
	if err := tmpl.Execute(&page, s); err != nil {
		http.Error(w, "The page could not be made.", http.StatusInternalServerError)
		return
	}
	header := w.Header()
	header.Set("Content-Type", "text/html; charset=utf-8")
	header.Set("Content-Security-Policy", policy)
	if scheme == "https" { // browsers ignore it elsewhere, and say so in their consoles
		header.Set("Cross-Origin-Opener-Policy", "same-origin")
	}
	header.Set("Referrer-Policy", "same-origin")
	header.Set("X-Content-Type-Options", "nosniff")
	header.Set("Cache-Control", "no-cache")
	w.WriteHeader(status)
	_, _ = w.Write(page.Bytes())
}

// asset is a file of the page.
type asset struct {
	plain, gzip []byte
	contentType string
	etag        string // without quotes
}

// contentTypes are those of the files. Package mime would ask the operating system.
var contentTypes = map[string]string{
	".css": "text/css; charset=utf-8", ".js": "text/javascript; charset=utf-8", ".svg": "image/svg+xml",
}

// assets are the files of the page by name.
type assets map[string]asset

// readSite returns the embedded files and the style sheet with the colors. It takes about
// 80 ms of processor time, once in a process.
var readSite = sync.OnceValue(func() assets {
	entries, err := site.ReadDir("site")
	if err != nil {
		panic(err) // cannot be: the folder is in the program
	}
	files := assets{}
	add := func(name string, data []byte) {
		data, err := shrink(name, data)
		if err != nil {
			panic(name + ": " + err.Error()) // cannot be: a test reads all files
		}
		var packed bytes.Buffer
		z, _ := gzip.NewWriterLevel(&packed, gzip.BestCompression)
		_, _ = z.Write(data) // a Buffer takes everything
		_ = z.Close()
		files[name] = asset{
			plain: data, gzip: packed.Bytes(), contentType: contentTypes[path.Ext(name)],
			etag: digest(data),
		}
	}
	for _, e := range entries {
		data, err := site.ReadFile("site/" + e.Name())
		if err != nil {
			panic(err)
		}
		add(e.Name(), data)
	}
	add("palette.css", []byte(palette.CSS()))
	return files
})

// staticImport finds the modules that a module imports.
var staticImport = regexp.MustCompile(`(?:from|import) ?['"]\./([a-z0-9-]+\.js)['"]`)

// imports lists a module and those that it imports, directly or not, without those that
// main.js brings by itself.
func (a assets) imports(name string) []string {
	var found []string
	var visit func(name string)
	visit = func(name string) {
		f, ok := a[name]
		if !ok || slices.Contains(found, name) {
			return
		}
		found = append(found, name)
		for _, m := range staticImport.FindAllSubmatch(f.plain, -1) {
			visit(string(m[1]))
		}
	}
	visit(name)
	return found
}

// ServeHTTP serves a file. Browsers ask each time whether it changed, so that a page
// never mixes the modules of two versions for long.
func (a assets) ServeHTTP(w http.ResponseWriter, r *http.Request) {
	name := r.PathValue("file")
	f, ok := a[name]
	if !ok || strings.HasSuffix(name, ".html") {
		http.Error(w, "There is no such file.", http.StatusNotFound)
		return
	}
	data, etag := f.plain, f.etag
	header := w.Header()
	if strings.Contains(r.Header.Get("Accept-Encoding"), "gzip") {
		data, etag = f.gzip, etag+"-gzip"
		header.Set("Content-Encoding", "gzip")
	}
	header.Set("Content-Type", f.contentType)
	header.Set("Cache-Control", "no-cache")
	header.Set("ETag", `"`+etag+`"`)
	header.Set("Vary", "Accept-Encoding")
	header.Set("X-Content-Type-Options", "nosniff")
	http.ServeContent(w, r, name, time.Time{}, bytes.NewReader(data))
}
