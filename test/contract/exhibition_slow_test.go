//go:build slow

package contract

import (
	"testing"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	waittest "github.com/gridstand/gridstand/internal/testkit/wait"
	pb "github.com/gridstand/gridstand/proto/gridstand/v1"
	"github.com/gridstand/gridstand/server"
)

// Ensure that an exhibition ends if no client watches it, that one of another variant begins when a
// client lists live games again, and that one that is watched is played to its end.
func TestExhibition_Ends(t *testing.T) {
	t.Parallel()
	pair(t, func(t *testing.T, a, b *testServer) {
		first := a.exhibition(t)
		require.Equal(t, "classic", first.GetVariant())
		waittest.Until(t, "the exhibition ends unseen", func() bool { return len(b.listed(t, finished)) == 1 })
		assert.Equal(t, pb.Result_REASON_ABANDONED, a.get(t, first.GetId()).GetResult().GetReason())
		g := b.exhibition(t)
		require.Equal(t, "tribolo", g.GetVariant())
		w := b.watch(t, b.anyone, &pb.WatchRequest{GameId: g.GetId()})
		last := &pb.Event{}
		for w.game(t); last.GetResult() == nil; {
			last = w.event(t)
		}
		assert.Equal(t, pb.Result_REASON_NO_MOVES, last.GetResult().GetReason())
		assert.Equal(t, "classic", a.exhibition(t).GetVariant())
		// Long enough that a busy machine does not pause a game that is watched.
	}, showing, func(c *server.Config) { c.PauseAfter = 10 * time.Second })
}
