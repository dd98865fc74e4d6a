package fault

import (
	"context"
	"errors"
	"fmt"
	"io"
	"math/rand/v2"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/stretchr/testify/require"
	"google.golang.org/genproto/googleapis/rpc/errdetails"
	"google.golang.org/grpc"
	"google.golang.org/grpc/backoff"
	"google.golang.org/grpc/codes"
	"google.golang.org/grpc/credentials/insecure"
	"google.golang.org/grpc/metadata"
	"google.golang.org/grpc/status"

	"github.com/gridstand/gridstand/client"
	"github.com/gridstand/gridstand/internal/id"
	pb "github.com/gridstand/gridstand/proto/gridstand/v1"
)

// client is an account on a connection of its own to one server. It repeats
// nothing by itself, and notes what it is told.
type caller struct {
	w           *world
	server      *testServer
	id, token   string // empty for nobody
	games       pb.GameServiceClient
	leaderboard pb.LeaderboardServiceClient
	players     pb.PlayerServiceClient
}

// behind is one name for several servers, over which clients spread their calls
// as the client library does.
func behind(servers ...*testServer) *testServer {
	var addrs []string
	for _, s := range servers {
		addrs = append(addrs, s.addr)
	}
	return &testServer{addr: strings.Join(addrs, ",")}
}

// insist makes a call; where servers are killed, until it is answered.
func (c *caller) insist(ctx context.Context, call func(context.Context) error) error {
	if !c.w.rough {
		return call(ctx)
	}
	return retry(ctx, func(ctx context.Context) error { return c.rough(ctx, call(ctx)) })
}

// rough is err; where servers are killed, and it is no server's word, it is one
// that asks to come again.
func (c *caller) rough(ctx context.Context, err error) error {
	if c.w.rough && ctx.Err() == nil && brokenOff(err) {
		return status.Error(codes.Unavailable, err.Error())
	}
	return err
}

// comesBack has clients look for a server that went away as often as is needed
// to tell when it is there again.
var comesBack = grpc.WithConnectParams(grpc.ConnectParams{
	Backoff:           backoff.Config{BaseDelay: 20 * time.Millisecond, Multiplier: 1.6, MaxDelay: 200 * time.Millisecond},
	MinConnectTimeout: 5 * time.Second,
})

// anybody connects to a server without an account.
func (w *world) anybody(s *testServer, options ...grpc.DialOption) *caller {
	w.t.Helper()
	if strings.Contains(s.addr, ",") {
		named, err := client.Dial(client.Config{Target: s.addr})
		require.NoError(w.t, err)
		w.t.Cleanup(func() { _ = named.Close() })
		return &caller{w: w, server: s, games: named.Games, leaderboard: named.Leaderboard, players: named.Players}
	}
	options = append(options, grpc.WithTransportCredentials(insecure.NewCredentials()), comesBack)
	conn, err := grpc.NewClient(s.addr, options...)
	require.NoError(w.t, err)
	w.t.Cleanup(func() { _ = conn.Close() })
	return &caller{
		w: w, server: s, games: pb.NewGameServiceClient(conn),
		leaderboard: pb.NewLeaderboardServiceClient(conn), players: pb.NewPlayerServiceClient(conn),
	}
}

// player connects to a server with a new account.
func (w *world) player(s *testServer, options ...grpc.DialOption) *caller {
	w.t.Helper()
	c := w.anybody(s, options...)
	request := &pb.CreatePlayerRequest{Name: "p" + id.New()[:20], Secret: id.New()}
	var response *pb.CreatePlayerResponse
	require.NoError(w.t, c.insist(w.t.Context(), func(ctx context.Context) (err error) {
		response, err = c.players.CreatePlayer(ctx, request)
		return err
	}))
	c.id, c.token = response.GetPlayer().GetId(), response.GetToken()
	return c
}

// on is the same account, connected to a server once more.
func (c *caller) on(s *testServer, options ...grpc.DialOption) *caller {
	c.w.t.Helper()
	other := c.w.anybody(s, options...)
	other.id, other.token = c.id, c.token
	return other
}

