package leaderboard

import (
	"context"
	"fmt"
	"math"
	"testing"
	"time"

	"github.com/redis/go-redis/v9"
	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
	"pgregory.net/rapid"

	"github.com/gridstand/gridstand/internal/id"
	redistest "github.com/gridstand/gridstand/internal/testkit/redis"
	"github.com/gridstand/gridstand/internal/testkit/testmain"
)

func TestMain(m *testing.M) { testmain.Run(m, redistest.StillDialing) }

// name makes an id that is easy to tell from others.
func name(kind string, n int) string {
	return id.Derive([]byte(kind), []byte(fmt.Sprint(n)))
}

func result(player, game int, score int32, at time.Time) Result {
	return Result{Variant: "classic", PlayerID: name("player", player), GameID: name("game", game), Score: score, Time: at}
}

// now is the present to the millisecond, as Redis tells it.
func now() time.Time { return time.Now().UTC().Truncate(time.Millisecond) }

// Ensure that everything here runs on a cluster, on which no script may touch
// two slots.
func TestCluster(t *testing.T) {
	t.Parallel()
	boards, ctx := New(redistest.StartCluster(t, 1).Client(), time.Now), t.Context()
	require.NoError(t, boards.Record(ctx, result(1, 1, 10, now())))
	for _, window := range []Window{All, Week, Day} {
		listed, err := boards.List(ctx, "classic", window, "", 10)
		require.NoError(t, err)
		assert.Len(t, listed.Entries, 1)
		_, _, err = boards.Rank(ctx, "classic", window, name("player", 1), 1)
		require.NoError(t, err)
	}
	require.NoError(t, boards.Games(ctx, "classic", func([]string) error { return nil }))
}

// Ensure that the keys and members are what other releases read.
func TestBoards_Record_Keys(t *testing.T) {
	t.Parallel()
	redistest.Each(t, func(t *testing.T, client redis.UniversalClient) {
		ctx := t.Context()
		r := result(1, 2, 1234, now())
		require.NoError(t, New(client, time.Now).Record(ctx, r))

		member := fmt.Sprintf("%013d:%s:%s", 9_999_999_999_999-r.Time.UnixMilli(), r.PlayerID, r.GameID)
		year, week := r.Time.ISOWeek()
		day := "scores:{classic:" + r.Time.Format("day-2006-01-02") + "}"
		windows := []string{"scores:{classic:all}", fmt.Sprintf("scores:{classic:week-%d-W%02d}", year, week), day}
		var keys []string
		for _, key := range windows {
			keys = append(keys, key, key+":best")
			assert.Equal(t, []redis.Z{{Score: 1234, Member: member}}, client.ZRangeWithScores(ctx, key, 0, -1).Val(), key)
			assert.Equal(t, map[string]string{r.PlayerID: member}, client.HGetAll(ctx, key+":best").Val(), key)
		}
		assert.ElementsMatch(t, keys, client.Keys(ctx, "*").Val())

		assert.EqualValues(t, -1, client.TTL(ctx, keys[0]).Val())
		assert.EqualValues(t, -1, client.TTL(ctx, keys[1]).Val())
		midnight := r.Time.Truncate(24 * time.Hour).Add(24 * time.Hour)
		for _, key := range keys[2:] {
			end := midnight
			if key != day && key != day+":best" {
				end = midnight.AddDate(0, 0, (7-int(r.Time.Weekday()))%7)
			}
			assert.WithinDuration(t, end.Add(keptFor), now().Add(client.TTL(ctx, key).Val()), 10*time.Second, key)
		}
	})
}

// Ensure that what must not be recorded leaves nothing behind.
func TestBoards_Record_Nothing(t *testing.T) {
	t.Parallel()
	redistest.Each(t, func(t *testing.T, client redis.UniversalClient) {
		boards, ctx := New(client, time.Now), t.Context()
		require.NoError(t, boards.Record(ctx, result(1, 1, 0, now())))
		bad := []Result{
			{Variant: "classic", PlayerID: "x", GameID: id.New(), Score: 1, Time: now()},
			{Variant: "classic", PlayerID: id.New(), GameID: "", Score: 1, Time: now()},
			{Variant: "classic", PlayerID: id.New(), GameID: id.New(), Score: 1},
			{Variant: "classic", PlayerID: id.New(), GameID: id.New(), Score: 1, Time: time.UnixMilli(maxMillis + 1)},
		}
		for _, r := range bad {
			require.Error(t, boards.Record(ctx, r))
		}
		assert.Empty(t, client.Keys(ctx, "*").Val())
	})
}

// Ensure that a result that comes after its week was dropped counts for all
// time and makes no board that would stay for ever.
func TestBoards_Record_LongPast(t *testing.T) {
	t.Parallel()
	redistest.Each(t, func(t *testing.T, client redis.UniversalClient) {
		ctx := t.Context()
		require.NoError(t, New(client, time.Now).Record(ctx, result(1, 1, 5, now().Add(-keptFor-8*24*time.Hour))))
		assert.ElementsMatch(t, []string{"scores:{classic:all}", "scores:{classic:all}:best"}, client.Keys(ctx, "*").Val())
	})
}

