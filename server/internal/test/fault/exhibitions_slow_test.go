//go:build slow

package fault

import (
	"context"
	"errors"
	"sync/atomic"
	"testing"
	"time"

	"github.com/stretchr/testify/require"
	"golang.org/x/sync/errgroup"
	"google.golang.org/grpc/codes"
	"google.golang.org/protobuf/types/known/durationpb"

	waittest "github.com/gridstand/gridstand/internal/testkit/wait"
	pb "github.com/gridstand/gridstand/proto/gridstand/v1"
	"github.com/gridstand/gridstand/server/internal/challenge"
)

// minimaxBot requests a seat for a bot that thinks for long.
var minimaxBot = &pb.SeatRequest{Occupant: &pb.SeatRequest_Bot{Bot: "minimax"}}

// endless returns a request for a game between bots that lasts longer than the test.
func endless() *pb.CreateGameRequest {
	return &pb.CreateGameRequest{Variant: "6x6", Seats: []*pb.SeatRequest{greedyBot}}
}

// hosts is the number of throwaway accounts in a flood of bots.
const hosts = 25

// Ensure that accounts that do nothing but create games between bots have little effect on other
// players.
func TestExhibition_Flood(t *testing.T) {
	t.Parallel()
	requests := []*pb.CreateGameRequest{
		endless(),
		{Variant: "6x6", Seats: []*pb.SeatRequest{{Occupant: &pb.SeatRequest_Bot{Bot: "expectimax"}}}},
		{Variant: "tribolo", Seats: []*pb.SeatRequest{minimaxBot, minimaxBot, minimaxBot}},
	}
	floodWithBots(t, "games between bots", func(ctx context.Context, n int, host *caller) (bots int, err error) {
		_, err = host.create(ctx, requests[n%len(requests)])
		return 1, err
	})
}

// Ensure that accounts that start hour-long races with as many bots as possible have little effect
// on other players.
func TestRace_BotFlood(t *testing.T) {
	t.Parallel()
	floodWithBots(t, "races of bots", func(ctx context.Context, _ int, host *caller) (bots int, err error) {
		const most = challenge.MaxEntrants - 1
		authorized := host.authorized(ctx)
		created, err := host.challenges.CreateChallenge(authorized, &pb.CreateChallengeRequest{
			Kind: pb.ChallengeKind_CHALLENGE_KIND_RACE, Variant: "6x6", Limit: durationpb.New(time.Hour), Private: true,
		})
		if err != nil {
			return 0, err
		}
		race := created.GetChallenge().GetId()
		for range most {
			if _, err := host.challenges.JoinChallenge(authorized, &pb.JoinChallengeRequest{ChallengeId: race, Bot: "expectimax"}); err != nil {
				return 0, err
			}
		}
		_, err = host.challenges.StartChallenge(authorized, &pb.StartChallengeRequest{ChallengeId: race})
		return most, err
	})
}

// floodWithBots starts a server and lets throwaway accounts call add until players' moves have been
// measured. add returns the number of bots that it made run.
func floodWithBots(t *testing.T, name string, add func(ctx context.Context, n int, host *caller) (bots int, err error)) {
	t.Helper()
	env := newUncheckedEnv(t)
	server, g := env.serveMeasured("--max-moves-per-second=0", "--bot-pace=700ms")
	b := newBaseline(t, env.player(server))
	b.measureMoves(t) // warm up
	calm, before := b.measureMoves(t), g.read(t, residentMemory)
	measure := func(flood string) {
		var took []time.Duration
		for began := time.Now(); time.Since(began) < 10*time.Second; {
			took = append(took, b.measureMoves(t)...)
		}
		logMoves(t, flood, took, calm)
		logMemory(t, flood, g.read(t, residentMemory), before)
	}

	var group errgroup.Group
	ctx, cancel := context.WithCancel(t.Context())
	var made, refused atomic.Int64
	// They use another address, because the reads of one address are limited.
	from := (&flood{dialer: dialFrom(t, 62)}).dialOption()
	var accounts []*caller
	for range hosts {
		accounts = append(accounts, env.player(server, from))
	}
	for n, host := range accounts {
		group.Go(func() error {
			for ctx.Err() == nil {
				bots, err := add(ctx, n, host)
				r := refusalOf(err)
				switch {
				case ctx.Err() != nil:
				case err == nil:
					made.Add(int64(bots))
				case unavailable(err): // for example, because the machine stalled
				case r.code != codes.ResourceExhausted || r.retry <= 0:
					return err
				default:
					refused.Add(1)
				}
			}
			return nil
		})
	}
	measure(name)
	waittest.Until(t, "a call is refused", func() bool { return refused.Load() > 0 })
	cancel()
	if err := group.Wait(); !errors.Is(err, context.Canceled) {
		require.NoError(t, err)
	}
	t.Logf("%d bots moved, %d calls refused", made.Load(), refused.Load())
	measure(name + ", no longer created")
}
