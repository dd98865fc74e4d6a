//go:build slow

package web

import (
	"io"
	"net"
	"path/filepath"
	"strconv"
	"sync"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/gridstand/gridstand/internal/describe"
	playertest "github.com/gridstand/gridstand/internal/testkit/player"
	servertest "github.com/gridstand/gridstand/internal/testkit/server"
	pb "github.com/gridstand/gridstand/proto/gridstand/v1"
	"github.com/gridstand/gridstand/server"
	"github.com/gridstand/gridstand/test/web/browsertest"
)

// recording is a script that records the versions of the events that the page reads, and defines
// hide, which hides or shows the tab. While window.ahead is set, the page asks for the events after
// that version.
const recording = `
window.versions = [];
window.hide = (hidden) => {
	Object.defineProperty(document, "hidden", {configurable: true, get: () => hidden});
	document.dispatchEvent(new Event("visibilitychange"));
	return true;
};
const original = window.fetch;
window.fetch = async (address, options = {}) => {
	const events = String(address).includes("/events");
	if (events && window.ahead) options.headers = {...options.headers, "last-event-id": window.ahead};
	const response = await original(address, options);
	if (!events || !response.body) return response;
	const [ours, theirs] = response.body.tee();
	(async () => {
		const reader = ours.pipeThrough(new TextDecoderStream()).getReader();
		let rest = "";
		for (;;) {
			const {done, value} = await reader.read();
			if (done) return;
			const records = (rest + value).split("\n\n");
			rest = records.pop();
			for (const record of records) {
				const id = /^id: (\d+)\ndata: {"event"/m.exec(record);
				if (id) window.versions.push(+id[1]);
			}
		}
	})().catch(() => {});
	return new Response(theirs, {status: response.status, headers: response.headers});
};`

// connected reports whether the page of a running game is connected to the server. The game is idle if
// its last move is more than half a minute old.
var connected = says("● live") + " || " + says("○ idle")

// readEvery waits until a tab with recording has read the last event of a game, and checks that it has
// read every event after the first once. The script reads them beside the page, which may be faster.
func readEvery(t *testing.T, tab *browsertest.Tab, g *pb.Game) {
	t.Helper()
	tab.Wait("window.versions.at(-1) === " + strconv.Itoa(int(g.GetVersion())))
	var want []int
	for v := 2; v <= int(g.GetVersion()); v++ {
		want = append(want, v)
	}
	assert.Equal(t, want, browsertest.Eval[[]int](tab, "window.versions"))
}

// TestJourney_Watch: a spectator watches a game while connections are cut in the middle of messages,
// the tab is hidden and the server is replaced. The page shows every event once, says so to screen
// readers, and verifies the game at its end.
func TestJourney_Watch(t *testing.T) {
	t.Parallel()
	c := servertest.Config(t)
	c.Store = server.File(filepath.Join(t.TempDir(), "games.sqlite"))
	first, stop := servertest.Start(t, c)
	s := reach(t, first)
	proxy := startProxy(t, s.address)
	ada := s.player("ada")
	g := ada.Create(t, &pb.CreateGameRequest{Variant: "6x6"}) // does not end during the test
	tab := browsertest.Open(t, proxy.Addr().String())
	before(tab, recording+fast)
	tab.Visit("/g/" + g.GetId())
	waitForBoard(tab, g.GetPosition())
	tab.Wait(connected)
	assert.NotContains(t, tab.Text(), "idle 10 h", "ages are those of the server's clock")
	tab.Wait(says("1 watching"))
	assert.Equal(t, "img", browsertest.Eval[string](tab, board+".getAttribute('role')"))
	hears := func(text string) {
		t.Helper()
		tab.Wait(`[...document.querySelectorAll("[aria-live]")].some((e) => e.textContent.includes(` + strconv.Quote(text) + "))")
	}
	for range 3 {
		e := ada.Move(t, g)
		waitForBoard(tab, g.GetPosition())
		hears(describe.Happened(g, e, describe.Seat) + ", " + pointsOf(g))
	}

	proxy.cutAfter(300) // The headers of a response take about 250 bytes.
	for proxy.cuts() < 8 {
		ada.Move(t, g)
		tab.Wait("window.versions.at(-1) === " + strconv.Itoa(int(g.GetVersion())))
	}
	proxy.cutAfter(0)
	ada.Move(t, g)
	waitForBoard(tab, g.GetPosition())
	readEvery(t, tab, g)

	// A hidden tab has no stream, and shows what it missed when it becomes visible.
	s.watched(g, 1)
	browsertest.Eval[bool](tab, "hide(true)")
	s.watched(g, 0)
	shown := label(g.GetPosition())
	for range 5 {
		ada.Move(t, g)
	}
	assert.Equal(t, shown, browsertest.Eval[string](tab, board+".getAttribute('aria-label')"))
	browsertest.Eval[bool](tab, "hide(false)")
	waitForBoard(tab, g.GetPosition())

	stop()
	tab.Wait(says("reconnecting"))
	second, _ := servertest.Start(t, c)
	proxy.forward(second.Addr().String())
	s = reach(t, second)
	ada = &playertest.Player{Games: s.games, Ctx: ada.Ctx}
	ada.Move(t, g)
	waitForBoard(tab, g.GetPosition())
	tab.Wait(connected)
	tab.Wait(`document.querySelectorAll(".moves li").length >= 6`)
	readEvery(t, tab, g)

	ada.Resign(t, g)
	hears("Game over: resigned")
	tab.Wait(says("Verified in this browser"))
	assert.NotContains(t, tab.Text(), "watching")

	// A server that was restored from an older copy has lost what the page has shown.
	g = ada.Create(t, &pb.CreateGameRequest{Variant: "6x6"})
	tab.Visit("/g/" + g.GetId())
	waitForBoard(tab, g.GetPosition())
	browsertest.Eval[int](tab, "window.ahead = 1000")
	proxy.cutAll()
	tab.Wait(says("The server has lost events of this game"))
}

