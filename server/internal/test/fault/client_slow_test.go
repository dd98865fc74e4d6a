//go:build slow

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
	"google.golang.org/grpc"
	"google.golang.org/grpc/backoff"
	"google.golang.org/grpc/codes"
	"google.golang.org/grpc/metadata"
	"google.golang.org/grpc/status"

	"github.com/gridstand/gridstand/client"
	"github.com/gridstand/gridstand/internal/id"
	playertest "github.com/gridstand/gridstand/internal/testkit/player"
	servertest "github.com/gridstand/gridstand/internal/testkit/server"
	pb "github.com/gridstand/gridstand/proto/gridstand/v1"
)

// caller is a client: an account with its own connection to one server. It repeats calls that were
// refused as unavailable (see untilAnswered), and records everything that it observes.
type caller struct {
	env        *env
	server     *testServer
	id, token  string // empty if the caller has no account
	games      pb.GameServiceClient
	players    pb.PlayerServiceClient
	challenges pb.ChallengeServiceClient
}

// behind returns a testServer that represents all the given servers. Clients distribute their
// calls across them, as the client library does.
func behind(servers ...*testServer) *testServer {
	var addrs []string
	for _, s := range servers {
		addrs = append(addrs, s.addr)
	}
	return &testServer{addr: strings.Join(addrs, ",")}
}

// untilAnswered makes a call and checks its error. It repeats a call that was refused as UNAVAILABLE,
// as the contract asks: on a slow disk, the store may need longer for a call than a server waits. If the
// test kills servers, it also repeats calls that broke off. Otherwise, it makes a call that has a deadline
// only once, because its caller tests refusals.
func (c *caller) untilAnswered(ctx context.Context, call func(context.Context) error) error {
	_, limited := ctx.Deadline()
	return playertest.Retry(ctx, func(ctx context.Context) error {
		return checkError(c.retryable(ctx, call(ctx)))
	}, func(err error) bool { return unavailable(err) && (c.env.serversDie || !limited) })
}

// answered makes a call as c until it is answered.
func answered[Q, A any](
	ctx context.Context, c *caller, call func(context.Context, Q, ...grpc.CallOption) (A, error), request Q,
) (answer A, err error) {
	err = c.untilAnswered(ctx, func(ctx context.Context) (err error) {
		answer, err = call(c.authorized(ctx), request)
		return err
	})
	return answer, err
}

// gameOf makes a call as c until it is answered with a game, and records the game.
func gameOf[Q any, A interface{ GetGame() *pb.Game }](
	ctx context.Context, c *caller, call func(context.Context, Q, ...grpc.CallOption) (A, error), request Q,
) (*pb.Game, error) {
	response, err := answered(ctx, c, call, request)
	if err != nil {
		return nil, err
	}
	return response.GetGame(), c.env.observed.game(response.GetGame())
}

// retryable converts err to Unavailable if the test kills servers and err did not come from a
// server. Otherwise, it returns err unchanged.
func (c *caller) retryable(ctx context.Context, err error) error {
	if c.env.serversDie && ctx.Err() == nil && brokenOff(err) {
		return status.Error(codes.Unavailable, err.Error())
	}
	return err
}

// comesBack makes clients redial an unreachable server frequently, so that they soon notice when
// it is back.
var comesBack = grpc.WithConnectParams(grpc.ConnectParams{
	Backoff:           backoff.Config{BaseDelay: 20 * time.Millisecond, Multiplier: 1.6, MaxDelay: 200 * time.Millisecond},
	MinConnectTimeout: 5 * time.Second,
})

// anonymous connects to a server without an account. If testServer represents several servers, the client
// library repeats reads. Otherwise, each call is made once, and its refusal is what the test sees.
func (env *env) anonymous(s *testServer, options ...grpc.DialOption) *caller {
	env.t.Helper()
	options = slices.Concat(env.dial, options)
	several := strings.Contains(s.addr, ",")
	if !several {
		options = append(options, comesBack)
	}
	c := servertest.Client(env.t, client.Config{Target: s.addr, Once: !several, DialOptions: options})
	return &caller{env: env, server: s, games: c.Games, players: c.Players, challenges: c.Challenges}
}

// player connects to a server with a new account.
func (env *env) player(s *testServer, options ...grpc.DialOption) *caller {
	env.t.Helper()
	c := env.anonymous(s, options...)
	request := &pb.CreatePlayerRequest{Name: "p" + id.New()[:20], Secret: id.New()}
	response, err := answered(env.t.Context(), c, c.players.CreatePlayer, request)
	require.NoError(env.t, err)
	c.id, c.token = response.GetPlayer().GetId(), response.GetToken()
	env.mu.Lock()
	defer env.mu.Unlock()
	env.players = append(env.players, c.id)
	return c
}

