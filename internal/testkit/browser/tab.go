package browsertest

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

// Patience bounds every wait. It is long because it is reached only if a test fails.
const Patience = time.Minute

// Tab is a page of the browser with storage and cache of its own.
type Tab struct {
	t   testing.TB
	ctx context.Context
	// Origin of the server, without a slash at its end.
	Origin string
	// Others are origins that the page may ask, too.
	Others []string

	mu       sync.Mutex
	requests []string // URLs
	problems []string // exceptions, and errors on the console
}

// Open opens a tab without a page, for the server at an address. The tab closes with the
// test, which fails if the page reported an error or asked another host for anything.
func Open(t testing.TB, address string) *Tab {
	t.Helper()
	_, port, ok := strings.Cut(address, ":")
	require.True(t, ok)
	ctx, cancel := chromedp.NewContext(start(t), chromedp.WithNewBrowserContext())
	tab := &Tab{t: t, ctx: ctx, Origin: "http://" + Host + ":" + port}
	t.Cleanup(func() {
		if t.Failed() {
			tab.saveScreen()
		}
		cancel()
		tab.check()
	})
	require.NoError(t, chromedp.Do(ctx)) // The tab lives as long as the context of this call.
	require.NoError(t, chromedp.Listen(ctx, tab.heard))
	Call(tab, network.Enable, network.EnableParams{})
	Call(tab, runtime.Enable, cdp.Empty{})
	Call(tab, log.Enable, cdp.Empty{})
	return tab
}

// heard notes what the page does.
func (p *Tab) heard(event any) {
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
func (p *Tab) check() {
	p.mu.Lock()
	defer p.mu.Unlock()
	assert.Empty(p.t, p.problems, "the page reported errors")
	for _, r := range p.requests {
		if u, err := url.Parse(r); assert.NoError(p.t, err) && u.Scheme != "data" && u.Scheme != "blob" && r != "about:blank" {
			assert.Contains(p.t, append([]string{p.Origin}, p.Others...), u.Scheme+"://"+u.Host, "the page asked another host")
		}
	}
}

// Do performs an action, within Patience, and returns its value.
func Do[T any](p *Tab, action chromedp.Action[T]) T {
	p.t.Helper()
	ctx, cancel := context.WithTimeout(p.ctx, Patience)
	defer cancel()
	value, err := chromedp.Run(ctx, action)
	require.NoError(p.t, err)
	return value
}

// Do performs actions without a value.
func (p *Tab) Do(actions ...chromedp.Action[chromedp.Void]) {
	p.t.Helper()
	Do(p, chromedp.Steps(actions...))
}

// Call sends a command of the protocol.
func Call[P, R any](p *Tab, command cdp.Command[P, R], params P) R {
	p.t.Helper()
	return Do(p, func(ctx context.Context, t *chromedp.Target) (R, error) { return cdp.Call(ctx, t, command, params) })
}

// Visit opens a path of the server and waits until its HTML is there.
func (p *Tab) Visit(path string) {
	p.t.Helper()
	p.Do(chromedp.Navigate(p.Origin + path))
}

// Eval returns the value of an expression, or of the promise that it is.
func Eval[T any](p *Tab, expression string) T {
	p.t.Helper()
	return Do(p, chromedp.Evaluate[T](expression, chromedp.EvalAwaitPromise))
}

// Wait waits until an expression is true. It asks again and again: the page's security
// policy allows no function that is made of text.
func (p *Tab) Wait(expression string) {
	p.t.Helper()
	for deadline := time.Now().Add(Patience); !Eval[bool](p, "!!("+expression+")"); <-time.After(20 * time.Millisecond) {
		if time.Now().After(deadline) {
			require.Fail(p.t, "not in time", "%s\nthe page says: %s", expression, p.Text())
		}
	}
}

// Text is what the page says, for people.
func (p *Tab) Text() string { return Eval[string](p, `document.body ? document.body.innerText : ""`) }

// Press presses and releases a key, such as kb.ArrowLeft.
func (p *Tab) Press(keys string) {
	p.t.Helper()
	p.Do(chromedp.KeyEvent(keys))
}

// Device is the window that a page is shown in.
type Device struct {
	Width, Height int64 // CSS pixels
	Touch, Dark   bool
	// Still asks for no motion.
	Still bool
}

// Use changes the window.
func (p *Tab) Use(d Device) {
	p.t.Helper()
	Call(p, emulation.SetDeviceMetricsOverride, emulation.SetDeviceMetricsOverrideParams{
		Width: d.Width, Height: d.Height, DeviceScaleFactor: 1, Mobile: d.Touch,
	})
	Call(p, emulation.SetTouchEmulationEnabled, emulation.SetTouchEmulationEnabledParams{Enabled: d.Touch})
	scheme, motion := "light", "no-preference"
	if d.Dark {
		scheme = "dark"
	}
	if d.Still {
		motion = "reduce"
	}
	Call(p, emulation.SetEmulatedMedia, emulation.SetEmulatedMediaParams{
		Features: []*emulation.MediaFeature{
			{Name: "prefers-color-scheme", Value: scheme}, {Name: "prefers-reduced-motion", Value: motion},
		},
	})
}

// Screen returns a picture of the window as PNG.
func (p *Tab) Screen() []byte {
	p.t.Helper()
	return Do(p, chromedp.CaptureScreenshot())
}

// saveScreen keeps a picture of the window of a failed test, if SCREENS names a folder.
func (p *Tab) saveScreen() {
	folder := os.Getenv("SCREENS")
	if folder == "" {
		return
	}
	ctx, cancel := context.WithTimeout(p.ctx, Patience)
	defer cancel()
	if data, err := chromedp.Run(ctx, chromedp.CaptureScreenshot()); err == nil {
		_ = os.WriteFile(filepath.Join(folder, strings.ReplaceAll(p.t.Name(), "/", "-")+".png"), data, 0o600)
	}
}

// Asked reports whether the page asked for a path that begins so.
func (p *Tab) Asked(prefix string) bool {
	p.mu.Lock()
	defer p.mu.Unlock()
	return slices.ContainsFunc(p.requests, func(r string) bool { return strings.HasPrefix(r, p.Origin+prefix) })
}
