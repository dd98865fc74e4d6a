package client_test

import (
	"context"
	"net"
	"sync"
	"testing"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
	"google.golang.org/genproto/googleapis/rpc/errdetails"
	"google.golang.org/grpc"
	"google.golang.org/grpc/codes"
	"google.golang.org/grpc/metadata"
	"google.golang.org/grpc/status"
	"google.golang.org/protobuf/protoadapt"
	"google.golang.org/protobuf/types/known/durationpb"

	"github.com/gridstand/gridstand/client"
	grpctest "github.com/gridstand/gridstand/internal/testkit/grpc"
	"github.com/gridstand/gridstand/internal/testkit/process"
	"github.com/gridstand/gridstand/internal/testkit/testmain"
	pb "github.com/gridstand/gridstand/proto/gridstand/v1"
)

func TestMain(m *testing.M) { testmain.Run(m) }

// Ids of the games and players in the tests.
const (
	gameID   = "gamegamegamegamegamegamega"
	otherID  = "otherotherotherotherothero"
	playerID = "playerplayerplayerplayerpl"
)

// fake is a server whose answers a test controls: each field handles one kind of call.
// The field's parameter n is 1 for the first call of that kind, 2 for the second, and so
// on.
type fake struct {
	pb.UnimplementedGameServiceServer
	pb.UnimplementedLeaderboardServiceServer
	pb.UnimplementedPlayerServiceServer
	pb.UnimplementedChallengeServiceServer

	move         func(n int, ctx context.Context, r *pb.MoveRequest) (*pb.Event, error)
	resign       func(n int, r *pb.ResignRequest) (*pb.Event, error)
	join         func(n int, r *pb.JoinGameRequest) (*pb.Game, error)
	undo         func(n int, r *pb.UndoRequest) (*pb.Event, error)
	createGame   func(n int, r *pb.CreateGameRequest) (*pb.Game, error)
	listGames    func(n int, ctx context.Context, r *pb.ListGamesRequest) (*pb.ListGamesResponse, error)
	getGame      func(n int, r *pb.GetGameRequest) (*pb.Game, error)
	watch        func(n int, r *pb.WatchRequest, s watchStream) error
	createPlayer func(n int, ctx context.Context, r *pb.CreatePlayerRequest) (*pb.CreatePlayerResponse, error)
	getPlayer    func(n int, ctx context.Context, r *pb.GetPlayerRequest) (*pb.Player, error)
	rotate       func(n int, ctx context.Context, r *pb.RotateTokenRequest) (*pb.RotateTokenResponse, error)
	storage      pb.Storage

	createChallenge func(n int, r *pb.CreateChallengeRequest) (*pb.Challenge, error)
	joinChallenge   func(n int, r *pb.JoinChallengeRequest) (*pb.Challenge, error)
	watchChallenge  func(n int, r *pb.WatchChallengeRequest, s challengeStream) error

	listener *listener
	mu       sync.Mutex
	calls    map[string]int
}

type (
	watchStream     = grpc.ServerStreamingServer[pb.WatchResponse]
	challengeStream = grpc.ServerStreamingServer[pb.WatchChallengeResponse]
)

// count counts a call and returns how many times it has been made, including this time.
func (f *fake) count(call string) int {
	f.mu.Lock()
	defer f.mu.Unlock()
	if f.calls == nil {
		f.calls = map[string]int{}
	}
	f.calls[call]++
	return f.calls[call]
}

// made returns how many times the call was made.
func (f *fake) made(call string) int {
	f.mu.Lock()
	defer f.mu.Unlock()
	return f.calls[call]
}

// answer answers a call, but no stream. It refuses calls without the timeout that every call of a client has.
func (f *fake) answer(ctx context.Context, request any, _ *grpc.UnaryServerInfo, _ grpc.UnaryHandler) (any, error) {
	if at, ok := ctx.Deadline(); !ok || time.Until(at) > 10*time.Second {
		return nil, status.Error(codes.FailedPrecondition, "the call has no timeout of 10 seconds")
	}
	switch r := request.(type) {
	case *pb.GetServerInfoRequest:
		return &pb.GetServerInfoResponse{Name: "fake", Storage: f.storage}, nil
	case *pb.MoveRequest:
		e, err := f.move(f.count("move"), ctx, r)
		return &pb.MoveResponse{Event: e}, err
	case *pb.ResignRequest:
		e, err := f.resign(f.count("resign"), r)
		return &pb.ResignResponse{Event: e}, err
	case *pb.JoinGameRequest:
		g, err := f.join(f.count("join"), r)
		return &pb.JoinGameResponse{Game: g}, err
	case *pb.UndoRequest:
		e, err := f.undo(f.count("undo"), r)
		return &pb.UndoResponse{Event: e}, err
	case *pb.CreateGameRequest:
		g, err := f.createGame(f.count("createGame"), r)
		return &pb.CreateGameResponse{Game: g}, err
	case *pb.ListGamesRequest:
		return f.listGames(f.count("listGames"), ctx, r)
	case *pb.GetGameRequest:
		g, err := f.getGame(f.count("getGame"), r)
		return &pb.GetGameResponse{Game: g}, err
	case *pb.CreatePlayerRequest:
		return f.createPlayer(f.count("createPlayer"), ctx, r)
	case *pb.GetPlayerRequest:
		p, err := f.getPlayer(f.count("getPlayer"), ctx, r)
		return &pb.GetPlayerResponse{Player: p}, err
	case *pb.RotateTokenRequest:
		return f.rotate(f.count("rotate"), ctx, r)
	case *pb.JoinChallengeRequest:
		c, err := f.joinChallenge(f.count("joinChallenge"), r)
		return &pb.JoinChallengeResponse{Challenge: c}, err
	case *pb.CreateChallengeRequest:
		c, err := f.createChallenge(f.count("createChallenge"), r)
		return &pb.CreateChallengeResponse{Challenge: c}, err
	}
	return nil, status.Errorf(codes.Unimplemented, "%T", request)
}

