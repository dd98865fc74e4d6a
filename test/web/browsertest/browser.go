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
	"go.uber.org/goleak"

	waittest "github.com/gridstand/gridstand/internal/testkit/wait"
)

// Host is the host name of every server in the browser. Over plain HTTP, a page on this host
// has fewer permissions than on a loopback address: no crypto.subtle and no clipboard.
const Host = "gridstand.test"

// stop stops the browser if a test has started it.
var stop = func() {}

// Run runs a package's tests for its TestMain, stops the browser and checks for leaked goroutines.
func Run(m *testing.M) { goleak.VerifyTestMain(ending{m}) }

type ending struct{ *testing.M }

// Run implements goleak.TestingM.
func (e ending) Run() int {
	defer func() { stop() }()
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

// browser starts the Chromium that all tests share, and returns its context, or nil if no browser is
// installed. The browser outlives the test that starts it.
var browser = sync.OnceValues(func() (context.Context, error) {
	path := chromium()
	if path == "" {
		return nil, nil
	}
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
	stop = func() {
		_ = chromedp.Cancel(ctx)
		stopBrowser()
		stopAllocator()
	}
	return ctx, chromedp.Do(ctx)
})
