package storetest

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"slices"
	"sync"
	"testing"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/gridstand/gridstand/server/internal/store"
)

// Boards tests the contract of store.Boards.
func Boards(t *testing.T, open Open) {
	t.Run("a board is ordered by score, then by member", func(t *testing.T) { boardOrder(t, open(t).Boards) })
	t.Run("an empty board", func(t *testing.T) { emptyBoard(t, open(t).Boards) })
	t.Run("neighbors", func(t *testing.T) { boardNeighbors(t, open(t).Boards) })
	t.Run("a board that has expired is not created again", func(t *testing.T) { expiredBoard(t, open(t).Boards) })
	t.Run("concurrent records keep the best", func(t *testing.T) { concurrentRecords(t, open(t).Boards) })
	t.Run("a player hidden during concurrent records is on no board", func(t *testing.T) { hideWhileRecording(t, open(t).Boards) })
	t.Run("drop", func(t *testing.T) { dropEntries(t, open(t).Boards) })
	t.Run("all boards and entries are visited", func(t *testing.T) { visitBoards(t, open(t).Boards) })
	t.Run("boards match a simple model after random calls", func(t *testing.T) { BoardsLikeModel(t, open(t).Boards) })
	t.Run("calls end when their context does", func(t *testing.T) {
		boards := open(t).Boards
		ctx, cancel := context.WithCancel(t.Context())
		cancel()
		_, err := boards.Page(ctx, allTime, 0, 1)
		require.ErrorIs(t, err, context.Canceled)
		_, err = boards.Rank(ctx, allTime, "a", 0)
		require.ErrorIs(t, err, context.Canceled)
		require.ErrorIs(t, boards.Record(ctx, scored("a", 1, 1), allTime), context.Canceled)
		require.ErrorIs(t, boards.Entries(ctx, allTime, nil), context.Canceled)
	})
}

// BoardsExpire tests the clock-dependent part of the contract of store.Boards.
func BoardsExpire(t *testing.T, open OpenClock) {
	t.Run("a board expires at the given time", func(t *testing.T) {
		s, forward := open(t)
		ctx, boards, a := t.Context(), s.Boards, scored("a", 1, 1)
		now, err := s.Time(ctx)
		require.NoError(t, err)
		soon := store.Board{Variant: "classic", Window: "day-1", Expires: now.Truncate(time.Second).Add(time.Hour)}
		late := store.Board{Variant: "classic", Window: "day-2", Expires: soon.Expires.Add(time.Hour)}
		all := []store.Board{allTime, soon, late}
		require.NoError(t, boards.Record(ctx, a, all...))
		forward(time.Hour - time.Minute)
		for _, b := range all {
			requireEntries(ctx, t, boards, b, a)
		}
		forward(time.Minute)
		b := scored("b", 2, 2)
		require.NoError(t, boards.Record(ctx, b, all...))
		requireEntries(ctx, t, boards, soon)
		rank, err := boards.Rank(ctx, soon, "a", 1)
		require.NoError(t, err)
		assert.False(t, rank.Found)
		dropped, err := boards.Drop(ctx, soon, "a", a.Member)
		require.NoError(t, err)
		assert.False(t, dropped)
		require.NoError(t, boards.Entries(ctx, soon, func([]store.BoardEntry) error { return errors.New("visited") }))
		left := map[string]bool{}
		require.NoError(t, boards.Boards(ctx, func(b store.Board) error {
			left[b.Window] = true
			return nil
		}))
		assert.Equal(t, map[string]bool{"all": true, "day-2": true}, left)
		for _, board := range []store.Board{allTime, late} {
			requireEntries(ctx, t, boards, board, b, a)
		}
	})
}

var (
	allTime = store.Board{Variant: "classic", Window: "all"}
	today   = store.Board{Variant: "classic", Window: "day-2199-01-01", Expires: time.Date(2199, 1, 8, 0, 0, 0, 0, time.UTC)}
	past    = store.Board{Variant: "classic", Window: "day-2001-01-01", Expires: time.Date(2001, 1, 8, 0, 0, 0, 0, time.UTC)}
)

