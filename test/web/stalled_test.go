package web

import (
	"context"
	"io"
	"net/http"
	"regexp"
	"testing"
	"time"

	"github.com/chromedp/cdproto/page"
	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
	"google.golang.org/protobuf/proto"

	browsertest "github.com/gridstand/gridstand/internal/testkit/browser"
	"github.com/gridstand/gridstand/internal/testkit/longtest"
	playertest "github.com/gridstand/gridstand/internal/testkit/player"
	servertest "github.com/gridstand/gridstand/internal/testkit/server"
	pb "github.com/gridstand/gridstand/proto/gridstand/v1"
)

// Ensure that the server drops a page whose connection has stalled, while the player and another
// page continue, and that the dropped page reconnects and receives every event once.
//
// A proxy stalls the connection, because Chromium reads events even if the page is busy.
func TestWatch_Stalled_long(t *testing.T) {
	longtest.Skip(t)
	t.Parallel()
	c := servertest.Config(t).Unlimited()
	c.Stall, c.Metrics = time.Second, "127.0.0.1:0"
	running, _ := servertest.Start(t, c)
	s := reach(t, running.Addr().String())
	proxy := startProxy(t, s.address)
	ada := s.account("ada")
	g := s.create(ada, "6x6")
	watch := func(address string) *browsertest.Tab {
		tab := browsertest.Open(t, address)
		browsertest.Call(tab, page.AddScriptToEvaluateOnNewDocument, page.AddScriptToEvaluateOnNewDocumentParams{Source: recordEvents})
		tab.Visit("/g/" + g.GetId())
		waitForBoard(tab, g.GetPosition())
		return tab
	}
	stalled, other := watch(proxy.address()), watch(s.address)
	s.move(ada, g)
	waitForBoard(stalled, g.GetPosition())

	proxy.stall()
	for deadline := time.Now().Add(browsertest.Patience); !droppedWatcher(t, running.MetricsAddr().String()); {
		require.True(t, time.Now().Before(deadline), "no watcher was dropped")
		s.restart(ada, g)
		for range 20 { // few enough that the game cannot end
			s.move(ada, g)
		}
		// If the other page fell behind by 64 events, it would skip some.
		other.Wait("window.versions.at(-1) === " + version(g.GetVersion()))
	}
	s.move(ada, g)
	waitForBoard(other, g.GetPosition())
	assert.Equal(t, []int{2}, browsertest.Eval[[]int](stalled, "window.versions"), "the connection did not stall")

	proxy.resume()
	waitForBoard(stalled, g.GetPosition())
	s.move(ada, g)
	for _, tab := range []*browsertest.Tab{stalled, other} {
		waitForBoard(tab, g.GetPosition())
		readEvery(t, tab, g)
	}
}

// restart returns a game to its first position.
func (s *testServer) restart(caller context.Context, g *pb.Game) {
	s.t.Helper()
	undone, err := s.games.Undo(caller, &pb.UndoRequest{GameId: g.GetId(), Version: g.GetVersion(), ToVersion: proto.Int32(1)})
	require.NoError(s.t, err)
	playertest.Apply(g, undone.GetEvent())
}

// droppedWatch matches the metric of watchers that were dropped. No other watcher has this code unless
// its server is stopping.
var droppedWatch = regexp.MustCompile(`(?m)^grpc_server_handled_total\{grpc_code="Unavailable",grpc_method="Watch",.*\} [1-9]`)

// droppedWatcher reports whether the server with the given address of metrics has dropped a watcher.
func droppedWatcher(t *testing.T, metrics string) bool {
	t.Helper()
	response, err := http.Get("http://" + metrics + "/metrics")
	require.NoError(t, err)
	defer response.Body.Close()
	text, err := io.ReadAll(response.Body)
	require.NoError(t, err)
	return droppedWatch.Match(text)
}
