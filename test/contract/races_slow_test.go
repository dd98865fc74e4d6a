//go:build slow

package contract

import (
	"sync"
	"testing"

	"github.com/stretchr/testify/assert"

	pb "github.com/gridstand/gridstand/proto/gridstand/v1"
)

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