// scored returns an entry whose place among entries with equal scores is determined by
// number.
func scored(player string, score int32, number int) store.BoardEntry {
	return store.BoardEntry{PlayerID: player, Score: score, Member: fmt.Sprintf("%05d:%s:game", number, player)}
}

// requireEntries checks that a board has exactly these entries, in this order.
func requireEntries(ctx context.Context, t require.TestingT, boards store.Boards, b store.Board, want ...store.BoardEntry) {
	page, err := boards.Page(ctx, b, 0, len(want)+1)
	require.NoError(t, err)
	require.Empty(t, slices.Concat(page.Entries)[min(len(want), len(page.Entries)):], "too many entries")
	require.Equal(t, slices.Concat(want), slices.Concat(page.Entries), b.Window)
	require.EqualValues(t, len(want), page.Total, b.Window)
}

func boardOrder(t *testing.T, boards store.Boards) {
	ctx := t.Context()
	low, first, second, third, top := scored("a", 9, 9), scored("b", 10, 3), scored("c", 10, 2), scored("d", 10, 1), scored("e", 100, 0)
	zero := scored("f", 0, 9)
	for _, e := range []store.BoardEntry{second, zero, low, top, third, first, low} {
		require.NoError(t, boards.Record(ctx, e, allTime, today))
	}
	want := []store.BoardEntry{top, first, second, third, low, zero}
	for _, b := range []store.Board{allTime, today} {
		requireEntries(ctx, t, boards, b, want...)
		for from := range len(want) + 2 {
			for n := 1; n <= len(want)+1; n++ {
				page, err := boards.Page(ctx, b, int64(from), n)
				require.NoError(t, err)
				assert.Equal(t, slices.Concat(want[min(from, len(want)):min(from+n, len(want))]), slices.Concat(page.Entries))
				assert.EqualValues(t, len(want), page.Total)
				assert.WithinDuration(t, time.Now(), page.Now, time.Minute)
			}
		}
	}
	// Only a greater entry replaces the player's entry.
	for _, e := range []store.BoardEntry{scored("c", 9, 7), scored("c", 10, 1), scored("c", 10, 2)} {
		require.NoError(t, boards.Record(ctx, e, allTime))
		requireEntries(ctx, t, boards, allTime, want...)
	}
	later := scored("c", 10, 4)
	require.NoError(t, boards.Record(ctx, later, allTime))
	requireEntries(ctx, t, boards, allTime, top, later, first, third, low, zero)
	requireEntries(ctx, t, boards, today, want...)
	better := scored("a", 11, 0)
	require.NoError(t, boards.Record(ctx, better, allTime))
	requireEntries(ctx, t, boards, allTime, top, better, later, first, third, zero)
}

func emptyBoard(t *testing.T, boards store.Boards) {
	ctx := t.Context()
	requireEntries(ctx, t, boards, allTime)
	rank, err := boards.Rank(ctx, allTime, "a", 3)
	require.NoError(t, err)
	assert.WithinDuration(t, time.Now(), rank.Now, time.Minute)
	rank.Now = time.Time{}
	assert.Equal(t, store.BoardRank{}, rank)

	never := func() error { return errors.New("visited") }
	require.NoError(t, boards.Entries(ctx, allTime, func([]store.BoardEntry) error { return never() }))
	require.NoError(t, boards.Boards(ctx, func(store.Board) error { return never() }))
	dropped, err := boards.Drop(ctx, allTime, "a", scored("a", 1, 1).Member)
	require.NoError(t, err)
	assert.False(t, dropped)
	repair, err := boards.Repair(ctx)
	require.NoError(t, err)
	assert.Zero(t, repair)
	require.NoError(t, boards.Record(ctx, scored("a", 1, 1)), "on no board")
	anyHidden, err := boards.AnyHidden(ctx)
	require.NoError(t, err)
	assert.False(t, anyHidden)
	hidden, err := boards.Hidden(ctx)
	require.NoError(t, err)
	assert.Empty(t, hidden)
}

