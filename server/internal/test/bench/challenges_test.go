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

	pb "github.com/gridstand/gridstand/proto/gridstand/v1"
)

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
	created, err := challenges.CreateChallenge(racers[0].Ctx, &pb.CreateChallengeRequest{
		Kind: pb.ChallengeKind_CHALLENGE_KIND_RACE, Variant: "6x6", Limit: durationpb.New(time.Hour),
	})
	require.NoError(b, err)
	race := created.GetChallenge().GetId()
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
