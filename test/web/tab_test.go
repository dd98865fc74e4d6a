package web

import (
	"context"
	"net/url"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/chromedp/cdproto/cdp"
	"github.com/chromedp/cdproto/emulation"
	"github.com/chromedp/cdproto/log"
	"github.com/chromedp/cdproto/network"
	"github.com/chromedp/cdproto/runtime"
	"github.com/chromedp/chromedp"
	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
)

// patience bounds every wait. It is long because it is reached only if a test fails.
const patience = time.Minute

// tab is a page of the browser with storage and cache of its own.
type tab struct {
	t      testing.TB
	ctx    context.Context
	origin string // of the server

	mu       sync.Mutex
	requests []string // URLs
	problems []string // exceptions, and errors on the console
}

// open opens a tab without a page, for the server at an address. The tab closes with the
// test, which fails if the page reported an error or asked another host for anything.
func open(t testing.TB, address string) *tab {
	t.Helper()
	_, port, ok := strings.Cut(address, ":")
	require.True(t, ok)
	ctx, cancel := chromedp.NewContext(startBrowser(t), chromedp.WithNewBrowserContext())
	tab := &tab{t: t, ctx: ctx, origin: "http://" + host + ":" + port}
	t.Cleanup(func() {
		if t.Failed() {
			tab.saveScreen()
		}
		cancel()
		tab.check()
	})
	require.NoError(t, chromedp.Do(ctx)) // The tab lives as long as the context of this call.
	require.NoError(t, chromedp.Listen(ctx, tab.heard))
	call(tab, network.Enable, network.EnableParams{})
	call(tab, runtime.Enable, cdp.Empty{})
	call(tab, log.Enable, cdp.Empty{})
	return tab
}

// heard notes what the page does.
func (p *tab) heard(event any) {
	p.mu.Lock()
	defer p.mu.Unlock()
	switch e := event.(type) {
	case *network.EventRequestWillBeSent:
		p.requests = append(p.requests, e.Request.URL)
	case *runtime.EventExceptionThrown:
		p.problems = append(p.problems, describe(e.ExceptionDetails))
	case *runtime.EventConsoleAPICalled:
		if e.Type == "error" || e.Type == "warning" {
			for _, arg := range e.Args {
				p.problems = append(p.problems, "console: "+string(arg.Value)+arg.Description)
			}
		}
	case *log.EventEntryAdded:
		if e.Entry.Source == "security" || strings.Contains(e.Entry.Text, "Content Security Policy") {
			p.problems = append(p.problems, "browser: "+e.Entry.Text)
		}
	}
}

func describe(d *runtime.ExceptionDetails) string {
	if d.Exception != nil {
		return "exception: " + d.Exception.Description
	}
	return "exception: " + d.Text
}

// check fails the test if the page did what no page may do.
func (p *tab) check() {
	p.mu.Lock()
	defer p.mu.Unlock()
	assert.Empty(p.t, p.problems, "the page reported errors")
	for _, r := range p.requests {
		if u, err := url.Parse(r); assert.NoError(p.t, err) && u.Scheme != "data" && u.Scheme != "blob" && r != "about:blank" {
			assert.Equal(p.t, p.origin, u.Scheme+"://"+u.Host, "the page asked another host")
		}
	}
}

// run performs an action, within patience, and returns its value.
func run[T any](p *tab, action chromedp.Action[T]) T {
	p.t.Helper()
	ctx, cancel := context.WithTimeout(p.ctx, patience)
	defer cancel()
	value, err := chromedp.Run(ctx, action)
	require.NoError(p.t, err)
	return value
}

// do performs actions without a value.
func (p *tab) do(actions ...chromedp.Action[chromedp.Void]) {
	p.t.Helper()
	run(p, chromedp.Steps(actions...))
}

// call sends a command of the protocol.
func call[P, R any](p *tab, command cdp.Command[P, R], params P) R {
	p.t.Helper()
	return run(p, func(ctx context.Context, t *chromedp.Target) (R, error) { return cdp.Call(ctx, t, command, params) })
}

// visit opens a path of the server and waits until its HTML is there.
func (p *tab) visit(path string) {
	p.t.Helper()
	p.do(chromedp.Navigate(p.origin + path))
}

// eval returns the value of an expression, or of the promise that it is.
func eval[T any](p *tab, expression string) T {
	p.t.Helper()
	return run(p, chromedp.Evaluate[T](expression, chromedp.EvalAwaitPromise))
}

// wait waits until an expression is true. It asks again and again: the page's security
// policy allows no function that is made of text.
func (p *tab) wait(expression string) {
	p.t.Helper()
	for deadline := time.Now().Add(patience); !eval[bool](p, "!!("+expression+")"); <-time.After(20 * time.Millisecond) {
		if time.Now().After(deadline) {
			require.Fail(p.t, "not in time", "%s\nthe page says: %s", expression, p.text())
		}
	}
}

// text is what the page says, for people.
func (p *tab) text() string { return eval[string](p, `document.body ? document.body.innerText : ""`) }

// press presses and releases a key, such as kb.ArrowLeft.
func (p *tab) press(keys string) {
	p.t.Helper()
	p.do(chromedp.KeyEvent(keys))
}

// device is the window that a page is shown in.
type device struct {
	width, height int64 // CSS pixels
	touch, dark   bool
}

// use changes the window.
func (p *tab) use(d device) {
	p.t.Helper()
	call(p, emulation.SetDeviceMetricsOverride, emulation.SetDeviceMetricsOverrideParams{
		Width: d.width, Height: d.height, DeviceScaleFactor: 1, Mobile: d.touch,
	})
	call(p, emulation.SetTouchEmulationEnabled, emulation.SetTouchEmulationEnabledParams{Enabled: d.touch})
	scheme := "light"
	if d.dark {
		scheme = "dark"
	}
	call(p, emulation.SetEmulatedMedia, emulation.SetEmulatedMediaParams{
		Features: []*emulation.MediaFeature{{Name: "prefers-color-scheme", Value: scheme}},
	})
}

// screen returns a picture of the window as PNG.
func (p *tab) screen() []byte {
	p.t.Helper()
	return run(p, chromedp.CaptureScreenshot())
}

// saveScreen keeps a picture of the window of a failed test, if SCREENS names a folder.
func (p *tab) saveScreen() {
	folder := os.Getenv("SCREENS")
	if folder == "" {
		return
	}
	ctx, cancel := context.WithTimeout(p.ctx, patience)
	defer cancel()
	if data, err := chromedp.Run(ctx, chromedp.CaptureScreenshot()); err == nil {
		_ = os.WriteFile(filepath.Join(folder, strings.ReplaceAll(p.t.Name(), "/", "-")+".png"), data, 0o600)
	}
}

// asked reports whether the page asked for a path that begins so.
func (p *tab) asked(prefix string) bool {
	p.mu.Lock()
	defer p.mu.Unlock()
	return slices.ContainsFunc(p.requests, func(r string) bool { return strings.HasPrefix(r, p.origin+prefix) })
}
