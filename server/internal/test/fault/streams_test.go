package fault

import (
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
)

// Ensure that watchers that reconnect to any server after every version or two neither miss an
// event nor receive one twice, although one of the two servers stops during the game.
func TestWatch_Resumed(t *testing.T) {
	t.Parallel()
	onRedis(t, func(t *testing.T, env *env) {
		const stopAt, resignAt = 30, 60
		env.serversDie = true
		first, second := env.serve(), env.serve()
		both := behind(first, second)
		player := env.player(both)
		game := player.start(t, "6x6")
		reader := env.anonymous(both)
		var watchers []*watcher
		for _, how := range []watching{
			{}, {every: true}, {cut: 1}, {cut: 2}, {cut: 1, every: true}, {cut: 1, after: fromStart()}, {cut: 2, after: fromStart(), every: true},
		} {
			watchers = append(watchers, reader.watch(t, game.GetId(), how))
		}
		require.NoError(t, play(t.Context(), seeded(t), game, resignAt, func(version int32) {
			if version == stopAt {
				for _, each := range watchers {
					each.awaitVersion(t, 1)
				}
				first.stop()
			}
		}, player, player.on(second)))
		for _, each := range watchers {
			require.NoError(t, each.awaitEnd(t))
			assert.EqualValues(t, resignAt+1, each.version())
		}
	})
}
