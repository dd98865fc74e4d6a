//go:build slow

package browsertest

import (
	"context"
	"errors"
	"fmt"
	"net/url"
	"slices"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/chromedp/cdproto"
	"github.com/chromedp/cdproto/cdp"
	"github.com/chromedp/cdproto/emulation"
	"github.com/chromedp/cdproto/log"
	"github.com/chromedp/cdproto/network"
	"github.com/chromedp/cdproto/runtime"
	"github.com/chromedp/chromedp"
	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	waittest "github.com/gridstand/gridstand/internal/testkit/wait"
)

// Tab is a tab of the browser with its own storage and cache.
type Tab struct {
	t   testing.TB
	ctx context.Context
	// Origin is the server's origin, without a trailing slash.
	Origin string

	mu       sync.Mutex
	requests []string // URLs of all requests
	problems []string // exceptions, and errors on the console
}

// Open opens an empty tab for the server at the given address. The tab is closed when the test
// ends. The test fails if the page reported an error or sent a request to another host.
func Open(t testing.TB, address string) *Tab {
	t.Helper()
	_, port, ok := strings.Cut(address, ":")
	require.True(t, ok)
	shared, err := browser()
	require.NoError(t, err, "starting Chromium")
	if shared == nil {
		t.Skip("Chromium is not installed")
	}
	ctx, cancel := chromedp.NewContext(shared, chromedp.WithNewBrowserContext())
	tab := &Tab{t: t, ctx: ctx, Origin: "http://" + Host + ":" + port}
	t.Cleanup(func() {
		cancel()
		tab.check()
	})
	require.NoError(t, chromedp.Do(ctx)) // The tab is closed when this call's context is done.
	require.NoError(t, chromedp.Listen(ctx, tab.onEvent))
	Call(tab, network.Enable, network.EnableParams{})
	Call(tab, runtime.Enable, cdp.Empty{})
	Call(tab, log.Enable, cdp.Empty{})
	return tab
}

// onEvent records an event of the page.
func (p *Tab) onEvent(event any) {
	p.mu.Lock()
	defer p.mu.Unlock()
	switch e := event.(type) {
	case *network.EventRequestWillBeSent:
		p.requests = append(p.requests, e.Request.URL)
	case *runtime.EventExceptionThrown:
		p.problems = append(p.problems, fmt.Sprintf("exception: %s %+v", e.ExceptionDetails.Text, e.ExceptionDetails.Exception))
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

// check fails the test if the page reported errors or sent requests to other hosts.
func (p *Tab) check() {
	p.mu.Lock()
	defer p.mu.Unlock()
	assert.Empty(p.t, p.problems, "the page reported errors")
	for _, r := range p.requests {
		if u, err := url.Parse(r); assert.NoError(p.t, err) && u.Scheme != "data" && u.Scheme != "blob" && r != "about:blank" {
			assert.Equal(p.t, p.Origin, u.Scheme+"://"+u.Host, "the page sent a request to another host")
		}
	}
}

// Do performs an action and returns its value. The test fails if the action takes longer than
// waittest.Patience.
func Do[T any](p *Tab, action chromedp.Action[T]) T {
	p.t.Helper()
	ctx, cancel := context.WithTimeout(p.ctx, waittest.Patience)
	defer cancel()
	value, err := chromedp.Run(ctx, action)
	require.NoError(p.t, err)
	return value
}

// Do performs actions that return no value.
func (p *Tab) Do(actions ...chromedp.Action[chromedp.Void]) {
	p.t.Helper()
	Do(p, chromedp.Steps(actions...))
}

// Call sends a command of the DevTools protocol.
func Call[P, R any](p *Tab, command cdp.Command[P, R], params P) R {
	p.t.Helper()
	return Do(p, func(ctx context.Context, t *chromedp.Target) (R, error) { return cdp.Call(ctx, t, command, params) })
}

// Visit opens a path of the server and waits until its HTML, scripts and styles have loaded.
func (p *Tab) Visit(path string) {
	p.t.Helper()
	p.Do(chromedp.Navigate(p.Origin + path))
}

// Eval returns the value of an expression. If the value is a promise, Eval awaits it.
func Eval[T any](p *Tab, expression string) T {
	p.t.Helper()
	return Do(p, chromedp.Evaluate[T](expression, chromedp.EvalAwaitPromise))
}

// leftPage is the code of the errors with which the browser refuses to evaluate an expression, or
// stops to, because the tab leaves its page.
const leftPage = -32000

// Wait waits until an expression is true. It polls, because the page's CSP forbids eval. The tab may
// leave its page during the wait.
func (p *Tab) Wait(expression string) {
	p.t.Helper()
	is := func() bool {
		ctx, cancel := context.WithTimeout(p.ctx, waittest.Patience)
		defer cancel()
		value, err := chromedp.Run(ctx, chromedp.Evaluate[bool]("!!("+expression+")", chromedp.EvalAwaitPromise))
		if left := (&cdproto.Error{}); errors.As(err, &left) && left.Code == leftPage {
			return false
		}
		require.NoError(p.t, err)
		return value
	}
	for deadline := time.Now().Add(waittest.Patience); !is(); <-time.After(20 * time.Millisecond) {
		if time.Now().After(deadline) {
			require.Fail(p.t, "timed out", "%s\nthe page shows: %s", expression, p.Text())
		}
	}
}

// Text returns the visible text of the page.
func (p *Tab) Text() string { return Eval[string](p, `document.body ? document.body.innerText : ""`) }

// Press presses and releases a key, such as kb.ArrowLeft.
func (p *Tab) Press(keys string) {
	p.t.Helper()
	p.Do(chromedp.KeyEvent(keys))
}

// Device describes the window that shows a page.
type Device struct {
	Width, Height int64 // CSS pixels
	Touch, Dark   bool
	// Still makes the browser prefer reduced motion.
	Still bool
}

// Use applies a device to the window.
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

// Screen returns a screenshot of the window as a PNG.
func (p *Tab) Screen() []byte {
	p.t.Helper()
	return Do(p, chromedp.CaptureScreenshot())
}

// Asked reports whether the page requested a path with the given prefix.
func (p *Tab) Asked(prefix string) bool {
	p.mu.Lock()
	defer p.mu.Unlock()
	return slices.ContainsFunc(p.requests, func(r string) bool { return strings.HasPrefix(r, p.Origin+prefix) })
}
