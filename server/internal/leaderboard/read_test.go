package leaderboard

import (
	"context"
	"testing"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/gridstand/gridstand/internal/id"
	"github.com/gridstand/gridstand/server/internal/store"
	"github.com/gridstand/gridstand/server/internal/store/storetest"
)

// record records results of seven players. Player 0 is the best; players 2 to 4 have equal
// scores, in the order of their times.
func record(t *testing.T, boards *Boards) []Entry {
	t.Helper()
	at := now()
	var entries []Entry
	for i, score := range []int32{2000, 900, 512, 512, 512, 100, 4} {
		r := result(i, i, score, at.Add(time.Duration(i)*time.Millisecond))
		require.NoError(t, boards.Record(t.Context(), r))
		entries = append(entries, Entry{
			Rank: int32(i) + 1, PlayerID: r.PlayerID, Score: r.Score, GameID: r.GameID, Time: r.Time,
		})
	}
	return entries
}

func TestBoards_List(t *testing.T) {
	t.Parallel()
	storetest.Each(t, func(t *testing.T, s *store.Store) {
		boards, ctx := open(t, s), t.Context()
		entries := record(t, boards)
		for _, window := range []Window{All, Week, Day} {
			listed, err := boards.List(ctx, "classic", window, "", 200)
			require.NoError(t, err)
			assert.Equal(t, Page{Entries: entries, Total: 7}, listed)

			var paged []Entry
			var sizes []int
			for token := ""; ; {
				listed, err := boards.List(ctx, "classic", window, token, 3)
				require.NoError(t, err)
				assert.EqualValues(t, 7, listed.Total)
				paged, sizes = append(paged, listed.Entries...), append(sizes, len(listed.Entries))
				if token = listed.Next; token == "" {
					break
				}
			}
			assert.Equal(t, entries, paged)
			assert.Equal(t, []int{3, 3, 1}, sizes)
		}
		listed, err := boards.List(ctx, "nothing", All, "", 10)
		require.NoError(t, err)
		assert.Equal(t, Page{Entries: []Entry{}}, listed)
	})
}

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
			listed, err := boards.List(ctx, "classic", window, "", 2)
			require.NoError(t, err)
			require.Len(t, listed.Entries, 2)
			assert.EqualValues(t, 3, listed.Total)
			entry, _, err := boards.Rank(ctx, "classic", window, name("player", 1), 0)
			require.NoError(t, err)
			assert.EqualValues(t, 2, entry.Rank)

			clock = evening.Add(time.Second)
			rest, err := boards.List(ctx, "classic", window, listed.Next, 2)
			require.NoError(t, err)
			require.Len(t, rest.Entries, 1)
			assert.Equal(t, name("player", 2), rest.Entries[0].PlayerID)
			fresh, err := boards.List(ctx, "classic", window, "", 2)
			require.NoError(t, err)
			require.Len(t, fresh.Entries, 1)
			assert.Equal(t, name("player", 9), fresh.Entries[0].PlayerID)
			_, _, err = boards.Rank(ctx, "classic", window, name("player", 1), 0)
			require.ErrorIs(t, err, ErrNoScore)
		}
	})
}

func TestBoards_Rank(t *testing.T) {
	t.Parallel()
	storetest.Each(t, func(t *testing.T, s *store.Store) {
		boards, ctx := open(t, s), t.Context()
		entries := record(t, boards)
		for _, test := range []struct {
			player    int
			neighbors int32
			want      []int // expected players, by rank
		}{
			{player: 0, neighbors: 0},
			{player: 0, neighbors: 2, want: []int{1, 2}},
			{player: 1, neighbors: 2, want: []int{0, 2, 3}},
			{player: 3, neighbors: 1, want: []int{2, 4}},
			{player: 6, neighbors: 1, want: []int{5}},
			{player: 4, neighbors: 1 << 30, want: []int{0, 1, 2, 3, 5, 6}},
		} {
			for _, window := range []Window{All, Week, Day} {
				entry, neighbors, err := boards.Rank(ctx, "classic", window, name("player", test.player), test.neighbors)
				require.NoError(t, err)
				assert.Equal(t, entries[test.player], entry)
				want := []Entry{}
				for _, i := range test.want {
					want = append(want, entries[i])
				}
				assert.Equal(t, want, neighbors)
			}
		}
		for _, unknown := range []string{"", "me", id.New(), name("player", 0) + "x"} {
			_, _, err := boards.Rank(ctx, "classic", All, unknown, 1)
			require.ErrorIs(t, err, ErrNoScore)
		}
		_, _, err := boards.Rank(ctx, "twos", All, name("player", 0), 1)
		require.ErrorIs(t, err, ErrNoScore)
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
		entry, neighbors, err := boards.Rank(ctx, "classic", All, name("player", MaxNeighbors+1), MaxNeighbors+1)
		require.NoError(t, err)
		assert.EqualValues(t, MaxNeighbors+2, entry.Rank)
		require.Len(t, neighbors, 2*MaxNeighbors)
		assert.EqualValues(t, 2, neighbors[0].Rank)
		assert.EqualValues(t, 2*MaxNeighbors+2, neighbors[2*MaxNeighbors-1].Rank)
	})
}

// Ensure that each result is counted in its range, for few and for many scores.
func TestBoards_Distribution(t *testing.T) {
	t.Parallel()
	storetest.Each(t, func(t *testing.T, s *store.Store) {
		boards, ctx := open(t, s), t.Context()
		for n, best := range []int32{0, 1, 11, 12, 1000, 1<<31 - 1} {
			r := result(0, 0, best, now())
			r.ChallengeID = name("challenge", n)
			want := make([]int32, min(12, int64(best)+1))
			for i := range 20 {
				r.PlayerID, r.GameID, r.Score = name("player", i), name("game", i), int32(int64(best)*int64(i)/19)
				want[int64(r.Score)*int64(len(want))/(int64(best)+1)]++
				require.NoError(t, boards.RecordChallenge(ctx, r, now().Add(time.Hour)))
			}
			got, err := boards.Distribution(ctx, r.Variant, r.ChallengeID, best)
			require.NoError(t, err)
			assert.Equal(t, want, got, "to %d", best)
		}
	})
}
