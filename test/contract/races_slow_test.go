//go:build slow

package contract

import (
	"sync"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	waittest "github.com/gridstand/gridstand/internal/testkit/wait"
	pb "github.com/gridstand/gridstand/proto/gridstand/v1"
	"github.com/gridstand/gridstand/server"
)

// Ensure that a race closes when its time is up, and then ends its attempts, whose players keep their
// points. The clock must not be moved for this: the server would take the pause for an outage.
func TestRace_Close(t *testing.T) {
	t.Parallel()
	s := start(t, server.Memory)
	ada, bob := s.player(t), s.player(t)
	id := s.challenge(t, ada, shortRace()).GetId()
	s.enterRace(t, bob, id, true)
	s.enterRace(t, ada, id, true)
	is := func(status pb.ChallengeStatus) func() bool {
		return func() bool { return s.readChallenge(t, ada, id).GetChallenge().GetStatus() == status }
	}
	waittest.Until(t, "the race opens", is(challengeOpen))
	g := s.attempt(t, ada, id)
	moved := s.move(t, ada, g.GetId(), g.GetVersion(), g.GetPosition())
	waittest.Until(t, "the race closes", is(challengeOver))
	got := s.readChallenge(t, ada, id)
	assert.False(t, got.GetNow().AsTime().Before(got.GetChallenge().GetCloseTime().AsTime()), "too early")

	_, err := s.Move(ada.ctx, slide(g.GetId(), moved.GetVersion(), moved.GetPosition().GetTwenty48().GetLegalMoves()[0]))
	wantReason(t, err, pb.ReasonGameOver)
	var over *pb.Game
	waittest.Until(t, "the attempt has ended", func() bool {
		over = s.get(t, g.GetId())
		return over.GetResult() != nil
	})
	assert.Equal(t, pb.Result_REASON_TIMED_OUT, over.GetResult().GetReason())
	assert.Equal(t, moved.GetPosition().GetScores(), over.GetPosition().GetScores(), "the player keeps the points")
	require.Len(t, s.readChallenge(t, bob, id).GetChallenge().GetSeed(), 32)
}

// Ensure that a hundred players who want a race at the same time, on two servers, each get into one with
// others, and none into two.
func TestRaceNow_Together(t *testing.T) {
	t.Parallel()
	a, b := pair(t)
	const callers = 100
	all := make([]player, callers)
	for i := range all {
		all[i] = a.player(t)
	}
	var mu sync.Mutex
	var group sync.WaitGroup
	races := map[string]int{} // number of callers who got each race
	for i, p := range all {
		group.Go(func() {
			s, ctx := a, p.ctx
			if i%2 == 1 {
				s, ctx = b, b.with(p.token)
			}
			reply, err := s.RaceNow(ctx, &pb.RaceNowRequest{})
			if !assert.NoError(t, err) {
				return
			}
			mu.Lock()
			defer mu.Unlock()
			races[reply.GetChallenge().GetId()]++
		})
	}
	group.Wait()
	entered := map[string]bool{}
	for id, callers := range races {
		assert.Greater(t, callers, 1)
		entrants := a.readChallenge(t, all[0], id).GetChallenge().GetEntrants()
		assert.Len(t, entrants, callers)
		for _, e := range entrants {
			name := e.GetPlayer().GetName()
			assert.NotEmpty(t, name, "a bot takes part")
			assert.False(t, entered[name], "%s is in two races", name)
			entered[name] = true
		}
	}
	assert.Len(t, entered, callers)
}
