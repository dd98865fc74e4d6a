package contract

import (
	"context"
	"fmt"
	"log/slog"
	"math/rand/v2"
	"net"
	"strings"
	"sync/atomic"
	"testing"
	"time"

	"github.com/stretchr/testify/require"
	"google.golang.org/grpc"
	"google.golang.org/grpc/metadata"

	redistest "github.com/gridstand/gridstand/internal/testkit/redis"
	servertest "github.com/gridstand/gridstand/internal/testkit/server"
	"github.com/gridstand/gridstand/internal/testkit/testmain"
	pb "github.com/gridstand/gridstand/proto/gridstand/v1"
	"github.com/gridstand/gridstand/server"
)

func TestMain(m *testing.M) { testmain.Run(m, redistest.StillDialing) }

// patience is the timeout for each test's calls and waits. It is generous, since only failing tests
// reach it.
const patience = 10 * time.Minute

// eventually waits until the given condition is true.
func eventually(t testing.TB, what string, is func() bool) {
	t.Helper()
	for deadline := time.Now().Add(patience); !is(); <-time.After(10 * time.Millisecond) {
		require.True(t, time.Now().Before(deadline), "timed out waiting until: %s", what)
	}
}

// testServer is a running server and a connection to it.
type testServer struct {
	pb.GameServiceClient
	pb.LeaderboardServiceClient
	pb.PlayerServiceClient
	pb.ChallengeServiceClient

	conn     grpc.ClientConnInterface
	addr     net.Addr
	volatile bool
	stop     func()
	// anyone is the context of a caller without a token.
	anyone context.Context
	named  atomic.Int32
	// storeStopped is set by a test that stops the store; see checkedConn.
	storeStopped *atomic.Bool
}

// change modifies a server's configuration before the server starts.
type change func(*server.Config)

// skipShort skips a test in -short. Each test of the API starts a server, so -short runs only one or
// a few for each call.
func skipShort(t *testing.T) {
	t.Helper()
	if testing.Short() {
		t.Skip("a variation or a limit")
	}
}

// start starts a server that uses the given store. The server is stopped when the test ends. The
// test fails if the server logs an error, such as a panic in a handler.
func start(t testing.TB, store string, changes ...change) *testServer {
	t.Helper()
	c := servertest.Config(t)
	c.Store = store
	c.Limits.MovesPerSecond = 0
	c.Limits.ReadsAtOnce = 0 // On a slow machine, concurrent calls over the limit would wait too long and be refused.
	c.Logger = slog.New(noErrors{slog.DiscardHandler, t})
	for _, change := range changes {
		change(&c)
	}
	running, stop := servertest.Start(t, c)
	storeStopped := &atomic.Bool{}
	conn := checkedConn{dial(t, running.Addr()), withClock(t, c.StoreNow), storeStopped}
	anyone, cancel := context.WithTimeout(t.Context(), patience)
	t.Cleanup(cancel)
	return &testServer{
		pb.NewGameServiceClient(conn), pb.NewLeaderboardServiceClient(conn), pb.NewPlayerServiceClient(conn),
		pb.NewChallengeServiceClient(conn),
		conn, running.Addr(), store == server.Memory, stop, anyone,
		atomic.Int32{},
		storeStopped,
	}
}

// each runs test once against a server with an in-memory store and once against a server with a
// real Redis. The latter is skipped if redis-server is not installed.
func each(t *testing.T, test func(t *testing.T, s *testServer), changes ...change) {
	t.Helper()
	t.Run("memory", func(t *testing.T) {
		t.Parallel()
		test(t, start(t, server.Memory, changes...))
	})
	t.Run("redis", func(t *testing.T) {
		t.Parallel()
		test(t, start(t, redistest.StartRedis(t).URL(), changes...))
	})
}

// noErrors is a log handler that fails the test when the server logs an error.
type noErrors struct {
	slog.Handler
	t testing.TB
}

func (noErrors) Enabled(_ context.Context, level slog.Level) bool { return level >= slog.LevelError }

func (h noErrors) Handle(_ context.Context, r slog.Record) error {
	line := r.Message
	r.Attrs(func(a slog.Attr) bool {
		line += " " + a.String()
		return true
	})
	h.t.Errorf("the server logged an error: %s", line)
	return nil
}

func (h noErrors) WithAttrs([]slog.Attr) slog.Handler { return h }
func (h noErrors) WithGroup(string) slog.Handler      { return h }

