package web

import (
	"context"
	"fmt"
	"strings"
	"testing"

	"github.com/chromedp/chromedp/kb"
	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
	"google.golang.org/grpc"

	browsertest "github.com/gridstand/gridstand/internal/testkit/browser"
	"github.com/gridstand/gridstand/internal/testkit/longtest"
	playertest "github.com/gridstand/gridstand/internal/testkit/player"
	servertest "github.com/gridstand/gridstand/internal/testkit/server"
	pb "github.com/gridstand/gridstand/proto/gridstand/v1"
	"github.com/gridstand/gridstand/server"
)

// testServer is a running server and its API.
type testServer struct {
	t       testing.TB
	address string
	games   pb.GameServiceClient
	// challenges is the client for the same server's challenges.
	challenges pb.ChallengeServiceClient
	conn       *grpc.ClientConn
}

// start starts a server that keeps its games in memory.
func start(t testing.TB, changes ...func(*server.Config)) *testServer {
	t.Helper()
	c := servertest.Config(t)
	for _, change := range changes {
		change(&c)
	}
	running, _ := servertest.Start(t, c)
	return reach(t, running.Addr().String())
}

// reach returns the API of the server at the given address.
func reach(t testing.TB, address string) *testServer {
	t.Helper()
	conn := servertest.Dial(t, addr(address))
	return &testServer{t, address, pb.NewGameServiceClient(conn), pb.NewChallengeServiceClient(conn), conn}
}

// addr is the address of a server.
type addr string

func (a addr) Network() string { return "tcp" }
func (a addr) String() string  { return string(a) }

// account creates an account and returns the context for its calls.
func (s *testServer) account(name string) context.Context {
	s.t.Helper()
	return playertest.New(s.t.Context(), s.t, s.conn, name).Ctx
}

// create creates a game as the caller.
func (s *testServer) create(caller context.Context, variant string, seats ...*pb.SeatRequest) *pb.Game {
	s.t.Helper()
	made, err := s.games.CreateGame(caller, &pb.CreateGameRequest{Variant: variant, Seats: seats})
	require.NoError(s.t, err)
	return made.GetGame()
}

// game returns the current game.
func (s *testServer) game(id string) *pb.Game {
	s.t.Helper()
	got, err := s.games.GetGame(s.t.Context(), &pb.GetGameRequest{GameId: id})
	require.NoError(s.t, err)
	return got.GetGame()
}

// move makes a move in a solo game of 2048 and applies its event to g.
func (s *testServer) move(caller context.Context, g *pb.Game) *pb.Event {
	s.t.Helper()
	made, err := s.games.Move(caller, playertest.Slide(g))
	require.NoError(s.t, err)
	playertest.Apply(g, made.GetEvent())
	return made.GetEvent()
}

const board = `document.querySelector(".b48")`

// waitForBoard waits until the page shows a position of 2048, both visually and to screen
// readers.
func waitForBoard(tab *browsertest.Tab, p *pb.Position) {
	tab.Wait(fmt.Sprintf("%s?.getAttribute('aria-label') === %q", board, label(p)))
	// Merged tiles stay under the new ones until the next move.
	tab.Wait(fmt.Sprintf(`(() => {
		const shown = Array(%[2]d).fill(0);
		for (const t of %[1]s.querySelectorAll(".tile"))
			shown[t.style.getPropertyValue("--y") * %[3]d + +t.style.getPropertyValue("--x")] = t.value;
		return shown.join() === %[4]q;
	})()`, board, len(p.GetTwenty48().GetTiles()), p.GetTwenty48().GetColumns(), strings.Trim(strings.ReplaceAll(fmt.Sprint(p.GetTwenty48().GetTiles()), " ", ","), "[]")))
}

// label returns the label of a board for screen readers. says reports whether the page shows the
// given text.
var (
	label = browsertest.Label
	says  = browsertest.Says
)

// connected reports whether the page of a running game is connected to the server. The game is idle if its last
// move is more than half a minute old.
var connected = says("● live") + " || " + says("○ idle")

// Ensure that the page shows every move by another player until the game ends, and then verifies
// it.
func TestWatch(t *testing.T) {
	t.Parallel()
	s := start(t)
	ada := s.account("ada")
	g := s.create(ada, "3x3")
	tab := browsertest.Open(t, s.address)
	tab.Visit("/g/" + g.GetId())
	waitForBoard(tab, g.GetPosition())
	tab.Wait(says("1 watching"))
	for g.GetResult() == nil {
		s.move(ada, g)
		waitForBoard(tab, g.GetPosition())
	}
	tab.Wait(says("No moves left"))
	tab.Wait(says("Verified in this browser"))
	assert.NotContains(t, tab.Text(), "1 watching")
}

// Ensure that a finished game is shown and verified, and that its replay includes every
// position.
func TestReplay_long(t *testing.T) {
	longtest.Skip(t)
	t.Parallel()
	s := start(t)
	ada := s.account("ada")
	g := s.create(ada, "3x3")
	positions := []*pb.Position{g.GetPosition()}
	for range 12 {
		s.move(ada, g)
		positions = append(positions, g.GetPosition())
	}
	_, err := s.games.Resign(ada, &pb.ResignRequest{GameId: g.GetId()})
	require.NoError(t, err)
	tab := browsertest.Open(t, s.address)
	tab.Visit("/g/" + g.GetId())
	tab.Wait(says("Resigned"))
	tab.Wait(says("Verified in this browser"))
	tab.Press(kb.Home)
	waitForBoard(tab, positions[0])
	for _, p := range positions[1:] {
		tab.Press(kb.ArrowRight)
		waitForBoard(tab, p)
	}
	tab.Press(kb.ArrowLeft)
	waitForBoard(tab, positions[len(positions)-2])
	tab.Press("l")
	waitForBoard(tab, positions[len(positions)-1])
}

// Ensure that the page of an unknown or impossible game reports that there is no such game.
func TestGame_Unknown_long(t *testing.T) {
	longtest.Skip(t)
	t.Parallel()
	s := start(t)
	tab := browsertest.Open(t, s.address)
	tab.Visit("/g/aaaaaaaaaaaaaaaaaaaaaaaaaa")
	tab.Wait(says("There is no game with this id"))
	for _, path := range []string{"/g/x", "/g/%3Cb%3E", "/nothing/here"} {
		tab.Visit(path)
		tab.Wait(says("Page not found"))
	}
}
