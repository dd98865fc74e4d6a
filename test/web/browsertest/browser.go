//go:build slow

// Package browsertest opens pages in a real Chromium and controls them with key presses, clicks and
// touch, as a user does. Only tests import it.
package browsertest

import (
	"context"
	"os"
	"os/exec"
	"sync"
	"testing"

	"github.com/chromedp/chromedp"
	"github.com/stretchr/testify/require"
	"go.uber.org/goleak"

	waittest "github.com/gridstand/gridstand/internal/testkit/wait"
)

// Host is the host name of every server in the browser. Over plain HTTP, a page on this host
// has fewer permissions than on a loopback address: no crypto.subtle and no clipboard.
const Host = "gridstand.test"

// browser is the Chromium that all tests share. The first test starts it.
var browser = struct {
	sync.Once
	ctx  context.Context
	stop func()
	err  error
}{stop: func() {}}

// Run runs a package's tests for its TestMain, stops the browser and checks for leaked goroutines.
func Run(m *testing.M) { goleak.VerifyTestMain(ending{m}) }

type ending struct{ *testing.M }

// Run implements goleak.TestingM.
func (e ending) Run() int {
	defer func() { browser.stop() }()
	return e.M.Run()
}

// chromium returns the path of the browser, or "" if no browser is installed.
func chromium() string {
	for _, name := range []string{"chromium", "chromium-browser", "google-chrome", "google-chrome-stable"} {
		if path, err := exec.LookPath(name); err == nil {
			return path
		}
	}
	return ""
}

// start returns the context of the browser. It skips the test if no browser is installed.
func start(t testing.TB) context.Context {
	t.Helper()
	path := chromium()
	if path == "" {
		t.Skip("Chromium is not installed")
	}
	browser.Do(func() {
		options := append(chromedp.DefaultExecAllocatorOptions[:],
			chromedp.ExecPath(path),
			chromedp.WSURLReadTimeout(waittest.Patience),
			chromedp.Flag("no-proxy-server", true),
			// Don't resolve any other host, so that the page cannot depend on one.
			chromedp.Flag("host-resolver-rules", "MAP "+Host+" 127.0.0.1, MAP * ~NOTFOUND, EXCLUDE 127.0.0.1"),
			chromedp.Flag("hide-scrollbars", true),
			chromedp.Flag("disable-gpu", true),
		)
		if os.Geteuid() == 0 {
			options = append(options, chromedp.NoSandbox)
		}
		allocator, stopAllocator := chromedp.NewExecAllocator(context.Background(), options...)
		ctx, stopBrowser := chromedp.NewContext(allocator)
		browser.ctx = ctx //nolint:fatcontext // the browser outlives the test, so don't use its context
		browser.stop = func() {
			_ = chromedp.Cancel(ctx)
			stopBrowser()
			stopAllocator()
		}
		browser.err = chromedp.Do(ctx)
	})
	require.NoError(t, browser.err, "starting Chromium")
	return browser.ctx
}
