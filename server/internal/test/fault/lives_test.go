package fault

import (
	"context"
	"fmt"
	"math/rand/v2"
	"testing"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
	"golang.org/x/sync/errgroup"
	"google.golang.org/grpc/codes"
	"google.golang.org/protobuf/proto"
	"google.golang.org/protobuf/types/known/durationpb"

	"github.com/gridstand/gridstand/internal/id"
	"github.com/gridstand/gridstand/internal/verify"
	pb "github.com/gridstand/gridstand/proto/gridstand/v1"
)

// turns is the number of actions per player.
const turns = 60

// Ensure that a game has a single history, no matter what its players do, concurrently and on
// two servers, while bots move and clocks run out. The history must be the same for every
// watcher, and it must be possible to recompute it from the seed.
func TestLives(t *testing.T) {
	t.Parallel()
	lives := map[string]*pb.CreateGameRequest{
		"solo":               {Variant: "classic"},
		"solo, twos":         {Variant: "twos", TurnLimit: durationpb.New(time.Hour)},
		"in every seat":      {Variant: "tribolo", Seats: []*pb.SeatRequest{callerSeat, callerSeat, callerSeat}},
		"among bots":         {Variant: "tribolo", Seats: []*pb.SeatRequest{greedyBot, callerSeat, minimaxBot}},
		"among bots, late":   {Variant: "tribolo", Seats: []*pb.SeatRequest{callerSeat, callerSeat, greedyBot}, TurnLimit: durationpb.New(40 * time.Millisecond)},
		"people":             {Variant: "tribolo", Seats: []*pb.SeatRequest{callerSeat, openSeat, openSeat}},
		"people, late":       {Variant: "tribolo", Seats: []*pb.SeatRequest{openSeat, openSeat, openSeat}, TurnLimit: durationpb.New(40 * time.Millisecond)},
		"players who return": {Variant: "tribolo", Seats: []*pb.SeatRequest{openSeat, callerSeat, openSeat}, TurnLimit: durationpb.New(300 * time.Millisecond)},
	}
	each(t, func(t *testing.T, env *env) {
		first, second := env.servePair()
		for name, request := range lives {
			t.Run(name, func(t *testing.T) {
				t.Parallel()
				playLife(t, env, request, first, second)
			})
		}
	})
}

func playLife(t *testing.T, env *env, request *pb.CreateGameRequest, first, second *testServer) {
	host := env.player(first)
	request = proto.CloneOf(request)
	request.RequestId = id.New()
	game, err := host.create(t.Context(), request)
	require.NoError(t, err)
	gameID := game.GetId()
	followers := []*participant{
		participate(t, &participant{gameID: gameID, clients: []*caller{env.anonymous(first)}}),
		participate(t, &participant{gameID: gameID, clients: []*caller{env.anonymous(second)}}),
	}
	players := []*caller{host}
	for _, seat := range request.GetSeats() {
		if seat == openSeat {
			players = append(players, env.player(second))
		}
	}
	group, ctx := errgroup.WithContext(t.Context())
	for n, p := range players {
		rng := rand.New(rand.NewPCG(uint64(n), 12))
		clients := []*caller{p.on(first), p.on(second)}
		group.Go(func() error {
			for n := range turns {
				if err := act(ctx, rng, clients[rng.IntN(2)], gameID, n > turns/2); err != nil {
					return err
				}
			}
			return nil
		})
	}
	require.NoError(t, group.Wait())
	for _, p := range players { // resign every seat to end the game
		g, err := p.get(t.Context(), gameID)
		require.NoError(t, err)
		for range g.GetSeats() {
			require.NoError(t, tolerated(p.untilAnswered(t.Context(), func(ctx context.Context) error {
				_, err := p.games.Resign(p.authorized(ctx), &pb.ResignRequest{GameId: gameID})
				return err
			})))
		}
	}
	events := followers[0].awaitEnd(t)
	require.Len(t, followers[1].awaitEnd(t), len(events))
	report, err := verify.Transcript(all(events))
	require.NoError(t, err)
	assert.Equal(t, len(events), report.Versions)
	sorts := map[string]int{}
	for _, e := range events {
		sorts[fmt.Sprintf("%T", e.GetAction())]++
	}
	t.Log(sorts)
}

// act makes a random call on a game. The server may refuse it.
func act(ctx context.Context, rng *rand.Rand, c *caller, gameID string, mayResign bool) error {
	g, err := c.get(ctx, gameID)
	if err != nil {
		return err
	}
	games, p := c.games, g.GetPosition()
	var call func(ctx context.Context) error
	move := func(request *pb.MoveRequest) {
		request.GameId, request.Version = gameID, g.GetVersion()
		call = func(ctx context.Context) error { _, err := games.Move(ctx, request); return err }
	}
	undo := func(to *int32) {
		request := &pb.UndoRequest{GameId: gameID, Version: g.GetVersion(), ToVersion: to}
		call = func(ctx context.Context) error { _, err := games.Undo(ctx, request); return err }
	}
	join := func(seat *int32) {
		request := &pb.JoinGameRequest{GameId: gameID, Seat: seat}
		call = func(ctx context.Context) error { _, err := games.JoinGame(ctx, request); return err }
	}
	switch n := rng.IntN(20); {
	case n == 0 && mayResign:
		request := &pb.ResignRequest{GameId: gameID, Version: proto.Int32(g.GetVersion())}
		call = func(ctx context.Context) error { _, err := games.Resign(ctx, request); return err }
	case n < 3:
		undo(nil)
	case n == 3 && g.GetVersion() > 1:
		undo(proto.Int32(1 + rng.Int32N(g.GetVersion()-1)))
	case n == 4:
		join(proto.Int32(rng.Int32N(int32(len(g.GetSeats())))))
	case n < 7:
		join(nil)
	case len(p.GetTwenty48().GetLegalMoves()) > 0:
		move(&pb.MoveRequest{Move: &pb.MoveRequest_Direction{Direction: random(rng, p)}})
	case len(p.GetTribolo().GetLegalMoves()) > 0:
		legal := p.GetTribolo().GetLegalMoves()
		move(&pb.MoveRequest{Move: &pb.MoveRequest_Cell{Cell: legal[rng.IntN(len(legal))].GetCell()}})
	default:
		return nil
	}
	return tolerated(c.untilAnswered(c.authorized(ctx), call))
}

// tolerated returns nil if err is a refusal that another player's action can cause, and err
// otherwise.
func tolerated(err error) error {
	switch refusalOf(err).code {
	case codes.Aborted, codes.FailedPrecondition, codes.PermissionDenied:
		return nil
	}
	return err
}