// proxy forwards connections to a server, and can cut them.
type proxy struct {
	net.Listener

	mu      sync.Mutex
	server  string // address of the server
	conns   map[net.Conn]struct{}
	limit   int64 // how many bytes the browser receives at least before a new connection is cut; 0 for no cuts
	done    int   // connections that were cut
	running sync.WaitGroup
}

// startProxy starts a proxy in front of a server. It is stopped when the test ends.
func startProxy(t testing.TB, server string) *proxy {
	t.Helper()
	l, err := (&net.ListenConfig{}).Listen(t.Context(), "tcp", "127.0.0.1:0")
	require.NoError(t, err)
	p := &proxy{Listener: l, server: server, conns: map[net.Conn]struct{}{}}
	p.running.Go(func() {
		for {
			conn, err := l.Accept()
			if err != nil {
				return
			}
			p.running.Go(func() { p.serve(conn) })
		}
	})
	t.Cleanup(func() {
		_ = l.Close()
		p.cutAll()
		p.running.Wait()
	})
	return p
}

// serve forwards one connection.
func (p *proxy) serve(browser net.Conn) {
	defer func() { _ = browser.Close() }()
	p.mu.Lock()
	address, limit := p.server, p.limit
	if limit > 0 {
		limit += int64(p.done) * 193 // so that each connection is cut elsewhere in a message
	}
	p.conns[browser] = struct{}{}
	p.mu.Unlock()
	defer func() {
		p.mu.Lock()
		delete(p.conns, browser)
		p.mu.Unlock()
	}()
	server, err := net.Dial("tcp", address)
	if err != nil {
		return // The server is unavailable; the browser must handle that.
	}
	defer func() { _ = server.Close() }()
	p.running.Go(func() {
		_, _ = io.Copy(server, browser)
		_ = server.Close()
	})
	if limit == 0 {
		_, _ = io.Copy(browser, server)
	} else if n, _ := io.CopyN(browser, server, limit); n == limit {
		p.mu.Lock()
		p.done++
		p.mu.Unlock()
	}
}

// forward makes the proxy forward new connections to another server.
func (p *proxy) forward(server string) {
	p.mu.Lock()
	defer p.mu.Unlock()
	p.server = server
}

// cutAll closes all connections.
func (p *proxy) cutAll() {
	p.mu.Lock()
	defer p.mu.Unlock()
	for conn := range p.conns {
		_ = conn.Close()
	}
}

// cutAfter cuts all open connections. If limit is not 0, it also cuts each later one, after the browser
// has received at least that many bytes.
func (p *proxy) cutAfter(limit int64) {
	p.mu.Lock()
	p.limit = limit
	p.mu.Unlock()
	p.cutAll()
}

// cuts returns the number of connections that reached their limit and were cut.
func (p *proxy) cuts() int {
	p.mu.Lock()
	defer p.mu.Unlock()
	return p.done
}
