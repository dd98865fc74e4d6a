package storetest

import (
	"cmp"
	"context"
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
	t.Run("a player hidden during concurrent records is on no board", func(t *testing.T) { hideWhileRecording(t, open(t).Boards) })
	t.Run("boards match a simple model after random calls", func(t *testing.T) {
		for seed := range uint64(Models) {
			boardsLikeModel(t, open(t).Boards, seed)
		}
	})
}

// BoardsExpire tests that a board expires at the given time.
func BoardsExpire(t *testing.T, open OpenClock) {
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
	for _, board := range []store.Board{allTime, late} {
		requireEntries(ctx, t, boards, board, b, a)
	}
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
	require.Equal(t, slices.Concat(want), slices.Concat(page.Entries), b.Window)
	require.EqualValues(t, len(want), page.Total, b.Window)
}

// hideWhileRecording also checks that concurrent records keep the best.
func hideWhileRecording(t *testing.T, boards store.Boards) {
	ctx, hide := t.Context(), make(chan struct{})
	var group sync.WaitGroup
	for i := range 20 {
		group.Go(func() {
			if i == 10 {
				close(hide)
			}
			assert.NoError(t, boards.Record(ctx, scored("a", int32(i+1), i), allTime, today))
			assert.NoError(t, boards.Record(ctx, scored("b", int32(i+1), i), allTime, today))
		})
	}
	<-hide
	require.NoError(t, boards.Hide(ctx, "a"))
	group.Wait()
	best := scored("b", 20, 19)
	requireEntries(ctx, t, boards, today, best)
	requireEntries(ctx, t, boards, allTime, best)
	hidden, err := boards.Hidden(ctx, "b", "a", "c")
	require.NoError(t, err)
	assert.Equal(t, map[string]bool{"a": true}, hidden)
	require.NoError(t, boards.Unhide(ctx, "a"))
	hidden, err = boards.Hidden(ctx, "a")
	require.NoError(t, err)
	assert.Empty(t, hidden)
	requireEntries(ctx, t, boards, allTime, best)
}

// descending compares entries by their order on a board.
func descending(a, b store.BoardEntry) int {
	return cmp.Or(cmp.Compare(b.Score, a.Score), cmp.Compare(b.Member, a.Member))
}
