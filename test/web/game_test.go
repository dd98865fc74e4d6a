package web

import (
	"context"
	"fmt"
	"strings"
	"testing"

	"github.com/chromedp/chromedp/kb"
	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
	"google.golang.org/grpc/metadata"

	browsertest "github.com/gridstand/gridstand/internal/testkit/browser"
	servertest "github.com/gridstand/gridstand/internal/testkit/server"
	pb "github.com/gridstand/gridstand/proto/gridstand/v1"
	"github.com/gridstand/gridstand/server"
)

// testServer is a running server, and its API.
type testServer struct {
	t       testing.TB
	address string
	games   pb.GameServiceClient
	players pb.PlayerServiceClient
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

// reach returns the API of the server at an address.
func reach(t testing.TB, address string) *testServer {
	t.Helper()
	conn := servertest.Dial(t, addr(address))
	return &testServer{t, address, pb.NewGameServiceClient(conn), pb.NewPlayerServiceClient(conn)}
}

// addr is the address of a server.
type addr string

func (a addr) Network() string { return "tcp" }
func (a addr) String() string  { return string(a) }

// account creates an account, whose calls are made with the context.
func (s *testServer) account(name string) context.Context {
	s.t.Helper()
	made, err := s.players.CreatePlayer(s.t.Context(), &pb.CreatePlayerRequest{Name: name})
	require.NoError(s.t, err)
	return withToken(s.t.Context(), made.GetToken())
}

// create creates a game of the caller.
func (s *testServer) create(caller context.Context, variant string, seats ...*pb.SeatRequest) *pb.Game {
	s.t.Helper()
	made, err := s.games.CreateGame(caller, &pb.CreateGameRequest{Variant: variant, Seats: seats})
	require.NoError(s.t, err)
	return made.GetGame()
}

// game returns a game as it is now.
func (s *testServer) game(id string) *pb.Game {
	s.t.Helper()
	got, err := s.games.GetGame(s.t.Context(), &pb.GetGameRequest{GameId: id})
	require.NoError(s.t, err)
	return got.GetGame()
}

// move makes the first legal move of a solo game of 2048, and applies its event to g.
func (s *testServer) move(caller context.Context, g *pb.Game) {
	s.t.Helper()
	direction := g.GetPosition().GetTwenty48().GetLegalMoves()[0]
	made, err := s.games.Move(caller, &pb.MoveRequest{
		GameId: g.GetId(), Version: g.GetVersion(), Move: &pb.MoveRequest_Direction{Direction: direction},
	})
	require.NoError(s.t, err)
	g.Version, g.Position, g.Result = made.GetEvent().GetVersion(), made.GetEvent().GetPosition(), made.GetEvent().GetResult()
	if g.GetResult() != nil {
		g.Status = pb.GameStatus_GAME_STATUS_FINISHED
	}
}

const board = `document.querySelector(".b48")`

// waitForBoard waits until the page shows a position of 2048, to screen readers and to the eye.
func waitForBoard(tab *browsertest.Tab, p *pb.Position) {
	tab.Wait(fmt.Sprintf("%s?.getAttribute('aria-label') === %q", board, label(p)))
	// Tiles that merged stay below the new ones until the next move.
	tab.Wait(fmt.Sprintf(`(() => {
		const shown = Array(%[2]d).fill(0);
		for (const t of %[1]s.querySelectorAll(".tile"))
			shown[t.style.getPropertyValue("--y") * %[3]d + +t.style.getPropertyValue("--x")] = t.value;
		return shown.join() === %[4]q;
	})()`, board, len(p.GetTwenty48().GetTiles()), p.GetTwenty48().GetColumns(), strings.Trim(strings.ReplaceAll(fmt.Sprint(p.GetTwenty48().GetTiles()), " ", ","), "[]")))
}

// label is what a screen reader says of a board, and says whether the page shows a text.
var (
	label = browsertest.Label
	says  = browsertest.Says
)

// Ensure that the page shows every move that another player makes, to the end, and
// verifies the game then.
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

// Ensure that a game that is over is shown and verified, and that its replay goes through
// every position.
func TestReplay(t *testing.T) {
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
	tab.Wait(says("Given up"))
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

// Ensure that an address without a game says so.
func TestGame_Unknown(t *testing.T) {
	t.Parallel()
	s := start(t)
	tab := browsertest.Open(t, s.address)
	for _, id := range []string{"aaaaaaaaaaaaaaaaaaaaaaaaaa", "x", "%3Cb%3E"} {
		tab.Visit("/g/" + id)
		tab.Wait(says("No such game"))
	}
	tab.Visit("/nothing/here")
	tab.Wait(says("Page not found"))
}

// withToken returns the context of a caller with a token.
func withToken(ctx context.Context, token string) context.Context {
	return metadata.AppendToOutgoingContext(ctx, "authorization", "Bearer "+token)
}
