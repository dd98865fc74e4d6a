package faulttest

import (
	"testing"

	"github.com/stretchr/testify/require"
)

// Ensure that a server which is told to stop answers every call that it carries
// out, so that servers can be replaced while people play.
func TestServerStopped(t *testing.T) {
	t.Parallel()
	each(t, func(t *testing.T, w *world) {
		const players, stops, movesBetween = 8, 3, 100
		f := newFleet(w.serve(w.addr))
		all, group, _ := f.crew(t, w, players, 9)
		for range stops {
			f.acknowledged(t, movesBetween)
			f.current().stop()
			f.allWait(t, players)
			for _, m := range all {
				if m.acked > 0 {
					require.EqualValues(t, m.acked, w.length(t, m.gameID), "a call was carried out and not answered")
				}
			}
			f.replace(w.serve(w.addr))
		}
		f.stop()
		require.NoError(t, group.Wait())
	})
}