func (c *caller) authorized(ctx context.Context) context.Context {
	if c.token == "" {
		return ctx
	}
	return metadata.AppendToOutgoingContext(ctx, "authorization", "Bearer "+c.token)
}

// create creates a game; the same request finds it again.
func (c *caller) create(ctx context.Context, request *pb.CreateGameRequest) (*pb.Game, error) {
	var response *pb.CreateGameResponse
	err := c.insist(ctx, func(ctx context.Context) (err error) {
		response, err = c.games.CreateGame(c.authorized(ctx), request)
		return err
	})
	if err != nil {
		return nil, checkError(err)
	}
	return response.GetGame(), c.w.told.game(response.GetGame())
}

// ofVariant asks for a new game of a variant.
func ofVariant(variant string) *pb.CreateGameRequest {
	return &pb.CreateGameRequest{Variant: variant, RequestId: id.New()}
}

// start creates a game that the test needs.
func (c *caller) start(t *testing.T, variant string) *pb.Game {
	t.Helper()
	game, err := c.create(t.Context(), ofVariant(variant))
	require.NoError(t, err)
	return game
}

// move moves, and looks whether the answer is that to its question.
func (c *caller) move(ctx context.Context, gameID string, version int32, d pb.Direction) (*pb.Event, error) {
	var response *pb.MoveResponse
	err := c.insist(ctx, func(ctx context.Context) (err error) {
		response, err = c.games.Move(c.authorized(ctx), &pb.MoveRequest{
			GameId: gameID, Version: version, Move: &pb.MoveRequest_Direction{Direction: d},
		})
		return err
	})
	if err != nil {
		return nil, checkError(err)
	}
	e := response.GetEvent()
	if e.GetGameId() != gameID || e.GetVersion() != version+1 || e.GetMoved().GetDirection() != d {
		return nil, fmt.Errorf("moving %v at version %d was answered with %v", d, version, e)
	}
	return e, c.w.told.event(e)
}

// resign gives a game up, in whatever version it is.
func (c *caller) resign(ctx context.Context, gameID string) (*pb.Event, error) {
	var response *pb.ResignResponse
	err := c.insist(ctx, func(ctx context.Context) (err error) {
		response, err = c.games.Resign(c.authorized(ctx), &pb.ResignRequest{GameId: gameID})
		return err
	})
	if err != nil {
		return nil, checkError(err)
	}
	e := response.GetEvent()
	if e.GetGameId() != gameID || e.GetResigned() == nil || e.GetResult() == nil {
		return nil, fmt.Errorf("resigning was answered with %v", e)
	}
	return e, c.w.told.event(e)
}

// get reads a game.
func (c *caller) get(ctx context.Context, gameID string) (*pb.Game, error) {
	var response *pb.GetGameResponse
	err := c.insist(ctx, func(ctx context.Context) (err error) {
		response, err = c.games.GetGame(c.authorized(ctx), &pb.GetGameRequest{GameId: gameID})
		return err
	})
	if err != nil {
		return nil, checkError(err)
	}
	return response.GetGame(), c.w.told.game(response.GetGame())
}

// random draws one of the legal moves of a position.
func random(rng *rand.Rand, p *pb.Position) pb.Direction {
	legal := p.GetTwenty48().GetLegalMoves()
	return legal[rng.IntN(len(legal))]
}

// play moves at random, through each of the clients, who are one player, by
// chance, until the game ends. At version giveUp, 0 for never, it resigns.
// After each event it calls seen with its version.
func play(ctx context.Context, rng *rand.Rand, game *pb.Game, giveUp int32, seen func(version int32), clients ...*caller) error {
	version, position := game.GetVersion(), game.GetPosition()
	for over := false; !over; {
		c := clients[rng.IntN(len(clients))]
		var event *pb.Event
		var err error
		if giveUp > 0 && version >= giveUp {
			event, err = c.resign(ctx, game.GetId())
		} else {
			event, err = c.move(ctx, game.GetId(), version, random(rng, position))
		}
		if err != nil {
			return err
		}
		version, position, over = event.GetVersion(), event.GetPosition(), event.GetResult() != nil
		seen(version)
	}
	return nil
}

