package web

import (
	"io"
	"net/http"
	"net/http/httptest"
	"net/http/httputil"
	"net/url"
	"strings"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	browsertest "github.com/gridstand/gridstand/internal/testkit/browser"
	"github.com/gridstand/gridstand/internal/testkit/longtest"
)

// Ensure that the page waits as long as the server asks before it requests a refused stream again,
// and then continues.
func TestWatch_RetryAfter_long(t *testing.T) {
	longtest.Skip(t)
	t.Parallel()
	s := start(t)
	ada := s.account("ada")
	g := s.create(ada, "classic")
	s.move(ada, g)

	const wait = 3 * time.Second // longer than the page waits by itself, 0.75 s
	var mu sync.Mutex
	var asked []time.Time // times of the page's requests for the stream
	forward := &httputil.ReverseProxy{
		Transport: &http.Transport{},
		Rewrite: func(r *httputil.ProxyRequest) {
			r.SetURL(&url.URL{Scheme: "http", Host: s.address})
			r.Out.Host = r.In.Host
		},
	}
	proxy := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		if !strings.HasSuffix(r.URL.Path, "/events") {
			forward.ServeHTTP(w, r)
			return
		}
		mu.Lock()
		asked = append(asked, time.Now())
		first := len(asked) == 1
		mu.Unlock()
		if !first {
			forward.ServeHTTP(w, r)
			return
		}
		w.Header().Set("Content-Type", "application/json")
		w.Header().Set("Retry-After", "3")
		w.WriteHeader(http.StatusTooManyRequests)
		_, _ = io.WriteString(w, `{"code":"resource_exhausted","message":"too many streams"}`)
	}))
	t.Cleanup(func() {
		proxy.CloseClientConnections()
		proxy.Close()
		forward.Transport.(*http.Transport).CloseIdleConnections()
	})
	tab := browsertest.Open(t, proxy.Listener.Addr().String())
	tab.Visit("/g/" + g.GetId())
	waitForBoard(tab, g.GetPosition())
	s.move(ada, g)
	waitForBoard(tab, g.GetPosition())
	tab.Wait(connected)
	mu.Lock()
	defer mu.Unlock()
	require.GreaterOrEqual(t, len(asked), 2)
	// Chromium may round a timer down.
	assert.GreaterOrEqual(t, asked[1].Sub(asked[0]), wait-100*time.Millisecond)
}

// Ensure that a page that has shown more of a game than the server has, as after the restore of an
// older copy, says so instead of reconnecting forever.
func TestWatch_OlderCopy_long(t *testing.T) {
	longtest.Skip(t)
	t.Parallel()
	s := start(t)
	ada := s.account("ada")
	g := s.create(ada, "classic")
	var asked atomic.Int32
	forward := &httputil.ReverseProxy{
		Transport: &http.Transport{},
		Rewrite: func(r *httputil.ProxyRequest) {
			r.SetURL(&url.URL{Scheme: "http", Host: s.address})
			r.Out.Host = r.In.Host
			if strings.HasSuffix(r.In.URL.Path, "/events") && asked.Add(1) > 1 {
				r.Out.Header.Set("Last-Event-ID", "1000")
			}
		},
	}
	proxy := httptest.NewServer(forward)
	t.Cleanup(func() {
		proxy.CloseClientConnections()
		proxy.Close()
		forward.Transport.(*http.Transport).CloseIdleConnections()
	})
	tab := browsertest.Open(t, proxy.Listener.Addr().String())
	tab.Visit("/g/" + g.GetId())
	waitForBoard(tab, g.GetPosition())
	proxy.CloseClientConnections()
	tab.Wait(says("The server has lost events of this game"))
	assert.EqualValues(t, 2, asked.Load())
}

// Ensure that an answer of the server is shown even if the browser reports that it is offline, as it
// does on a computer without a network that runs the server itself.
func TestErrors_OfflineBrowser_long(t *testing.T) {
	longtest.Skip(t)
	t.Parallel()
	s := start(t)
	tab := browsertest.Open(t, s.address)
	before(tab, `Object.defineProperty(navigator, "onLine", { get: () => false });`)
	tab.Visit("/p/nobody")
	tab.Wait(says("There is no player with this name"))
}

// Ensure that the page of something that does not exist says so, and leads on to the live games.
func TestErrors_Missing_long(t *testing.T) {
	longtest.Skip(t)
	t.Parallel()
	s := start(t, withDaily)
	tab := browsertest.Open(t, s.address)
	none := strings.Repeat("a", 26)
	for path, text := range map[string]string{
		"/g/" + none:             "There is no game with this id",
		"/c/" + none:             "There is no challenge with this id",
		"/p/nobody":              "There is no player with this name",
		"/daily?date=2020-01-01": "There is no daily game on this day",
		"/daily?date=2020-13-01": "",
	} {
		tab.Visit(path)
		tab.Wait(says(text))
		tab.Wait(`document.querySelector("main a.primary")?.pathname === "/"`)
	}
}