// Ensure that any order and repetition of records gives the board that holds
// each player's best, the earliest of equals.
func TestBoards_Record_AnyOrder(t *testing.T) {
	t.Parallel()
	redistest.Each(t, func(t *testing.T, client redis.UniversalClient) {
		boards, ctx, run := New(client, time.Now), t.Context(), 0
		start := now().Truncate(24 * time.Hour)
		results := rapid.SliceOfN(rapid.Custom(func(t *rapid.T) Result {
			millis := rapid.SampledFrom([]int64{0, 1, 9, 10, 86_399_999, 86_400_000, -1}).Draw(t, "millis")
			return result(rapid.IntRange(0, 2).Draw(t, "player"), rapid.IntRange(0, 5).Draw(t, "game"),
				rapid.SampledFrom([]int32{0, 1, 2, 9, 10, math.MaxInt32}).Draw(t, "score"),
				start.Add(time.Duration(millis)*time.Millisecond))
		}), 0, 12)
		rapid.Check(t, func(t *rapid.T) {
			run++
			variant := fmt.Sprint("run", run) // A board of its own.
			drawn := results.Draw(t, "results")
			repeated := append(append([]Result(nil), drawn...), drawn[:len(drawn)/2]...)
			for _, r := range rapid.Permutation(repeated).Draw(t, "order") {
				r.Variant = variant
				require.NoError(t, boards.Record(ctx, r))
			}
			for _, window := range []Window{All, Week, Day} {
				for day := -1; day <= 1; day++ {
					b := boardAt(variant, window, start.AddDate(0, 0, day))
					requireBoard(t, ctx, client, b, bests(drawn, b))
				}
			}
		})
	})
}

// bests is the board that the results make, worked out the plain way: by
// player the greatest score and of these the greatest member.
func bests(results []Result, b board) map[string]redis.Z {
	best := map[string]redis.Z{}
	for _, r := range results {
		if r.Score == 0 || boardAt(b.variant, b.window, r.Time) != b {
			continue
		}
		z := redis.Z{Score: float64(r.Score), Member: must(memberOf(r))}
		old, ok := best[r.PlayerID]
		if !ok || z.Score > old.Score || z.Score == old.Score && z.Member.(string) > old.Member.(string) {
			best[r.PlayerID] = z
		}
	}
	return best
}

func requireBoard(t require.TestingT, ctx context.Context, client redis.UniversalClient, b board, best map[string]redis.Z) {
	set := client.ZRangeWithScores(ctx, b.key(), 0, -1).Val()
	members := client.HGetAll(ctx, b.bestKey()).Val()
	require.Len(t, set, len(best), b.key())
	require.Len(t, members, len(best), b.key())
	for player, z := range best {
		require.Contains(t, set, z, b.key())
		require.Equal(t, z.Member, members[player], b.key())
	}
}

func TestBoards_Games(t *testing.T) {
	t.Parallel()
	redistest.Each(t, func(t *testing.T, client redis.UniversalClient) {
		boards, ctx := New(client, time.Now), t.Context()
		want := map[string]bool{}
		pipe := client.Pipeline()
		for i := range 1000 { // more than one step of the scan
			r := result(i, i, 5, now())
			want[r.GameID] = true
			pipe.ZAdd(ctx, "scores:{classic:all}", redis.Z{Score: 5, Member: must(memberOf(r))})
		}
		_, err := pipe.Exec(ctx)
		require.NoError(t, err)

		got := map[string]bool{}
		require.NoError(t, boards.Games(ctx, "classic", func(ids []string) error {
			for _, gameID := range ids {
				got[gameID] = true
			}
			return nil
		}))
		assert.Equal(t, want, got)
		require.ErrorIs(t, boards.Games(ctx, "classic", func([]string) error { return context.Canceled }), context.Canceled)
		require.NoError(t, boards.Games(ctx, "nothing", func([]string) error { return context.Canceled }))
	})
}

func TestBoardAt(t *testing.T) {
	t.Parallel()
	for at, want := range map[string][2]string{
		"2026-11-20T12:00:00Z":      {"week-2026-W47", "day-2026-11-20"},
		"2026-11-22T23:59:59.999Z":  {"week-2026-W47", "day-2026-11-22"}, // Sunday.
		"2026-11-23T00:00:00Z":      {"week-2026-W48", "day-2026-11-23"}, // Monday.
		"2026-11-23T01:00:00+02:00": {"week-2026-W47", "day-2026-11-22"},
		"2027-01-01T00:00:00Z":      {"week-2026-W53", "day-2027-01-01"},
		"2024-12-31T00:00:00Z":      {"week-2025-W01", "day-2024-12-31"},
		"1970-01-01T00:00:00Z":      {"week-1970-W01", "day-1970-01-01"},
	} {
		parsed, err := time.Parse(time.RFC3339Nano, at)
		require.NoError(t, err)
		assert.Equal(t, "all", boardAt("v", All, parsed).name())
		assert.Equal(t, want[0], boardAt("v", Week, parsed).name(), at)
		assert.Equal(t, want[1], boardAt("v", Day, parsed).name(), at)
	}
}

func TestParseMember(t *testing.T) {
	t.Parallel()
	r := result(1, 2, 3, time.UnixMilli(1_795_000_000_123).UTC())
	entry, err := parseMember(must(memberOf(r)))
	require.NoError(t, err)
	assert.Equal(t, Entry{PlayerID: r.PlayerID, GameID: r.GameID, Time: r.Time}, entry)
	for _, s := range []string{"", ":", must(memberOf(r))[1:], must(memberOf(r)) + "a", "x" + must(memberOf(r))[1:]} {
		_, err := parseMember(s)
		require.Error(t, err, s)
	}
}

func must[T any](value T, err error) T {
	if err != nil {
		panic(err)
	}
	return value
}
