package leaderboard

import (
	"context"
	"testing"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/gridstand/gridstand/server/internal/store"
	"github.com/gridstand/gridstand/server/internal/store/storetest"
)

// Ensure that the store's clock determines the current day, and that paging stays on the board that was
// current when it began.
func TestBoards_TurnOfDay(t *testing.T) {
	t.Parallel()
	storetest.Each(t, func(t *testing.T, s *store.Store) {
		ctx, boards := t.Context(), open(t, s)
		var clock time.Time
		boards.time = func(context.Context) (time.Time, error) { return clock, nil }
		evening := time.Date(2281, 3, 6, 23, 59, 59, 0, time.UTC) // a Sunday
		require.Equal(t, time.Sunday, evening.Weekday())
		for i := range 3 {
			require.NoError(t, boards.Record(ctx, result(i, i, 100-int32(i), evening)))
		}
		require.NoError(t, boards.Record(ctx, result(9, 9, 1, evening.Add(time.Second))))

		for _, window := range []Window{Week, Day} {
			clock = evening
			listed, err := boards.List(ctx, Board{Variant: "classic", Window: window}, "", 2)
			require.NoError(t, err)
			require.Len(t, listed.Entries, 2)
			assert.EqualValues(t, 3, listed.Total)
			entries, own, _, err := boards.Rank(ctx, Board{Variant: "classic", Window: window}, name("player", 1), 0)
			require.NoError(t, err)
			assert.EqualValues(t, 2, entries[own].Rank)

			clock = evening.Add(time.Second)
			rest, err := boards.List(ctx, Board{Variant: "classic", Window: window}, listed.Next, 2)
			require.NoError(t, err)
			require.Len(t, rest.Entries, 1)
			assert.Equal(t, name("player", 2), rest.Entries[0].PlayerID)
			fresh, err := boards.List(ctx, Board{Variant: "classic", Window: window}, "", 2)
			require.NoError(t, err)
			require.Len(t, fresh.Entries, 1)
			assert.Equal(t, name("player", 9), fresh.Entries[0].PlayerID)
			_, _, _, err = boards.Rank(ctx, Board{Variant: "classic", Window: window}, name("player", 1), 0)
			require.ErrorIs(t, err, ErrNoScore)
		}
	})
}

// Ensure that Rank does not return more neighbors than allowed.
func TestBoards_Rank_ManyNeighbors(t *testing.T) {
	t.Parallel()
	storetest.Each(t, func(t *testing.T, s *store.Store) {
		boards, ctx := open(t, s), t.Context()
		at := now()
		for i := range 2*MaxNeighbors + 3 {
			require.NoError(t, boards.Record(ctx, result(i, i, int32(i)+1, at)))
		}
		entries, own, _, err := boards.Rank(ctx, Board{Variant: "classic"}, name("player", MaxNeighbors+1), MaxNeighbors+1)
		require.NoError(t, err)
		assert.EqualValues(t, MaxNeighbors+2, entries[own].Rank)
		require.Len(t, entries, 2*MaxNeighbors+1)
		assert.EqualValues(t, 2, entries[0].Rank)
		assert.EqualValues(t, 2*MaxNeighbors+2, entries[2*MaxNeighbors].Rank)
	})
}

// overtaken records a result with each reading of a place, as long as there are any.
type overtaken struct {
	store.Boards
	record func()
}

func (o *overtaken) Place(ctx context.Context, b store.Board, playerID string) (int64, bool, error) {
	place, found, err := o.Boards.Place(ctx, b, playerID)
	o.record()
	return place, found, err
}

// Ensure that Rank returns the entries around a player who is overtaken in the meantime, and ends if the
// place is never the one that was read.
func TestBoards_Rank_Overtaken(t *testing.T) {
	t.Parallel()
	storetest.Each(t, func(t *testing.T, s *store.Store) {
		boards, ctx, better, times := open(t, s), t.Context(), 0, 3
		require.NoError(t, boards.Record(ctx, result(0, 0, 1, now())))
		boards.Boards = &overtaken{boards.Boards, func() {
			if better < times {
				better++
				require.NoError(t, boards.Record(ctx, result(better, better, 2, now())))
			}
		}}
		entries, own, total, err := boards.Rank(ctx, Board{Variant: "classic"}, name("player", 0), 1)
		require.NoError(t, err)
		require.Len(t, entries, 2)
		assert.Equal(t, name("player", 0), entries[own].PlayerID)
		assert.EqualValues(t, 4, entries[own].Rank)
		assert.EqualValues(t, 4, total)
		times = 100
		_, _, _, err = boards.Rank(ctx, Board{Variant: "classic"}, name("player", 0), 1)
		assert.True(t, store.IsError(err), "%v", err)
	})
}

// Ensure that each result is counted in its range, for few and for many scores.
func TestBoards_Distribution(t *testing.T) {
	t.Parallel()
	storetest.Each(t, func(t *testing.T, s *store.Store) {
		boards, ctx := open(t, s), t.Context()
		for n, best := range []int32{0, 1, 11, 12, 1000, 1<<31 - 1} {
			r := result(0, 0, best, now())
			r.ChallengeID, r.Expires = name("challenge", n), now().Add(time.Hour)
			want := make([]int32, min(12, int64(best)+1))
			for i := range 20 {
				r.PlayerID, r.GameID, r.Score = name("player", i), name("game", i), int32(int64(best)*int64(i)/19)
				want[int64(r.Score)*int64(len(want))/(int64(best)+1)]++
				require.NoError(t, boards.Record(ctx, r))
			}
			got, err := boards.Distribution(ctx, Board{Variant: r.Variant, ChallengeID: r.ChallengeID}, best)
			require.NoError(t, err)
			assert.Equal(t, want, got, "to %d", best)
		}
	})
}
