package fault

import (
	"testing"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/gridstand/gridstand/game/replay"
	"github.com/gridstand/gridstand/internal/testkit/longtest"
	pb "github.com/gridstand/gridstand/proto/gridstand/v1"
	"github.com/gridstand/gridstand/server/internal/gamelog"
)

// Ensure that a game that the operator quarantines is reported as damaged, both by servers that
// have it in memory and by others, and that other games are not affected.
func TestQuarantine_long(t *testing.T) {
	longtest.Skip(t)
	t.Parallel()
	onRedis(t, func(t *testing.T, env *env) {
		running := env.player(env.serve())
		fresh := running.on(env.serve())
		games := []*pb.Game{running.start(t, "6x6"), running.start(t, "6x6"), running.start(t, "6x6")}
		over, _ := running.playScored(t)
		var lasts []*pb.Event
		for _, g := range games {
			lasts = append(lasts, running.playTo(t, seeded(t), g, whole))
		}
		operator := env.operator(t.Context(), t)
		defer operator.Close()
		ctx := t.Context()
		damaged := func(t *testing.T, err error) { wantDamaged(t, err, "9") }

		t.Run("a game is damaged for all clients", func(t *testing.T) {
			guest := env.anonymous(running.server).watch(t, games[0].GetId(), watching{})
			guest.awaitVersion(t, whole)
			env.markDamaged(games[0].GetId())
			require.NoError(t, operator.Quarantine(ctx, games[0].GetId()))
			require.NoError(t, operator.Quarantine(ctx, games[0].GetId()), "a second time")
			damaged(t, guest.awaitEnd(t))
			for _, c := range []*caller{running, fresh} {
				wantRefused(t, c, lasts[0], damaged)
				reply, err := c.games.ListGames(c.authorized(ctx), &pb.ListGamesRequest{PlayerId: c.id})
				require.NoError(t, err)
				assert.Len(t, reply.GetGames(), 3)
			}
		})
		t.Run("a game that is over or unknown is refused", func(t *testing.T) {
			require.ErrorIs(t, operator.Quarantine(ctx, over), replay.ErrGameOver)
			require.ErrorIs(t, operator.Quarantine(ctx, "nothing"), gamelog.ErrNotFound)
		})
		t.Run("all games of a time span are damaged, later ones are not", func(t *testing.T) {
			now, err := env.ports().Time(ctx)
			require.NoError(t, err)
			younger := running.start(t, "6x6")
			for _, g := range games[1:] {
				env.markDamaged(g.GetId())
			}
			quarantined, err := operator.QuarantineBefore(ctx, now.Truncate(time.Millisecond))
			require.NoError(t, err)
			assert.ElementsMatch(t, []string{games[1].GetId(), games[2].GetId()}, quarantined)
			wantRefused(t, fresh, lasts[1], damaged)
			fresh.playTo(t, seeded(t), younger, whole)
			_, err = running.get(ctx, over)
			require.NoError(t, err)
			assert.Positive(t, env.redis.PTTL(ctx, metaKey(games[1].GetId())).Val())
		})
		t.Run("a rebuild releases no game", func(t *testing.T) {
			_, err := operator.Rebuild(ctx)
			require.NoError(t, err)
			damaged(t, running.watch(t, games[1].GetId(), watching{after: fromStart()}).awaitEnd(t))
			wantRefused(t, fresh, lasts[1], damaged)
		})
	})
}