// lasting returns left or down by chance while one of them is legal, so that the
// game lasts: random moves now and then end one of 6x6 before version 800.
func lasting(rng *rand.Rand, p *pb.Position) pb.Direction {
	legal := p.GetTwenty48().GetLegalMoves()
	order := []pb.Direction{pb.Direction_DIRECTION_LEFT, pb.Direction_DIRECTION_DOWN, pb.Direction_DIRECTION_RIGHT, pb.Direction_DIRECTION_UP}
	if rng.IntN(2) == 0 {
		order[0], order[1] = order[1], order[0]
	}
	for _, direction := range order {
		if slices.Contains(legal, direction) {
			return direction
		}
	}
	return pb.Direction_DIRECTION_UNSPECIFIED
}

// playTo moves up to a version, which the game must live to see, and returns the
// last event.
func (c *caller) playTo(t *testing.T, rng *rand.Rand, game *pb.Game, version int32) *pb.Event {
	t.Helper()
	at, position := game.GetVersion(), game.GetPosition()
	var event *pb.Event
	for at < version {
		event = again(t, c, game.GetId(), at, lasting(rng, position))
		require.Nil(t, event.GetResult(), "the game is too short")
		at, position = event.GetVersion(), event.GetPosition()
	}
	return event
}

// after is a game as far as one who plays on has to know it.
func after(last *pb.Event) *pb.Game {
	return &pb.Game{Id: last.GetGameId(), Version: last.GetVersion(), Position: last.GetPosition()}
}

// seeded is a source of moves that are the same each time.
func seeded(t *testing.T) *rand.Rand {
	var seed [32]byte
	copy(seed[:], strings.TrimPrefix(t.Name(), "Test"))
	return rand.New(rand.NewChaCha8(seed))
}

// refusal is what the contract says of an error.
type refusal struct {
	code     codes.Code
	reason   string
	metadata map[string]string
	retry    time.Duration // 0 where there is no hint
}

func refusalOf(err error) refusal {
	s := status.Convert(err)
	r := refusal{code: s.Code()}
	for _, detail := range s.Details() {
		switch d := detail.(type) {
		case *errdetails.ErrorInfo:
			r.reason, r.metadata = d.GetReason(), d.GetMetadata()
		case *errdetails.RetryInfo:
			r.retry = d.GetRetryDelay().AsDuration()
		}
	}
	return r
}

// checkError returns err, or another one, which is no status, where no caller
// should have met it.
func checkError(err error) error {
	r := refusalOf(err)
	hinted := r.reason == pb.ReasonStorageUnavailable || r.reason == pb.ReasonServerUnavailable
	switch {
	case errors.Is(err, io.EOF): // the good end of a stream
		return err
	case r.code == codes.Internal, r.code == codes.Unknown:
		return fmt.Errorf("an answer of no contract: %s", err.Error())
	case hinted && r.retry <= 0:
		return fmt.Errorf("no hint when to come again: %s", err.Error())
	default:
		return err
	}
}

// unavailable reports whether the call is to be sent again: the server said
// so, or there is none.
func unavailable(err error) bool { return status.Code(err) == codes.Unavailable }

// brokenOff reports whether a call or a stream ended without the server's word:
// the connection broke, or the client library gave up waiting.
func brokenOff(err error) bool {
	s := status.Convert(err)
	switch s.Code() {
	case codes.DeadlineExceeded, codes.Canceled:
		return true
	case codes.Internal:
		return strings.HasPrefix(s.Message(), "stream terminated by RST_STREAM") ||
			strings.HasPrefix(s.Message(), "server closed the stream without sending trailers")
	default:
		return false
	}
}

// retry makes a call until it is answered with anything but a request to come
// again.
func retry(ctx context.Context, call func(context.Context) error) error {
	err := call(ctx)
	for unavailable(err) {
		if paused := pause(ctx); paused != nil {
			return paused
		}
		err = call(ctx)
	}
	return err
}

// pause lets a moment pass before something is tried again: less than servers
// ask for, which have people in mind.
func pause(ctx context.Context) error {
	select {
	case <-time.After(5 * time.Millisecond):
		return nil
	case <-ctx.Done():
		return ctx.Err()
	}
}