// player is an account and the context of its calls.
type player struct {
	*pb.Player
	token string
	ctx   context.Context
}

// player creates an account with an unused name.
func (s *testServer) player(t testing.TB) player {
	t.Helper()
	return s.account(t, &pb.CreatePlayerRequest{Name: fmt.Sprintf("Player %d", s.named.Add(1))})
}

func (s *testServer) account(t testing.TB, request *pb.CreatePlayerRequest) player {
	t.Helper()
	created, err := s.CreatePlayer(s.anyone, request)
	require.NoError(t, err)
	return player{created.GetPlayer(), created.GetToken(), s.with(created.GetToken())}
}

// with returns the context for a call with the given token.
func (s *testServer) with(token string) context.Context { return s.authorization("Bearer " + token) }

// authorization returns the context for a call with the given header.
func (s *testServer) authorization(values ...string) context.Context {
	return metadata.NewOutgoingContext(s.anyone, metadata.MD{"authorization": values})
}

// game creates a game of the variant.
func (s *testServer) game(t testing.TB, p player, variant string) *pb.Game {
	t.Helper()
	return s.create(t, p, &pb.CreateGameRequest{Variant: variant})
}

func (s *testServer) create(t testing.TB, p player, request *pb.CreateGameRequest) *pb.Game {
	t.Helper()
	created, err := s.CreateGame(p.ctx, request)
	require.NoError(t, err)
	return created.GetGame()
}

// get returns the current state of a game.
func (s *testServer) get(t testing.TB, id string) *pb.Game {
	t.Helper()
	got, err := s.GetGame(s.anyone, &pb.GetGameRequest{GameId: id})
	require.NoError(t, err)
	return got.GetGame()
}

// move makes a random legal move in a game at the given position.
func (s *testServer) move(t testing.TB, p player, id string, version int32, at *pb.Position) *pb.Event {
	t.Helper()
	legal := at.GetTwenty48().GetLegalMoves()
	require.NotEmpty(t, legal)
	moved, err := s.Move(p.ctx, slide(id, version, legal[rand.IntN(len(legal))]))
	require.NoError(t, err)
	return moved.GetEvent()
}

// moves makes n legal moves, starting at g, or fewer if the game ends.
func (s *testServer) moves(t testing.TB, p player, g *pb.Game, n int) []*pb.Event {
	t.Helper()
	var events []*pb.Event
	version, position := g.GetVersion(), g.GetPosition()
	for len(events) < n && len(position.GetTwenty48().GetLegalMoves()) > 0 {
		event := s.move(t, p, g.GetId(), version, position)
		events = append(events, event)
		version, position = event.GetVersion(), event.GetPosition()
	}
	return events
}

// resign resigns a game.
func (s *testServer) resign(t testing.TB, p player, id string) *pb.Event {
	t.Helper()
	resigned, err := s.Resign(p.ctx, &pb.ResignRequest{GameId: id})
	require.NoError(t, err)
	return resigned.GetEvent()
}

// finish plays a game of the variant until it has points, and resigns.
func (s *testServer) finish(t testing.TB, p player, variant string) *pb.Event {
	t.Helper()
	g := s.game(t, p, variant)
	version, position := g.GetVersion(), g.GetPosition()
	for position.GetScores()[0] == 0 {
		event := s.move(t, p, g.GetId(), version, position)
		version, position = event.GetVersion(), event.GetPosition()
	}
	return s.resign(t, p, g.GetId())
}

func slide(id string, version int32, d pb.Direction) *pb.MoveRequest {
	return &pb.MoveRequest{GameId: id, Version: version, Move: &pb.MoveRequest_Direction{Direction: d}}
}

// illegal returns a direction that the rules forbid at a position. It returns false if all
// directions are legal.
func illegal(at *pb.Position) (pb.Direction, bool) {
	legal := map[pb.Direction]bool{}
	for _, d := range at.GetTwenty48().GetLegalMoves() {
		legal[d] = true
	}
	for d := pb.Direction_DIRECTION_UP; d <= pb.Direction_DIRECTION_RIGHT; d++ {
		if !legal[d] {
			return d, true
		}
	}
	return 0, false
}

const base32Alphabet = "abcdefghijklmnopqrstuvwxyz234567"

// newID returns a random string that can serve as an id, a secret or a request_id.
func newID() string {
	var b strings.Builder
	for range 26 {
		b.WriteByte(base32Alphabet[rand.IntN(len(base32Alphabet))])
	}
	return b.String()
}
