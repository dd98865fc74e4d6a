package web

import (
	"math/rand/v2"
	"path/filepath"
	"strconv"
	"testing"
	"time"

	"github.com/chromedp/cdproto/network"
	"github.com/chromedp/cdproto/page"
	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	browsertest "github.com/gridstand/gridstand/internal/testkit/browser"
	"github.com/gridstand/gridstand/internal/testkit/longtest"
	servertest "github.com/gridstand/gridstand/internal/testkit/server"
	pb "github.com/gridstand/gridstand/proto/gridstand/v1"
	"github.com/gridstand/gridstand/server"
)

// recordEvents is a script that records the versions of the complete events that the page reads.
const recordEvents = `
window.versions = [];
const original = window.fetch;
window.fetch = async (...request) => {
	const response = await original(...request);
	if (!String(request[0]).includes("/events") || !response.body) return response;
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

// Ensure that the page shows every event once, even if its connections are cut in the middle of
// messages.
func TestWatch_Cuts_long(t *testing.T) {
	longtest.Skip(t)
	t.Parallel()
	s := start(t)
	proxy := startProxy(t, s.address)
	ada := s.account("ada")
	g := s.create(ada, "5x5")
	tab := browsertest.Open(t, proxy.address())
	browsertest.Call(tab, page.AddScriptToEvaluateOnNewDocument, page.AddScriptToEvaluateOnNewDocumentParams{Source: recordEvents})
	tab.Visit("/g/" + g.GetId())
	waitForBoard(tab, g.GetPosition())
	s.move(ada, g)
	waitForBoard(tab, g.GetPosition())
	proxy.cutAfter(func() int { return 300 + rand.IntN(1500) }) // the headers take about 250 bytes
	for seen, deadline := 0, time.Now().Add(browsertest.Patience); seen < 50; {
		require.True(t, time.Now().Before(deadline), "only %d cuts", seen)
		if n := proxy.cut(); n > seen {
			seen, deadline = n, time.Now().Add(browsertest.Patience)
		}
		s.move(ada, g)
		tab.Wait("window.versions.at(-1) === " + version(g.GetVersion()))
	}
	proxy.cutAfter(nil)
	s.move(ada, g)
	waitForBoard(tab, g.GetPosition())
	readEvery(t, tab, g)
}

// readEvery waits until a tab with recordEvents has read the last event of a game, and checks that it
// has read every event after the first once. It reads them beside the page, which may be faster.
func readEvery(t *testing.T, tab *browsertest.Tab, g *pb.Game) {
	t.Helper()
	tab.Wait("window.versions.at(-1) === " + version(g.GetVersion()))
	var want []int
	for v := 2; v <= int(g.GetVersion()); v++ {
		want = append(want, v)
	}
	assert.Equal(t, want, browsertest.Eval[[]int](tab, "window.versions"))
}

// Ensure that the page continues after its server is replaced, and then shows what it missed.
func TestWatch_Restart_long(t *testing.T) {
	longtest.Skip(t)
	t.Parallel()
	c := servertest.Config(t)
	c.Store = server.File(filepath.Join(t.TempDir(), "games.sqlite"))
	first, stop := servertest.Start(t, c)
	s := reach(t, first.Addr().String())
	proxy := startProxy(t, s.address)
	ada := s.account("ada")
	g := s.create(ada, "classic")
	tab := browsertest.Open(t, proxy.address())
	tab.Visit("/g/" + g.GetId())
	waitForBoard(tab, g.GetPosition())
	s.move(ada, g)
	waitForBoard(tab, g.GetPosition())
	stop()
	tab.Wait(says("reconnecting"))
	second, _ := servertest.Start(t, c)
	proxy.mu.Lock()
	proxy.server = second.Addr().String()
	proxy.mu.Unlock()
	s = reach(t, second.Addr().String())
	s.move(ada, g)
	waitForBoard(tab, g.GetPosition())
	tab.Wait(connected)
}

// alterEvent is a script that changes the new tile of version 3 in the events that the page reads.
const alterEvent = `
const original = window.fetch;
window.fetch = async (...request) => {
	const response = await original(...request);
	if (!String(request[0]).includes("/events") || !response.body) return response;
	let rest = "";
	const altered = response.body.pipeThrough(new TextDecoderStream()).pipeThrough(new TransformStream({
		transform(text, out) {
			const records = (rest + text).split("\n\n");
			rest = records.pop();
			for (const r of records)
				out.enqueue((r.startsWith("id: 3\n") ? r.replace(/("spawned":{[^}]*"value":)2/, "$14") : r) + "\n\n");
		},
	})).pipeThrough(new TextEncoderStream());
	return new Response(altered, {status: response.status, headers: response.headers});
};`

// Ensure that the page names the move that does not follow from the game's seed.
func TestVerify_Altered(t *testing.T) {
	t.Parallel()
	s := start(t)
	ada := s.account("ada")
	g := s.create(ada, "twos") // the variant never spawns a 4
	for range 5 {
		s.move(ada, g)
	}
	_, err := s.games.Resign(ada, &pb.ResignRequest{GameId: g.GetId()})
	require.NoError(t, err)
	tab := browsertest.Open(t, s.address)
	browsertest.Call(tab, page.AddScriptToEvaluateOnNewDocument, page.AddScriptToEvaluateOnNewDocumentParams{Source: alterEvent})
	tab.Visit("/g/" + g.GetId())
	tab.Wait(says("Resigned"))
	tab.Wait(`document.querySelector(".verdict.bad")`)
	verdict := browsertest.Eval[string](tab, `document.querySelector(".verdict").innerText`)
	assert.NotContains(t, verdict, "Verified")
	assert.Contains(t, verdict, "version 3,")
}

// block makes a tab fail to load the files that match a pattern.
func block(tab *browsertest.Tab, pattern string) {
	browsertest.Call(tab, network.SetBlockedURLs, network.SetBlockedURLsParams{
		URLPatterns: []*network.BlockPattern{{URLPattern: pattern, Block: true}},
	})
}

// Ensure that a page whose scripts could not be loaded says so.
func TestPage_NotLoaded_long(t *testing.T) {
	longtest.Skip(t)
	t.Parallel()
	tab := browsertest.Open(t, start(t).address)
	block(tab, "*://*:*/*/main.js")
	tab.Visit("/top")
	tab.Wait(says("The page has not loaded."))
}

// Ensure that a finished game whose verifier could not be loaded can be verified again.
func TestVerify_Again_long(t *testing.T) {
	longtest.Skip(t)
	t.Parallel()
	s := start(t)
	ada := s.account("ada")
	g := s.create(ada, "classic")
	_, err := s.games.Resign(ada, &pb.ResignRequest{GameId: g.GetId()})
	require.NoError(t, err)
	tab := browsertest.Open(t, s.address)
	block(tab, "*://*:*/*/verify.js")
	tab.Visit("/g/" + g.GetId())
	tab.Wait(says("Verify again"))
	block(tab, "*://*:*/no-file")
	click(tab, "Verify again")
	tab.Wait(says("Verified in this browser"))
}

func version(v int32) string { return strconv.Itoa(int(v)) }
