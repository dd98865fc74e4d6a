//go:build slow

package fault

import (
	"context"
	"math/rand/v2"
	"testing"
	"time"

	"google.golang.org/protobuf/types/known/durationpb"

	pb "github.com/gridstand/gridstand/proto/gridstand/v1"
	"github.com/gridstand/gridstand/server/internal/challenge"
)

// hosts is the number of throwaway accounts in a flood of bots.
const hosts = 25

// badHosts lists the bad clients that make a server's bots play.
var badHosts = []badClient{
	{"games between bots", true, 0, func(ctx context.Context, f *flood) error {
		bot := func(name string) *pb.SeatRequest { return &pb.SeatRequest{Occupant: &pb.SeatRequest_Bot{Bot: name}} }
		requests := []*pb.CreateGameRequest{
			{Variant: "6x6", Seats: []*pb.SeatRequest{bot("greedy")}},
			{Variant: "6x6", Seats: []*pb.SeatRequest{bot("expectimax")}},
			{Variant: "tribolo", Seats: []*pb.SeatRequest{bot("minimax"), bot("minimax"), bot("minimax")}},
		}
		return f.repeatWith(ctx, hosts, func() func(*rand.Rand) error {
			host := f.w.player(f.server, f.dialOption())
			return func(rng *rand.Rand) error {
				_, err := host.create(ctx, requests[rng.IntN(len(requests))])
				return err
			}
		})
	}},
	{"races of bots", true, 0, func(ctx context.Context, f *flood) error {
		return f.repeatWith(ctx, hosts, func() func(*rand.Rand) error {
			host := f.w.player(f.server, f.dialOption())
			return func(*rand.Rand) error { return host.raceBots(host.authorized(ctx)) }
		})
	}},
}

// raceBots starts an hour-long race with as many bots as possible.
func (c *caller) raceBots(ctx context.Context) error {
	created, err := c.challenges.CreateChallenge(ctx, &pb.CreateChallengeRequest{
		Kind: pb.ChallengeKind_CHALLENGE_KIND_RACE, Variant: "6x6", Limit: durationpb.New(time.Hour), Private: true,
	})
	race := created.GetChallenge().GetId()
	for range challenge.MaxEntrants - 1 {
		if err == nil {
			_, err = c.challenges.JoinChallenge(ctx, &pb.JoinChallengeRequest{ChallengeId: race, Bot: "expectimax"})
		}
	}
	if err == nil {
		_, err = c.challenges.StartChallenge(ctx, &pb.StartChallengeRequest{ChallengeId: race})
	}
	return err
}

// Ensure that accounts that do nothing but create games between bots, or races of bots, are refused and
// have little effect on other players, also after they have stopped.
func TestFloods_Bots(t *testing.T) {
	t.Parallel()
	for _, bad := range badHosts {
		t.Run(bad.name, func(t *testing.T) {
			v := newVictim(newUncheckedEnv(t), "--bot-pace=700ms")
			v.flood(t, bad, &flood{dialer: dialFrom(t, 62)})
			calm := v.player.measureMoves(t)
			busy, beside := v.measure(t, 10*time.Second)
			logMoves(t, bad.name+", no longer created", busy, calm)
			logMoves(t, bad.name+", no longer created, beside a second server", busy, beside)
		})
	}
}
