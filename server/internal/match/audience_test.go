package match

import (
	"testing"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/gridstand/gridstand/game"
	"github.com/gridstand/gridstand/game/replay"
	waittest "github.com/gridstand/gridstand/internal/testkit/wait"
)

// Ensure that the audience of a game that waits for players is its players who watch it, on all servers,
// and that it is its spectators as soon as the last player has joined.
func TestAudience_Waiting(t *testing.T) {
	t.Parallel()
	each(t, func(t *testing.T, env *env) {
		a, b := env.still(env.addr), env.still(env.addr)
		sd := seed(t, name("a")[0])
		waiting := created(t, "classic", sd)
		waiting.Seats = []replay.Seat{{}}
		_, err := a.Create(waittest.Context(t), name("a"), waiting, sd, time.Time{})
		require.NoError(t, err)
		ma, mb := a.match(name("a")), b.match(name("a"))
		now := time.Now()
		round := func(want int) {
			t.Helper()
			waittest.Until(t, "both servers count the watchers", func() bool {
				now = now.Add(time.Second)
				a.check(a.all(), now)
				b.check(b.all(), now)
				heads, err := a.Log.Heads(t.Context(), []string{name("a")})
				return err == nil && heads[0].Watchers == want && ma.Spectators() == want && mb.Spectators() == want
			})
		}
		player, spectator := ma.newWatcher(t.Context(), Spectator), mb.newWatcher(t.Context(), Spectator)
		defer spectator.Close()
		round(0)
		assert.True(t, mb.HasWatchers())
		player.SetRole(Player)
		round(1)
		waittest.Until(t, "the server's jobs know", func() bool {
			a.work.mu.Lock()
			defer a.work.mu.Unlock()
			return a.work.attended > 0
		})
		assert.Zero(t, b.work.attended)
		_, err = mb.Join(waittest.Context(t), bob, game.NoSeat)
		require.NoError(t, err)
		spectator.SetRole(Player)
		round(0)
		player.SetRole(Spectator)
		round(1)
		player.Close()
	})
}