func (f *fake) Watch(r *pb.WatchRequest, s watchStream) error { return f.watch(f.count("watch"), r, s) }

func (f *fake) WatchChallenge(r *pb.WatchChallengeRequest, s challengeStream) error {
	return f.watchChallenge(f.count("watchChallenge"), r, s)
}

// start serves the fake for the duration of the test and returns its address. The port is a
// reserved one, which no client of another test still tries to reach.
func (f *fake) start(t testing.TB, options ...grpc.ServerOption) string {
	t.Helper()
	l, err := net.Listen("tcp", process.FreeAddress(t))
	require.NoError(t, err)
	f.listener = &listener{Listener: l}
	server := grpc.NewServer(append(options, grpc.ChainUnaryInterceptor(f.answer))...)
	pb.RegisterGameServiceServer(server, f)
	pb.RegisterLeaderboardServiceServer(server, f)
	pb.RegisterPlayerServiceServer(server, f)
	pb.RegisterChallengeServiceServer(server, f)
	grpctest.Serve(t, server, f.listener)
	return l.Addr().String()
}

// client returns a client of the fake that waits only briefly between retries.
func (f *fake) client(t testing.TB) *client.Client {
	t.Helper()
	return dial(t, client.Config{Target: f.start(t), Token: playerID + ".secret"})
}

func dial(t testing.TB, config client.Config) *client.Client {
	t.Helper()
	c, err := client.Dial(config)
	require.NoError(t, err)
	c.ShortenWaits()
	t.Cleanup(func() { assert.NoError(t, c.Close()) })
	return c
}

// listener records its connections so that a test can cut them.
type listener struct {
	net.Listener
	mu    sync.Mutex
	conns []net.Conn
}

func (l *listener) Accept() (net.Conn, error) {
	conn, err := l.Listener.Accept()
	if err == nil {
		l.mu.Lock()
		defer l.mu.Unlock()
		l.conns = append(l.conns, conn)
	}
	return conn, err
}

// cut breaks all connections.
func (l *listener) cut() {
	l.mu.Lock()
	defer l.mu.Unlock()
	for _, conn := range l.conns {
		_ = conn.Close()
	}
	l.conns = nil
}

func tokenOf(ctx context.Context) string {
	md, _ := metadata.FromIncomingContext(ctx)
	for _, v := range md.Get("authorization") {
		return v
	}
	return ""
}

// refuse returns an error with a reason from the contract.
func refuse(code codes.Code, reason string, details ...protoadapt.MessageV1) error {
	return refuseWith(code, reason, nil, details...)
}

// refuseWith is like refuse, for a reason with metadata.
func refuseWith(code codes.Code, reason string, data map[string]string, details ...protoadapt.MessageV1) error {
	details = append(details, &errdetails.ErrorInfo{Domain: pb.ErrorDomain, Reason: reason, Metadata: data})
	st, err := status.New(code, reason+" it is").WithDetails(details...)
	if err != nil {
		panic(err)
	}
	return st.Err()
}

func conflict(version string) error {
	return refuseWith(codes.Aborted, pb.ReasonVersionConflict, map[string]string{"version": version})
}

func retryInfo(d time.Duration) *errdetails.RetryInfo {
	return &errdetails.RetryInfo{RetryDelay: durationpb.New(d)}
}

func badToken() error { return refuse(codes.Unauthenticated, pb.ReasonBadToken) }

func position() *pb.Position {
	return &pb.Position{
		Board:  &pb.Position_Twenty48{Twenty48: &pb.Twenty48Board{Rows: 2, Columns: 2, Tiles: []int32{0, 2, 4, 0}}},
		Scores: []int32{4},
	}
}

func gameAt(version int32) *pb.Game {
	return &pb.Game{
		Id: gameID, Variant: "classic", Version: version, Status: pb.GameStatus_GAME_STATUS_ACTIVE,
		Seats:    []*pb.Seat{{Occupant: &pb.Seat_Player{Player: &pb.Player{Id: playerID, Name: "ada"}}}},
		Position: position(),
	}
}

func knownAt(version int32) client.Game { return client.Game{Game: gameAt(version)} }

func eventAt(version int32) *pb.Event {
	return &pb.Event{GameId: gameID, Version: version, Position: position()}
}
