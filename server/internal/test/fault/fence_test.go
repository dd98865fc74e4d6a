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

// Ensure a game that the operator fences is damaged, for those who have it in
// memory and for others, and that nothing else is.
func TestFence(t *testing.T) {
	t.Parallel()
	each(t, func(t *testing.T, w *world) {
		running := w.player(w.serve(w.addr))
		fresh := running.on(w.serve(w.addr))
		games := []*pb.Game{running.start(t, "6x6"), running.start(t, "6x6"), running.start(t, "6x6")}
		over, _ := running.scored(t)
		var lasts []*pb.Event
		for _, g := range games {
			lasts = append(lasts, running.playTo(t, seeded(t), g, whole))
		}
		guest := w.anybody(running.server).watch(t, games[0].GetId(), watching{})
		guest.sees(t, whole)
		operator := w.operator(t.Context(), t)
		defer operator.Close()

		ctx := t.Context()
		fence := func(g *pb.Game) {
			w.spoil(g.GetId())
			require.NoError(t, operator.Fence(ctx, g.GetId()))
			require.NoError(t, operator.Fence(ctx, g.GetId()), "once more")
		}
		fence(games[0])
		require.ErrorIs(t, operator.Fence(ctx, over), replay.ErrGameOver)
		require.ErrorIs(t, operator.Fence(ctx, "nothing"), gamelog.ErrNotFound)
		wantDamaged(t, guest.ends(t), "9")
		for _, c := range []*caller{running, fresh} {
			wantRefused(t, c, lasts[0], func(t *testing.T, err error) { wantDamaged(t, err, "9") })
			reply, err := c.games.ListGames(c.authorized(ctx), &pb.ListGamesRequest{PlayerId: c.id})
			require.NoError(t, err)
			assert.Len(t, reply.GetGames(), 3)
		}

		// All of a time, but those that are younger.
		now, err := w.store.Time(ctx).Result()
		require.NoError(t, err)
		younger := running.start(t, "6x6")
		for _, g := range games[1:] {
			w.spoil(g.GetId())
		}
		fenced, err := operator.FenceBefore(ctx, now.Truncate(time.Millisecond))
		require.NoError(t, err)
		assert.ElementsMatch(t, []string{games[1].GetId(), games[2].GetId()}, fenced)
		wantRefused(t, fresh, lasts[1], func(t *testing.T, err error) { wantDamaged(t, err, "9") })
		fresh.playTo(t, seeded(t), younger, whole)
		_, err = running.get(ctx, over)
		require.NoError(t, err)
		ttl := w.store.PTTL(ctx, metaKey(games[1].GetId())).Val()
		assert.Positive(t, ttl)

		// Nothing brings one back by mistake.
		_, err = operator.Rebuild(ctx)
		require.NoError(t, err)
		wantDamaged(t, running.watch(t, games[1].GetId(), watching{after: fromStart()}).ends(t), "9")
		wantRefused(t, fresh, lasts[1], func(t *testing.T, err error) { wantDamaged(t, err, "9") })
	})
}
