//go:build slow

package web

import (
	"fmt"
	"testing"

	"github.com/stretchr/testify/require"
	"google.golang.org/grpc"

	playertest "github.com/gridstand/gridstand/internal/testkit/player"
	servertest "github.com/gridstand/gridstand/internal/testkit/server"
	waittest "github.com/gridstand/gridstand/internal/testkit/wait"
	pb "github.com/gridstand/gridstand/proto/gridstand/v1"
	"github.com/gridstand/gridstand/server"
	"github.com/gridstand/gridstand/test/web/browsertest"
)

func TestMain(m *testing.M) { browsertest.Run(m) }

// testServer is a running server and its API.
type testServer struct {
	t          testing.TB
	address    string
	games      pb.GameServiceClient
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
	return reach(t, running)
}

// reach returns the API of a running server.
func reach(t testing.TB, running *server.Server) *testServer {
	t.Helper()
	conn := servertest.Dial(t, running.Addr())
	return &testServer{t, running.Addr().String(), pb.NewGameServiceClient(conn), pb.NewChallengeServiceClient(conn), conn}
}

// open opens an empty tab for the server.
func (s *testServer) open() *browsertest.Tab {
	s.t.Helper()
	return browsertest.Open(s.t, s.address)
}

// player creates an account.
func (s *testServer) player(name string) *playertest.Player {
	s.t.Helper()
	return playertest.New(s.t.Context(), s.t, s.conn, name)
}

// game returns the current game.
func (s *testServer) game(id string) *pb.Game {
	s.t.Helper()
	got, err := s.games.GetGame(s.t.Context(), &pb.GetGameRequest{GameId: id})
	require.NoError(s.t, err)
	return got.GetGame()
}

// own returns the current game, as the tab's account sees it.
func (s *testServer) own(tab *browsertest.Tab, id string) *pb.Game {
	s.t.Helper()
	got, err := s.games.GetGame(playertest.WithToken(s.t.Context(), stored(s.t, tab).Token), &pb.GetGameRequest{GameId: id})
	require.NoError(s.t, err)
	return got.GetGame()
}

// newest returns the newest game of the tab's account.
func (s *testServer) newest(tab *browsertest.Tab) *pb.Game {
	s.t.Helper()
	listed, err := s.games.ListGames(s.t.Context(), &pb.ListGamesRequest{PlayerId: stored(s.t, tab).ID})
	require.NoError(s.t, err)
	require.NotEmpty(s.t, listed.GetGames())
	return s.game(listed.GetGames()[0].GetId())
}

// watched waits until a game has the given number of watchers.
func (s *testServer) watched(g *pb.Game, n int32) {
	s.t.Helper()
	waittest.Until(s.t, fmt.Sprintf("the game has %d watchers", n), func() bool { return s.game(g.GetId()).GetWatchers() == n })
}

// eventsAfter returns a function that waits for the next event after the given version of a game.
func (s *testServer) eventsAfter(g *pb.Game) (next func() *pb.Event) {
	s.t.Helper()
	version := g.GetVersion()
	stream, err := s.games.Watch(waittest.Context(s.t), &pb.WatchRequest{GameId: g.GetId(), AfterVersion: &version, EveryEvent: true})
	require.NoError(s.t, err)
	return func() *pb.Event {
		s.t.Helper()
		for {
			update, err := stream.Recv()
			require.NoError(s.t, err)
			if e := update.GetEvent(); e != nil {
				return e
			}
		}
	}
}

// attempt returns the attempt at a challenge by the tab's account, and the challenge.
func (s *testServer) attempt(tab *browsertest.Tab, request *pb.GetChallengeRequest) (*pb.Game, *pb.Challenge) {
	s.t.Helper()
	ctx := playertest.WithToken(s.t.Context(), stored(s.t, tab).Token)
	got, err := s.challenges.GetChallenge(ctx, request)
	require.NoError(s.t, err)
	return s.own(tab, got.GetAttempt().GetGameId()), got.GetChallenge()
}

// press makes a move in a game of the tab's account by pressing its key, and returns the resulting game.
// The page shows a slide before the server receives the move.
func (s *testServer) press(tab *browsertest.Tab, g *pb.Game) *pb.Game {
	s.t.Helper()
	waitForBoard(tab, g.GetPosition())
	tab.Press(keyOf(g))
	before := g.GetVersion()
	waittest.Until(s.t, "the key makes a move", func() bool {
		g = s.own(tab, g.GetId())
		return g.GetVersion() > before
	})
	return g
}

// playAttempt plays the tab's attempt from the keyboard until it is over.
func (s *testServer) playAttempt(tab *browsertest.Tab, request *pb.GetChallengeRequest) (*pb.Game, *pb.Challenge) {
	s.t.Helper()
	g, c := s.attempt(tab, request)
	for g.GetResult() == nil {
		g = s.press(tab, g)
	}
	waitForBoard(tab, g.GetPosition())
	return g, c
}