func boardNeighbors(t *testing.T, boards store.Boards) {
	ctx := t.Context()
	var entries []store.BoardEntry
	for i := range 7 {
		entries = append(entries, scored(string(rune('a'+i)), int32(2-i/3), 10-i)) // the scores are 2, 2, 2, 1, 1, 1 and 0
		require.NoError(t, boards.Record(ctx, entries[i], allTime))
	}
	for place, own := range entries {
		for neighbors := range 9 {
			rank, err := boards.Rank(ctx, allTime, own.PlayerID, neighbors)
			require.NoError(t, err)
			first, last := max(0, place-neighbors), min(len(entries)-1, place+neighbors)
			assert.WithinDuration(t, time.Now(), rank.Now, time.Minute)
			rank.Now = time.Time{}
			assert.Equal(t, store.BoardRank{
				Found: true, Place: int64(place), First: int64(first), Total: int64(len(entries)), Entries: entries[first : last+1],
			}, rank)
		}
	}
	for _, player := range []string{"", "h", "%"} {
		rank, err := boards.Rank(ctx, allTime, player, 1)
		require.NoError(t, err)
		assert.False(t, rank.Found)
	}
	rank, err := boards.Rank(ctx, today, "a", 1)
	require.NoError(t, err)
	assert.False(t, rank.Found, "the player is only on another board")
}

func expiredBoard(t *testing.T, boards store.Boards) {
	ctx, e := t.Context(), scored("a", 1, 1)
	require.NoError(t, boards.Record(ctx, e, past, today))
	requireEntries(ctx, t, boards, past)
	requireEntries(ctx, t, boards, today, e)
	rank, err := boards.Rank(ctx, past, "a", 1)
	require.NoError(t, err)
	assert.False(t, rank.Found)
	require.NoError(t, boards.Boards(ctx, func(b store.Board) error {
		assert.Equal(t, today.Window, b.Window)
		return nil
	}))
}

func concurrentRecords(t *testing.T, boards store.Boards) {
	var group sync.WaitGroup
	for i := range 40 {
		group.Go(func() {
			assert.NoError(t, boards.Record(t.Context(), scored("a", int32(i+1), i), allTime, today))
			assert.NoError(t, boards.Record(t.Context(), scored("b", 7, i), allTime, today))
		})
	}
	group.Wait()
	for _, b := range []store.Board{allTime, today} {
		requireEntries(t.Context(), t, boards, b, scored("a", 40, 39), scored("b", 7, 39))
	}
}

func hideWhileRecording(t *testing.T, boards store.Boards) {
	ctx := t.Context()
	hide := make(chan struct{})
	var group sync.WaitGroup
	for i := range 50 {
		group.Go(func() {
			if i == 25 {
				close(hide)
			}
			assert.NoError(t, boards.Record(ctx, scored("a", int32(i+1), i), allTime, today))
			assert.NoError(t, boards.Record(ctx, scored("b", int32(i+1), i), allTime, today))
		})
	}
	<-hide
	require.NoError(t, boards.Hide(ctx, "a"))
	group.Wait()
	for _, b := range []store.Board{allTime, today} {
		requireEntries(ctx, t, boards, b, scored("b", 50, 49))
		rank, err := boards.Rank(ctx, b, "a", 1)
		require.NoError(t, err)
		assert.False(t, rank.Found)
	}
	hidden, err := boards.Hidden(ctx, "b", "a", "c")
	require.NoError(t, err)
	assert.Equal(t, map[string]bool{"a": true}, hidden)
	anyHidden, err := boards.AnyHidden(ctx)
	require.NoError(t, err)
	assert.True(t, anyHidden)

	require.NoError(t, boards.Hide(ctx, "a"), "repeated")
	require.NoError(t, boards.Record(ctx, scored("a", 99, 99), allTime))
	requireEntries(ctx, t, boards, allTime, scored("b", 50, 49))
	require.NoError(t, boards.Unhide(ctx, "a"))
	require.NoError(t, boards.Unhide(ctx, "a"), "repeated")
	requireEntries(ctx, t, boards, allTime, scored("b", 50, 49))
	require.NoError(t, boards.Record(ctx, scored("a", 1, 1), allTime))
	requireEntries(ctx, t, boards, allTime, scored("b", 50, 49), scored("a", 1, 1))
	anyHidden, err = boards.AnyHidden(ctx)
	require.NoError(t, err)
	assert.False(t, anyHidden)
}

