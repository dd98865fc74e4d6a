package leaderboard

import (
	"context"
	"fmt"
	"testing"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/gridstand/gridstand/internal/id"
	redistest "github.com/gridstand/gridstand/internal/testkit/redis"
	"github.com/gridstand/gridstand/internal/testkit/testmain"
	"github.com/gridstand/gridstand/server/internal/page"
	"github.com/gridstand/gridstand/server/internal/store"
	"github.com/gridstand/gridstand/server/internal/store/storetest"
)

func TestMain(m *testing.M) { testmain.Run(m, redistest.StillDialing) }

// name returns an id derived from kind and n.
func name(kind string, n int) string {
	return id.Derive([]byte(kind), []byte(fmt.Sprint(n)))
}

func result(player, game int, score int32, at time.Time) Result {
	return Result{Variant: "classic", PlayerID: name("player", player), GameID: name("game", game), Score: score, Time: at}
}

// now returns the current time to the millisecond, which is the precision of stores.
func now() time.Time { return time.Now().UTC().Truncate(time.Millisecond) }

// open returns a Boards that uses s.
func open(t *testing.T, s *store.Store) *Boards {
	t.Helper()
	return New(s.Boards, page.NewTokens(s.Secrets), s.Time)
}

// Ensure that a refused or ignored result is not stored.
func TestBoards_Record_Nothing(t *testing.T) {
	t.Parallel()
	boards := New(nil, nil, nil) // panics on any access to the store
	require.NoError(t, boards.Record(t.Context(), result(1, 1, 0, now())))
	for _, r := range []Result{
		{Variant: "classic", PlayerID: "x", GameID: id.New(), Score: 1, Time: now()},
		{Variant: "classic", PlayerID: id.New(), GameID: "", Score: 1, Time: now()},
		{Variant: "classic", PlayerID: id.New(), GameID: id.New(), Score: 1},
		{Variant: "classic", PlayerID: id.New(), GameID: id.New(), Score: 1, Time: time.UnixMilli(maxMillis + 1)},
	} {
		require.Error(t, boards.Record(t.Context(), r))
	}
}

// Ensure that an attempt without points ranks last in its challenge's standings and is not on
// any leaderboard.
func TestBoards_Record_Zero(t *testing.T) {
	t.Parallel()
	storetest.Each(t, func(t *testing.T, s *store.Store) {
		boards, ctx, at := open(t, s), t.Context(), now()
		var want []Entry
		for i, score := range []int32{4, 0, 0} {
			r := result(i, i, score, at.Add(time.Duration(i)*time.Second))
			r.ChallengeID, r.Expires = name("challenge", 1), at.Add(time.Hour)
			for range 2 {
				require.NoError(t, boards.Record(ctx, r))
			}
			want = append(want, Entry{Rank: int32(i) + 1, PlayerID: r.PlayerID, Score: score, GameID: r.GameID, Time: r.Time})
		}
		for _, window := range []Window{All, Week, Day} {
			everybody, err := boards.List(ctx, Board{Variant: "classic", Window: window}, "", 10)
			require.NoError(t, err)
			assert.Empty(t, everybody.Entries)
		}
		standings := Board{Variant: "classic", ChallengeID: name("challenge", 1)}
		listed, err := boards.List(ctx, standings, "", 10)
		require.NoError(t, err)
		assert.Equal(t, Page{Entries: want, Total: 3}, listed)
		entries, own, total, err := boards.Rank(ctx, standings, want[2].PlayerID, 1)
		require.NoError(t, err)
		assert.Equal(t, want[1:], entries)
		assert.Equal(t, 1, own)
		assert.EqualValues(t, 3, total)
	})
}

