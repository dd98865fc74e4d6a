//go:build slow

package web

import (
	"path/filepath"
	"strconv"
	"testing"

	"github.com/stretchr/testify/assert"

	"github.com/gridstand/gridstand/internal/describe"
	playertest "github.com/gridstand/gridstand/internal/testkit/player"
	redistest "github.com/gridstand/gridstand/internal/testkit/redis"
	servertest "github.com/gridstand/gridstand/internal/testkit/server"
	pb "github.com/gridstand/gridstand/proto/gridstand/v1"
	"github.com/gridstand/gridstand/server"
	"github.com/gridstand/gridstand/test/web/browsertest"
)

// recording is a script that records the versions of the events that the page reads, counts the streams
// that it opens, and defines hide, which hides or shows the tab. While window.ahead is set, the page asks
// for the events after that version.
const recording = `
window.versions = [];
window.streams = 0;
window.hide = (hidden) => {
	Object.defineProperty(document, "hidden", {configurable: true, get: () => hidden});
	document.dispatchEvent(new Event("visibilitychange"));
	return true;
};
const original = window.fetch;
window.fetch = async (address, options = {}) => {
	const events = String(address).includes("/events");
	window.streams += events;
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
// readers, offers no reactions because the server has none, and verifies the game at its end.
func TestJourney_Watch(t *testing.T) {
	t.Parallel()
	c := servertest.Config(t)
	c.Store, c.Reactions = server.File(filepath.Join(t.TempDir(), "games.sqlite")), false
	first, stop := servertest.Start(t, c)
	s := reach(t, first)
	proxy := redistest.StartProxy(t, s.address)
	ada := s.player("ada")
	g := ada.Create(t, &pb.CreateGameRequest{Variant: "6x6"}) // does not end during the test
	tab := browsertest.Open(t, proxy.Addr())
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

	for n := range 8 { // An event has about 500 bytes, and each connection is cut elsewhere in one.
		opened := browsertest.Eval[int](tab, "window.streams")
		heal := proxy.Disturb(redistest.ToClient, redistest.Trouble{Limit: 100 + 40*n})
		ada.Move(t, g)
		tab.Wait("window.streams > " + strconv.Itoa(opened))
		heal()
		tab.Wait("window.versions.at(-1) === " + strconv.Itoa(int(g.GetVersion())))
	}
	waitForBoard(tab, g.GetPosition())
	readEvery(t, tab, g)
	tab.Wait("performance.getEntriesByName(location.origin + '/gridstand.v1.GameService/GetServerInfo').length")
	assert.Zero(t, browsertest.Eval[int](tab, `document.querySelectorAll(".react button").length`), "the server has no reactions")

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
	proxy.Redirect(second.Addr().String())
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
	proxy.Cut()
	tab.Wait(says("The server has lost events of this game"))
}