func dropEntries(t *testing.T, boards store.Boards) {
	ctx, a, b := t.Context(), scored("a", 10, 1), scored("b", 5, 1)
	for _, e := range []store.BoardEntry{a, b} {
		require.NoError(t, boards.Record(ctx, e, allTime, today))
	}
	for name, c := range map[string]struct {
		board            store.Board
		playerID, member string
	}{
		"a lower entry":    {allTime, "a", scored("a", 3, 0).Member},
		"another's member": {allTime, "c", scored("c", 10, 1).Member},
		"another board":    {past, "a", a.Member},
	} {
		dropped, err := boards.Drop(ctx, c.board, c.playerID, c.member)
		require.NoError(t, err)
		assert.False(t, dropped, name)
	}
	requireEntries(ctx, t, boards, allTime, a, b)

	for _, want := range []bool{true, false} {
		dropped, err := boards.Drop(ctx, allTime, "a", a.Member)
		require.NoError(t, err)
		assert.Equal(t, want, dropped)
		requireEntries(ctx, t, boards, allTime, b)
	}
	requireEntries(ctx, t, boards, today, a, b)
	lower := scored("a", 1, 1)
	require.NoError(t, boards.Record(ctx, lower, allTime))
	requireEntries(ctx, t, boards, allTime, b, lower)
}

func visitBoards(t *testing.T, boards store.Boards) {
	ctx, entries := t.Context(), 1200 // takes more than one batch
	want := map[string]store.BoardEntry{}
	var group sync.WaitGroup
	for worker := range 8 {
		group.Go(func() {
			for i := worker; i < entries; i += 8 {
				assert.NoError(t, boards.Record(ctx, scored(fmt.Sprint("p", i), int32(i%50), i), allTime))
			}
		})
	}
	group.Wait()
	for i := range entries {
		want[fmt.Sprint("p", i)] = scored(fmt.Sprint("p", i), int32(i%50), i)
	}
	other := store.Board{Variant: "tribolo", Window: today.Window, Expires: today.Expires}
	require.NoError(t, boards.Record(ctx, scored("p", 1, 1), other))

	found := map[string]store.Board{}
	require.NoError(t, boards.Boards(ctx, func(b store.Board) error {
		found[b.Variant] = b
		return nil
	}))
	assert.Equal(t, map[string]store.Board{"classic": allTime, "tribolo": other}, found)
	enough := errors.New("enough")
	require.ErrorIs(t, boards.Boards(ctx, func(store.Board) error { return enough }), enough)

	visited, steps := map[string]store.BoardEntry{}, 0
	require.NoError(t, boards.Entries(ctx, allTime, func(some []store.BoardEntry) error {
		assert.NotEmpty(t, some)
		steps++
		for _, e := range some {
			visited[e.PlayerID] = e
		}
		return nil
	}))
	assert.Equal(t, want, visited)
	assert.Greater(t, steps, 1)
	require.ErrorIs(t, boards.Entries(ctx, allTime, func([]store.BoardEntry) error { return enough }), enough)

	// A visitor may call the store, for example to drop the visited entries. This board
	// is small enough for one batch, because a scan in miniredis skips members if others
	// are removed during the scan.
	for i := range 60 {
		require.NoError(t, boards.Record(ctx, scored(fmt.Sprint("p", i), int32(i%10), i), other))
	}
	left := []store.BoardEntry{}
	require.NoError(t, boards.Entries(ctx, other, func(some []store.BoardEntry) error {
		for _, e := range some {
			if e.Score == 7 {
				left = append(left, e)
				continue
			}
			if _, err := boards.Drop(ctx, other, e.PlayerID, e.Member); err != nil {
				return err
			}
		}
		return nil
	}))
	slices.SortFunc(left, descending)
	requireEntries(ctx, t, boards, other, slices.Compact(left)...)
	repair, err := boards.Repair(ctx)
	require.NoError(t, err)
	assert.Zero(t, repair)
}

// descending compares entries by their order on a board.
func descending(a, b store.BoardEntry) int {
	return cmp.Or(cmp.Compare(b.Score, a.Score), cmp.Compare(b.Member, a.Member))
}
