//go:build slow

package bench

import (
	"context"
	"fmt"
	"sync/atomic"
	"testing"
	"time"

	"github.com/stretchr/testify/require"
	"google.golang.org/protobuf/types/known/durationpb"

	"github.com/gridstand/gridstand/internal/ratio"
	pb "github.com/gridstand/gridstand/proto/gridstand/v1"
)

// newChallenge creates a link challenge or a one-hour race, with the variant 6x6, and returns
// the challenge's ID.
func newChallenge(b *testing.B, challenges pb.ChallengeServiceClient, creator *player, kind pb.ChallengeKind) string {
	b.Helper()
	request := &pb.CreateChallengeRequest{Kind: kind, Variant: "6x6"}
	if kind == pb.ChallengeKind_CHALLENGE_KIND_RACE {
		request.Limit = durationpb.New(time.Hour)
	}
	created, err := challenges.CreateChallenge(creator.Ctx, request)
	require.NoError(b, err)
	return created.GetChallenge().GetId()
}

// BenchmarkCostOfAnAttempt compares a move in an attempt at a challenge with a move in an ordinary
// game, in allocations and in the processor time used by the server and by Redis.
func BenchmarkCostOfAnAttempt(b *testing.B) {
	store := startStore(b)
	server := startProcess(b, ours, storeVariable+"="+store)
	ordinary, attempts := newPlayers(b, server), make([]*player, players)
	for i := range attempts {
		attempts[i] = newPlayer(b, server.dial(b), fmt.Sprintf("daily player %d", i))
	}
	links := make([]string, 100)
	challenges := pb.NewChallengeServiceClient(server.dial(b))
	for i := range links {
		links[i] = newChallenge(b, challenges, attempts[0], pb.ChallengeKind_CHALLENGE_KIND_LINK)
	}
	for _, p := range attempts {
		p.links = links
		require.NoError(b, p.begin())
	}
	for _, cost := range []struct {
		name, unit string
		work       func() float64
	}{
		{"time", "µs/move", func() float64 { return server.ask(b, "work") }},
		{"time_of_redis", "µs/move", redisWork(b, store)},
		{"allocations", "allocations/move", func() float64 { return server.ask(b, "allocations") }},
	} {
		b.Run(cost.name, func(b *testing.B) {
			each := func(moves []func() error) func() float64 {
				return func() float64 {
					before, done := cost.work(), int64(0)
					perSecond(b, moves, func(n int64) { done = n })
					return (cost.work() - before) / float64(done)
				}
			}
			ratio.Compare(b, cost.unit, ratio.AtMost(1.03), each(movesOf(attempts)), each(movesOf(ordinary)))
		})
	}
}

// BenchmarkSpectators measures a server's cost per spectator of a race: memory, and processor
// time per snapshot. The race has 1,000 spectators and eight players. Each player makes three
// moves per second.
func BenchmarkSpectators(b *testing.B) {
	const (
		spectators = 1000
		entrants   = 8
		rounds     = 30
	)
	server := startOurs(b)
	conn := server.dial(b)
	challenges := pb.NewChallengeServiceClient(conn)
	racers := make([]*player, entrants)
	for i := range racers {
		racers[i] = newPlayer(b, conn, fmt.Sprintf("racer %d", i))
	}
	race := newChallenge(b, challenges, racers[0], pb.ChallengeKind_CHALLENGE_KIND_RACE)
	for _, p := range racers {
		_, err := challenges.JoinChallenge(p.Ctx, &pb.JoinChallengeRequest{ChallengeId: race})
		require.NoError(b, err)
	}
	started, err := challenges.StartChallenge(racers[0].Ctx, &pb.StartChallengeRequest{ChallengeId: race})
	require.NoError(b, err)
	<-time.After(time.Until(started.GetChallenge().GetOpenTime().AsTime()) + 50*time.Millisecond)
	for _, p := range racers {
		created, err := p.Games.CreateGame(p.Ctx, &pb.CreateGameRequest{ChallengeId: race})
		require.NoError(b, err)
		p.game = created.GetGame()
	}
	// play makes the racers' moves and returns the processor time that the server used for them.
	play := func() float64 {
		before, tick := server.ask(b, "work"), time.NewTicker(time.Second/3)
		defer tick.Stop()
		for range rounds {
			for _, p := range racers {
				require.NoError(b, p.move())
			}
			<-tick.C
		}
		return server.ask(b, "work") - before
	}
	alone := play()
	memory := server.ask(b, "memory")
	ctx, cancel := context.WithCancel(context.Background())
	var snapshots atomic.Int64
	opened, ended := make(chan error, spectators), make(chan error, spectators)
	for i := range spectators {
		if i%perConnection == 0 {
			conn = server.dial(b)
		}
		watching := pb.NewChallengeServiceClient(conn)
		go func() {
			stream, err := watching.WatchChallenge(ctx, &pb.WatchChallengeRequest{ChallengeId: race})
			if err == nil {
				_, err = stream.Recv()
			}
			opened <- err
			for err == nil {
				if _, err = stream.Recv(); err == nil {
					snapshots.Add(1)
				}
			}
			if ctx.Err() != nil {
				err = nil
			}
			ended <- err
		}()
	}
	for range spectators {
		require.NoError(b, <-opened)
	}
	watched := play()
	shown := float64(snapshots.Load())
	b.ReportMetric((server.ask(b, "memory")-memory)/spectators, "B/spectator")
	b.ReportMetric((watched-alone)/shown, "µs/snapshot")
	b.ReportMetric(shown/spectators/(float64(rounds)/3), "snapshots/s")
	b.ReportMetric(alone/(rounds*entrants), "µs/move-unwatched")
	b.ReportMetric((watched-alone)/(float64(rounds)/3)/1e6, "cores")
	cancel()
	for range spectators {
		require.NoError(b, <-ended)
	}
}
