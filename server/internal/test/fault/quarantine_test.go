package fault

import (
	"testing"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/gridstand/gridstand/game/replay"
	pb "github.com/gridstand/gridstand/proto/gridstand/v1"
	"github.com/gridstand/gridstand/server/internal/gamelog"
)

// Ensure that a game that the operator quarantines is reported as damaged, by
// servers that have it in memory and by others, and that no other game is.
func TestQuarantine(t *testing.T) {
	t.Parallel()
	each(t, func(t *testing.T, env *env) {
		running := env.player(env.serve(env.addr))
		fresh := running.on(env.serve(env.addr))
		games := []*pb.Game{running.start(t, "6x6"), running.start(t, "6x6"), running.start(t, "6x6")}
		over, _ := running.playScored(t)
		var lasts []*pb.Event
		for _, g := range games {
			lasts = append(lasts, running.playTo(t, seeded(t), g, whole))
		}
		guest := env.anonymous(running.server).watch(t, games[0].GetId(), watching{})
		guest.awaitVersion(t, whole)
		operator := env.operator(t.Context(), t)
		defer operator.Close()

		ctx := t.Context()
		quarantine := func(g *pb.Game) {
			env.markDamaged(g.GetId())
			require.NoError(t, operator.Quarantine(ctx, g.GetId()))
			require.NoError(t, operator.Quarantine(ctx, g.GetId()), "once more")
		}
		quarantine(games[0])
		require.ErrorIs(t, operator.Quarantine(ctx, over), replay.ErrGameOver)
		require.ErrorIs(t, operator.Quarantine(ctx, "nothing"), gamelog.ErrNotFound)
		wantDamaged(t, guest.awaitEnd(t), "9")
		for _, c := range []*caller{running, fresh} {
			wantRefused(t, c, lasts[0], func(t *testing.T, err error) { wantDamaged(t, err, "9") })
			reply, err := c.games.ListGames(c.authorized(ctx), &pb.ListGamesRequest{PlayerId: c.id})
			require.NoError(t, err)
			assert.Len(t, reply.GetGames(), 3)
		}

		// Quarantine all games of a time span, except younger ones.
		now, err := env.store.Time(ctx).Result()
		require.NoError(t, err)
		younger := running.start(t, "6x6")
		for _, g := range games[1:] {
			env.markDamaged(g.GetId())
		}
		quarantined, err := operator.QuarantineBefore(ctx, now.Truncate(time.Millisecond))
		require.NoError(t, err)
		assert.ElementsMatch(t, []string{games[1].GetId(), games[2].GetId()}, quarantined)
		wantRefused(t, fresh, lasts[1], func(t *testing.T, err error) { wantDamaged(t, err, "9") })
		fresh.playTo(t, seeded(t), younger, whole)
		_, err = running.get(ctx, over)
		require.NoError(t, err)
		ttl := env.store.PTTL(ctx, metaKey(games[1].GetId())).Val()
		assert.Positive(t, ttl)

		// Repeating it releases none by mistake.
		_, err = operator.Rebuild(ctx)
		require.NoError(t, err)
		wantDamaged(t, running.watch(t, games[1].GetId(), watching{after: fromStart()}).awaitEnd(t), "9")
		wantRefused(t, fresh, lasts[1], func(t *testing.T, err error) { wantDamaged(t, err, "9") })
	})
}