// on returns a caller for the same account with a new connection to a server.
func (c *caller) on(s *testServer, options ...grpc.DialOption) *caller {
	c.env.t.Helper()
	other := c.env.anonymous(s, options...)
	other.id, other.token = c.id, c.token
	return other
}

func (c *caller) authorized(ctx context.Context) context.Context {
	if c.token == "" {
		return ctx
	}
	return metadata.AppendToOutgoingContext(ctx, "authorization", "Bearer "+c.token)
}

// create creates a game. If the request has an ID, repeating the request returns the same game.
func (c *caller) create(ctx context.Context, request *pb.CreateGameRequest) (*pb.Game, error) {
	return gameOf(ctx, c, c.games.CreateGame, request)
}

// ofVariant returns a request for a new game of a variant.
func ofVariant(variant string) *pb.CreateGameRequest {
	return &pb.CreateGameRequest{Variant: variant, RequestId: id.New()}
}

// start creates a game, and fails the test if the game cannot be created.
func (c *caller) start(t *testing.T, variant string) *pb.Game {
	t.Helper()
	game, err := c.create(t.Context(), ofVariant(variant))
	require.NoError(t, err)
	return game
}

// join takes a seat, which the server chooses.
func (c *caller) join(ctx context.Context, gameID string) (*pb.Game, error) {
	return gameOf(ctx, c, c.games.JoinGame, &pb.JoinGameRequest{GameId: gameID})
}

// slide returns the request for a move in 2048.
func slide(gameID string, version int32, d pb.Direction) *pb.MoveRequest {
	return &pb.MoveRequest{GameId: gameID, Version: version, Move: &pb.MoveRequest_Direction{Direction: d}}
}

// move makes a move, checks that the returned event is the response to this request, and applies it to
// the game.
func (c *caller) move(ctx context.Context, game *pb.Game, d pb.Direction) (*pb.Event, error) {
	response, err := answered(ctx, c, c.games.Move, slide(game.GetId(), game.GetVersion(), d))
	if err != nil {
		return nil, err
	}
	e := response.GetEvent()
	if e.GetGameId() != game.GetId() || e.GetVersion() != game.GetVersion()+1 || e.GetMoved().GetDirection() != d {
		return nil, fmt.Errorf("the answer to moving %v at version %d was %v", d, game.GetVersion(), e)
	}
	playertest.Apply(game, e)
	return e, c.env.observed.event(e)
}

// resign resigns at the game's current version.
func (c *caller) resign(ctx context.Context, gameID string) (*pb.Event, error) {
	response, err := answered(ctx, c, c.games.Resign, &pb.ResignRequest{GameId: gameID})
	if err != nil {
		return nil, err
	}
	e := response.GetEvent()
	if e.GetGameId() != gameID || e.GetResigned() == nil || e.GetResult() == nil {
		return nil, fmt.Errorf("the answer to resigning was %v", e)
	}
	return e, c.env.observed.event(e)
}

// get reads a game.
func (c *caller) get(ctx context.Context, gameID string) (*pb.Game, error) {
	return gameOf(ctx, c, c.games.GetGame, &pb.GetGameRequest{GameId: gameID})
}

// random returns a random legal move in p.
func random(rng *rand.Rand, p *pb.Position) pb.Direction {
	legal := p.GetTwenty48().GetLegalMoves()
	return legal[rng.IntN(len(legal))]
}

// playTo plays a game up to the given version, with moves that make it last, and returns it. It fails
// the test if the game ends earlier.
func (c *caller) playTo(t *testing.T, game *pb.Game, version int32) *pb.Game {
	t.Helper()
	for game.GetVersion() < version {
		_, err := c.move(t.Context(), game, playertest.Lasting(game.GetVersion(), game.GetPosition()))
		require.NoError(t, err)
		require.Nil(t, game.GetResult(), "the game is too short")
	}
	return game
}

// refusalOf returns the parts of an error that the contract defines. All are zero if err is nil.
func refusalOf(err error) client.Error {
	if err == nil {
		return client.Error{}
	}
	return *client.FromError(err)
}

// checkError returns err if the contract allows it, or else an error without a status.
func checkError(err error) error {
	r := refusalOf(err)
	hinted := r.Reason == pb.ReasonStorageUnavailable || r.Reason == pb.ReasonServerUnavailable
	switch {
	case errors.Is(err, io.EOF): // the normal end of a stream
		return err
	case r.Code == codes.Internal, r.Code == codes.Unknown:
		return fmt.Errorf("an error that the contract does not define: %s", err.Error())
	case hinted && r.RetryAfter <= 0:
		return fmt.Errorf("no retry hint: %s", err.Error())
	default:
		return err
	}
}

// unavailable reports whether the call should be retried, because the server asked for it or
// cannot be reached.
func unavailable(err error) bool { return status.Code(err) == codes.Unavailable }

// brokenOff reports whether a call or a stream ended without a status from the server because
// the connection broke or the client library timed out.
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
