//go:build slow

package fault

import (
	"context"
	"errors"
	"fmt"
	"io"
	"testing"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
	"golang.org/x/sync/errgroup"

	"github.com/gridstand/gridstand/client"
	redistest "github.com/gridstand/gridstand/internal/testkit/redis"
	pb "github.com/gridstand/gridstand/proto/gridstand/v1"
	"github.com/gridstand/gridstand/server/internal/challenge"
	challengev1 "github.com/gridstand/gridstand/server/internal/challenge/v1"
)

// follower reads a challenge's snapshots with the client library, from whichever server is running,
// until the stream ends normally, and checks that no snapshot is older than the previous one of the
// same stream.
type follower struct {
	etag    string
	last    *pb.WatchChallengeResponse
	resumed int
}

func (f *follower) take(m *pb.WatchChallengeResponse) error {
	before := f.last
	switch {
	case m.GetChallenge().GetStatus() < before.GetChallenge().GetStatus():
		return fmt.Errorf("status %v after %v", m.GetChallenge().GetStatus(), before.GetChallenge().GetStatus())
	case len(m.GetStandings()) != len(m.GetChallenge().GetEntrants()):
		return fmt.Errorf("%d lines for %d entrants", len(m.GetStandings()), len(m.GetChallenge().GetEntrants()))
	}
	moves := map[string]int32{}
	for _, line := range before.GetStandings() {
		moves[line.GetGameId()] = line.GetMoveCount()
	}
	for _, line := range m.GetStandings() {
		if line.GetMoveCount() < moves[line.GetGameId()] {
			return fmt.Errorf("%d moves after %d", line.GetMoveCount(), moves[line.GetGameId()])
		}
	}
	f.etag, f.last = m.GetEtag(), m
	return nil
}

// watch follows the challenge.
func (f *follower) watch(ctx context.Context, c *client.Client, challengeID string) error {
	updates := c.WatchChallenge(ctx, client.ChallengeWatchOptions{ChallengeID: challengeID})
	defer updates.Close()
	for {
		update, err := updates.Next()
		switch {
		case errors.Is(err, io.EOF):
			return nil
		case err != nil:
			return err
		case update.Snapshot == nil:
			f.last = nil
			f.resumed++
		default:
			if err := f.take(update.Snapshot); err != nil {
				return err
			}
		}
	}
}

// Ensure that the streams of a race resume on another server when theirs is killed, and all end with
// the same final standings.
func TestWatchChallenge_ServersKilled(t *testing.T) {
	t.Parallel()
	redis := redistest.StartRedis(t, "--appendonly", "yes")
	env := newEnv(t, redis.Addr())
	servers := env.startCrew(t, 3)
	everywhere := behind(servers.servers...)
	racers := make([]*racer, 3)
	for i := range racers {
		racers[i] = &racer{caller: env.player(everywhere), rng: seeded(t), pace: 20 * time.Millisecond}
	}
	race := racers[0].newRace(t)
	env.alter(t, race.GetId(), func(m *challengev1.Challenge) { m.LimitMs = 1500 })

	group, ctx := errgroup.WithContext(t.Context())
	followers := make([]*follower, 3)
	for i := range followers {
		f := &follower{}
		followers[i] = f
		reader, err := client.Dial(client.Config{Target: everywhere.addr})
		require.NoError(t, err)
		t.Cleanup(func() { assert.NoError(t, reader.Close()) })
		group.Go(func() error { return f.watch(ctx, reader, race.GetId()) })
	}
	for _, r := range racers {
		r.gameID = challenge.AttemptID(race.GetId(), r.id)
		env.observed.attempt(r.gameID)
		_, err := r.joinRace(ctx, race.GetId())
		require.NoError(t, err)
	}
	started, err := racers[0].startRace(ctx, race.GetId())
	require.NoError(t, err)
	for _, r := range racers {
		group.Go(func() error {
			return r.run(ctx, func() time.Time { return started.GetCloseTime().AsTime().Add(time.Second) })
		})
	}
	over := make(chan struct{})
	ended := make(chan error)
	go func() {
		err := group.Wait()
		close(over)
		ended <- err
	}()
	kills := servers.killEach(t, over)
	require.NoError(t, <-ended)
	resumed := 0
	for _, f := range followers {
		resumed += f.resumed
		assert.Equal(t, followers[0].etag, f.etag)
		assert.Equal(t, pb.ChallengeStatus_CHALLENGE_STATUS_CLOSED, f.last.GetChallenge().GetStatus())
		assert.Len(t, f.last.GetChallenge().GetSeed(), 32)
		require.Len(t, f.last.GetStandings(), len(racers))
		for _, line := range f.last.GetStandings() {
			assert.True(t, line.GetFinished())
		}
	}
	env.checkRace(t, racers[0].caller, followers[0].last.GetChallenge())
	t.Logf("%d kills; %d streams resumed %d times", kills, len(followers), resumed)
}