// Ensure that the games of all entries are visited, also if players are hidden meanwhile.
func TestBoards_Games(t *testing.T) {
	t.Parallel()
	storetest.Each(t, func(t *testing.T, s *store.Store) {
		boards, ctx := open(t, s), t.Context()
		want, standings := map[string]bool{}, Board{Variant: "classic", ChallengeID: name("challenge", 1)}
		for i := range gamesBatch + 100 {
			r := result(i, i, int32(10_000-i), now())
			r.ChallengeID, r.Expires = standings.ChallengeID, now().Add(time.Hour)
			require.NoError(t, boards.Record(ctx, r))
			want[r.GameID] = true
		}
		got, steps := map[string]bool{}, 0
		require.NoError(t, boards.Games(ctx, standings, func(ids []string) error {
			assert.NotEmpty(t, ids)
			for _, gameID := range ids {
				got[gameID] = true
			}
			for i := range gamesAgain {
				require.NoError(t, boards.Hide(ctx, name("player", i)))
			}
			steps++
			return nil
		}))
		assert.Equal(t, want, got)
		assert.Equal(t, 2, steps)
		failing := func([]string) error { return context.Canceled }
		require.ErrorIs(t, boards.Games(ctx, standings, failing), context.Canceled)
		require.NoError(t, boards.Games(ctx, Board{Variant: "nothing"}, failing))
		r := result(99_999, 99_999, 5, now())
		require.NoError(t, boards.Record(ctx, r))
		require.NoError(t, boards.Games(ctx, Board{Variant: "classic"}, func(ids []string) error {
			assert.Equal(t, []string{r.GameID}, ids)
			return nil
		}))
	})
}

// Ensure that results are on the boards of their day and week in UTC, which are kept for a week after that.
func TestBoard_Window(t *testing.T) {
	t.Parallel()
	for at, want := range map[string]struct{ week, day, weekUntil, dayUntil string }{
		"2026-11-20T12:00:00Z":      {"week-2026-W47", "day-2026-11-20", "2026-11-30", "2026-11-28"},
		"2026-11-22T23:59:59.999Z":  {"week-2026-W47", "day-2026-11-22", "2026-11-30", "2026-11-30"}, // a Sunday
		"2026-11-23T00:00:00Z":      {"week-2026-W48", "day-2026-11-23", "2026-12-07", "2026-12-01"}, // a Monday
		"2026-11-23T01:00:00+02:00": {"week-2026-W47", "day-2026-11-22", "2026-11-30", "2026-11-30"},
		"2027-01-01T00:00:00Z":      {"week-2026-W53", "day-2027-01-01", "2027-01-11", "2027-01-09"},
		"2024-12-31T00:00:00Z":      {"week-2025-W01", "day-2024-12-31", "2025-01-13", "2025-01-08"},
		"1970-01-01T00:00:00Z":      {"week-1970-W01", "day-1970-01-01", "1970-01-12", "1970-01-09"},
	} {
		parsed, err := time.Parse(time.RFC3339Nano, at)
		require.NoError(t, err)
		for window, want := range map[Window][2]string{
			All: {"all", ""}, Week: {want.week, want.weekUntil}, Day: {want.day, want.dayUntil},
		} {
			board, _ := Board{Variant: "v", Window: window}.stored(parsed)
			expires, _ := time.Parse(time.DateOnly, want[1])
			assert.Equal(t, want[0], board.Window, at)
			assert.Equal(t, expires, board.Expires, at)
		}
	}
}

func TestParseMember(t *testing.T) {
	t.Parallel()
	r := result(1, 2, 3, time.UnixMilli(1_795_000_000_123).UTC())
	member, err := memberOf(r)
	require.NoError(t, err)
	assert.Equal(t, "8204999999876:"+r.PlayerID+":"+r.GameID, member, "as other releases name it")
	entry, err := parseMember(member)
	require.NoError(t, err)
	assert.Equal(t, Entry{PlayerID: r.PlayerID, GameID: r.GameID, Time: r.Time}, entry)
	for _, s := range []string{"", ":", member[1:], member + "a", "x" + member[1:]} {
		_, err := parseMember(s)
		require.Error(t, err, s)
	}
}
