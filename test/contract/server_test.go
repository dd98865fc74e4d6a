package contract

import (
	"context"
	"flag"
	"fmt"
	"log/slog"
	"net"
	"sync/atomic"
	"testing"
	"time"

	"github.com/stretchr/testify/require"
	"google.golang.org/grpc"
	"google.golang.org/grpc/metadata"
	"google.golang.org/protobuf/proto"

	"github.com/gridstand/gridstand/internal/id"
	playertest "github.com/gridstand/gridstand/internal/testkit/player"
	redistest "github.com/gridstand/gridstand/internal/testkit/redis"
	servertest "github.com/gridstand/gridstand/internal/testkit/server"
	"github.com/gridstand/gridstand/internal/testkit/testmain"
	"github.com/gridstand/gridstand/internal/testkit/transcript"
	waittest "github.com/gridstand/gridstand/internal/testkit/wait"
	"github.com/gridstand/gridstand/internal/verify"
	pb "github.com/gridstand/gridstand/proto/gridstand/v1"
	"github.com/gridstand/gridstand/server"
	"github.com/gridstand/gridstand/server/limits"
)

func TestMain(m *testing.M) {
	testmain.Run(m, redistest.StillDialing)
}

// patience is the timeout for each test's calls and waits. Only failing tests reach it.
const patience = waittest.Patience

var store = flag.String("store", "memory", "store of the servers: memory, redis (a process for each test) or cluster (one node for each test)")

