//go:build slow

package contract

import (
	"slices"
	"testing"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	waittest "github.com/gridstand/gridstand/internal/testkit/wait"
	pb "github.com/gridstand/gridstand/proto/gridstand/v1"
	"github.com/gridstand/gridstand/server"
)

// Ensure that an exhibition ends if no client watches it, and that an exhibition of another variant
// begins when a client lists live games again.
func TestExhibition_EndsUnseen(t *testing.T) {
	t.Parallel()
	pair(t, func(t *testing.T, a, b *testServer) {
		var over []*pb.Game // the latest first
		for n := 0; len(over) < 3; n++ {
			require.Less(t, n, 3)
			// On a stalled machine, an exhibition may have ended before this one began.
			g := []*testServer{a, b}[n%2].exhibition(t)
			require.NotContains(t, ids(over), g.GetId())
			waittest.Until(t, "the exhibition ends", func() bool {
				over = a.listed(t, finished)
				return slices.Contains(ids(over), g.GetId())
			})
			assert.Equal(t, g.GetId(), over[0].GetId())
		}
		slices.Reverse(over)
		for n, g := range over {
			requireExhibition(t, g)
			assert.Equal(t, []string{"classic", "tribolo"}[n%2], g.GetVariant())
			assert.Equal(t, pb.Result_REASON_ABANDONED, g.GetResult().GetReason())
		}
	}, showing, func(c *server.Config) { c.PauseAfter, c.BotPace = time.Second, 100*time.Millisecond })
}

// Ensure that a watched exhibition is played to its end, and that another one follows.
func TestExhibition_Follows(t *testing.T) {
	t.Parallel()
	pair(t, func(t *testing.T, a, b *testServer) {
		a.exhibition(t)
		waittest.Until(t, "the exhibition ends unseen", func() bool { return len(a.listed(t, finished)) == 1 })
		g := b.exhibition(t)
		require.Equal(t, "tribolo", g.GetVariant())
		w := b.watch(t, b.anyone, &pb.WatchRequest{GameId: g.GetId()})
		w.game(t)
		var last *pb.Event
		for last.GetResult() == nil {
			last = w.event(t)
		}
		assert.Equal(t, pb.Result_REASON_NO_MOVES, last.GetResult().GetReason())
		ended := time.Now()
		assert.Equal(t, "classic", a.exhibition(t).GetVariant())
		t.Logf("another one begins %v after the end", time.Since(ended))
		// Long enough that a busy machine does not pause a game that is watched.
	}, showing, func(c *server.Config) { c.PauseAfter = 10 * time.Second })
}