// newStore returns the address of a new store of the kind that the flag -store selects. If servers
// are to share it and it would be in memory, it is an imitation of Redis.
func newStore(t testing.TB, shared bool) string {
	t.Helper()
	switch {
	case *store == "redis":
		return redistest.StartRedis(t).URL()
	case *store == "cluster":
		return "redis://" + redistest.StartCluster(t, 1).Nodes[0].Addr() + "?cluster=true"
	case shared:
		return "redis://" + redistest.StartMiniredis(t).Addr()
	default:
		return server.Memory
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
	protocol string
	store    string // address of the store
	volatile bool
	stop     func()
	// anyone is the context of a caller without a token.
	anyone context.Context
	named  *atomic.Int32
	// storeStopped is set by a test that stops the store; see checkedConn.
	storeStopped *atomic.Bool
}

// change modifies a server's configuration before the server starts.
type change func(*server.Config)

// start starts a server that uses the store at the given address. The server is stopped when the test
// ends. The test fails if the server logs an error, such as a panic in a handler. A test that always
// uses the memory is skipped if the flag -store selects another store.
func start(t testing.TB, address string, changes ...change) *testServer {
	t.Helper()
	if address == server.Memory && *store != "memory" {
		t.Skip("not a test of " + *store)
	}
	c := servertest.Config(t)
	c.Store = address
	c.Limits[limits.MovesPerSecond] = 0
	c.Limits[limits.ReadsPerAddressPerSecond] = 0 // On a slow machine, concurrent calls over the limit would wait too long and be refused.
	c.Logger = slog.New(slog.NewTextHandler(noErrors{t}, &slog.HandlerOptions{Level: slog.LevelError}))
	for _, change := range changes {
		change(&c)
	}
	running, stop := servertest.Start(t, c)
	storeStopped := &atomic.Bool{}
	s := &testServer{
		addr: running.Addr(), store: address, volatile: address == server.Memory, stop: stop, anyone: waittest.Context(t), named: &atomic.Int32{},
		storeStopped: storeStopped,
	}
	return s.over(t, overGRPC)
}

// over returns the same server with a connection that uses the given protocol.
func (s *testServer) over(t testing.TB, protocol string) *testServer {
	t.Helper()
	o := s.on(checkedConn{dial(t, s.addr, protocol), t, s.storeStopped})
	o.protocol = protocol
	return o
}

// on returns the same server with the given connection.
func (s *testServer) on(conn grpc.ClientConnInterface) *testServer {
	o := *s
	o.GameServiceClient, o.LeaderboardServiceClient = pb.NewGameServiceClient(conn), pb.NewLeaderboardServiceClient(conn)
	o.PlayerServiceClient, o.ChallengeServiceClient = pb.NewPlayerServiceClient(conn), pb.NewChallengeServiceClient(conn)
	o.conn = conn
	return &o
}

// serve starts a server with a new store of the kind that the flag -store selects.
func serve(t *testing.T, changes ...change) *testServer {
	t.Helper()
	return start(t, newStore(t, false), changes...)
}

// pair starts two servers that share such a store.
func pair(t *testing.T, changes ...change) (a, b *testServer) {
	t.Helper()
	url := newStore(t, true)
	return start(t, url, changes...), start(t, url, changes...)
}

// noErrors is a log that fails the test with each line.
type noErrors struct{ t testing.TB }

func (l noErrors) Write(line []byte) (int, error) {
	l.t.Errorf("the server logged an error: %s", line)
	return len(line), nil
}

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

// move makes a legal move in a game at the given position, such that the game lasts long.
func (s *testServer) move(t testing.TB, p player, id string, version int32, at *pb.Position) *pb.Event {
	t.Helper()
	direction := playertest.Lasting(version, at)
	require.NotZero(t, direction, "no legal move")
	moved, err := s.Move(p.ctx, slide(id, version, direction))
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
	return s.score(t, p, s.game(t, p, variant))
}

// score plays a game until it has points, and resigns.
func (s *testServer) score(t testing.TB, p player, g *pb.Game) *pb.Event {
	t.Helper()
	version, position := g.GetVersion(), g.GetPosition()
	for position.GetScores()[0] == 0 {
		event := s.move(t, p, g.GetId(), version, position)
		version, position = event.GetVersion(), event.GetPosition()
	}
	return s.resign(t, p, g.GetId())
}

// table creates a game of Tribolo.
func (s *testServer) table(t testing.TB, p player, seats ...*pb.SeatRequest) *pb.Game {
	t.Helper()
	return s.create(t, p, &pb.CreateGameRequest{Variant: "tribolo", Seats: seats})
}

// three creates a game for three players.
func (s *testServer) three(t testing.TB) (*pb.Game, [3]player) {
	t.Helper()
	players := [3]player{s.player(t), s.player(t), s.player(t)}
	g := s.table(t, players[0], callerSeat, openSeat, openSeat)
	s.join(t, players[1], g.GetId())
	return s.join(t, players[2], g.GetId()), players
}

// jump makes the first legal move for p, whose turn it is.
func (s *testServer) jump(t testing.TB, p player, id string, version int32, at *pb.Position) *pb.Event {
	t.Helper()
	to := at.GetTribolo().GetLegalMoves()[0].GetCell()
	moved, err := s.Move(p.ctx, cell(id, version, to.GetX(), to.GetY()))
	require.NoError(t, err)
	return moved.GetEvent()
}

// jumps makes n moves for the players of the game.
func (s *testServer) jumps(t testing.TB, players [3]player, id string, n int) *pb.Game {
	t.Helper()
	g := s.get(t, id)
	version, at := g.GetVersion(), g.GetPosition()
	for range n {
		event := s.jump(t, players[at.GetTurn()], id, version, at)
		version, at = event.GetVersion(), event.GetPosition()
	}
	return s.get(t, id)
}

// join takes the given seat, or any open seat if no seat is given.
func (s *testServer) join(t testing.TB, p player, id string, seat ...int32) *pb.Game {
	t.Helper()
	request := &pb.JoinGameRequest{GameId: id}
	if len(seat) > 0 {
		request.Seat = &seat[0]
	}
	joined, err := s.JoinGame(p.ctx, request)
	require.NoError(t, err)
	return joined.GetGame()
}

// undo undoes moves back to the given version, or only the player's last move if no version is
// given.
func (s *testServer) undo(t testing.TB, p player, id string, version int32, to ...int32) *pb.Event {
	t.Helper()
	request := &pb.UndoRequest{GameId: id, Version: version}
	if len(to) > 0 {
		request.ToVersion = &to[0]
	}
	undone, err := s.Undo(p.ctx, request)
	require.NoError(t, err)
	return undone.GetEvent()
}

// transcript returns the events of a game up to its current version.
func (s *testServer) transcript(t testing.TB, id string) []*pb.Event {
	t.Helper()
	last := s.get(t, id).GetVersion()
	w := s.watch(t, s.anyone, from(id, 0))
	defer w.leave()
	var events []*pb.Event
	for w.history.Version() < last {
		events = append(events, w.event(t))
	}
	return events
}

// verified requires that the transcript of a finished game can be verified.
func (s *testServer) verified(t testing.TB, id string) []*pb.Event {
	t.Helper()
	events := s.transcript(t, id)
	_, err := verify.Transcript(transcript.All(events))
	require.NoError(t, err)
	return events
}

// sits returns the occupants of a game's seats: player ids, bot names, and "" for open seats.
func sits(g *pb.Game) []string {
	var who []string
	for _, seat := range g.GetSeats() {
		who = append(who, seat.GetPlayer().GetId()+seat.GetBot())
	}
	return who
}

// patientBots makes bots wait so that the test can move first.
func patientBots(c *server.Config) { c.BotPace = time.Hour }

var (
	callerSeat = &pb.SeatRequest{Occupant: &pb.SeatRequest_Caller{Caller: &pb.Caller{}}}
	openSeat   = &pb.SeatRequest{Occupant: &pb.SeatRequest_Open{Open: &pb.Open{}}}
)

func botSeat(name string) *pb.SeatRequest {
	return &pb.SeatRequest{Occupant: &pb.SeatRequest_Bot{Bot: name}}
}

// seats returns seats for the caller ("caller"), for any player ("open") and for bots.
func seats(names ...string) []*pb.SeatRequest {
	var all []*pb.SeatRequest
	for _, name := range names {
		switch name {
		case "caller":
			all = append(all, callerSeat)
		case "open":
			all = append(all, openSeat)
		default:
			all = append(all, botSeat(name))
		}
	}
	return all
}

func slide(id string, version int32, d pb.Direction) *pb.MoveRequest {
	return &pb.MoveRequest{GameId: id, Version: version, Move: &pb.MoveRequest_Direction{Direction: d}}
}

func cell(id string, version, x, y int32) *pb.MoveRequest {
	return &pb.MoveRequest{GameId: id, Version: version, Move: &pb.MoveRequest_Cell{Cell: &pb.Cell{X: x, Y: y}}}
}

// same requires that two messages are equal.
func same(t testing.TB, want, got proto.Message) {
	t.Helper()
	require.True(t, proto.Equal(want, got), "want %v\ngot %v", want, got)
}

// newID returns a random string that can serve as an id, a secret or a request_id.
func newID() string { return id.New() }
