package storetest

import (
	"fmt"
	"maps"
	"slices"
	"testing"

	"github.com/stretchr/testify/require"
	"pgregory.net/rapid"

	"github.com/gridstand/gridstand/server/internal/store"
)

// BoardsLikeModel makes random calls, and compares the boards with a model that uses
// maps.
func BoardsLikeModel(t *testing.T, boards store.Boards) {
	ctx := t.Context()
	players := make([]string, 12)
	for i := range players {
		players[i] = fmt.Sprintf("player-%02d", i)
	}
	player := rapid.SampledFrom(players)
	names := []store.Board{allTime, today, past}
	rapid.Check(t, func(t *rapid.T) {
		for _, player := range players { // remove the entries of the previous run
			require.NoError(t, boards.Hide(ctx, player))
			require.NoError(t, boards.Unhide(ctx, player))
		}
		board := rapid.SampledFrom(names)
		model := map[store.Board]map[string]store.BoardEntry{names[0]: {}, names[1]: {}}
		hidden := map[string]bool{}

		t.Repeat(map[string]func(*rapid.T){
			"record": func(t *rapid.T) {
				e := scored(player.Draw(t, "player"), rapid.SampledFrom([]int32{0, 1, 2, 9, 10, 1 << 30, 1<<31 - 1}).Draw(t, "score"),
					rapid.IntRange(0, 3).Draw(t, "member"))
				on := rapid.SliceOfNDistinct(board, 1, 3, rapid.ID).Draw(t, "boards")
				for range rapid.IntRange(1, 2).Draw(t, "times") {
					require.NoError(t, boards.Record(ctx, e, on...))
				}
				if hidden[e.PlayerID] {
					return
				}
				for _, b := range on {
					if best, ok := model[b][e.PlayerID]; model[b] != nil && (!ok || descending(e, best) < 0) {
						model[b][e.PlayerID] = e
					}
				}
			},
			"drop": func(t *rapid.T) {
				b, player := board.Draw(t, "board"), player.Draw(t, "player")
				member := scored(player, 0, rapid.IntRange(0, 3).Draw(t, "member")).Member
				dropped, err := boards.Drop(ctx, b, player, member)
				require.NoError(t, err)
				require.Equal(t, model[b][player].Member == member, dropped)
				if dropped {
					delete(model[b], player)
				}
			},
			"hide": func(t *rapid.T) {
				player := player.Draw(t, "player")
				require.NoError(t, boards.Hide(ctx, player))
				hidden[player] = true
				for _, entries := range model {
					delete(entries, player)
				}
			},
			"unhide": func(t *rapid.T) {
				player := player.Draw(t, "player")
				require.NoError(t, boards.Unhide(ctx, player))
				delete(hidden, player)
			},
			"read": func(t *rapid.T) {
				b := board.Draw(t, "board")
				want := slices.SortedFunc(maps.Values(model[b]), descending)
				first, n := rapid.IntRange(0, 12).Draw(t, "first"), rapid.IntRange(1, 13).Draw(t, "n")
				page, err := boards.Page(ctx, b, int64(first), n)
				require.NoError(t, err)
				require.Equal(t, slices.Concat(want[min(first, len(want)):min(first+n, len(want))]), slices.Concat(page.Entries))
				require.EqualValues(t, len(want), page.Total)

				player, neighbors := player.Draw(t, "player"), rapid.IntRange(0, 12).Draw(t, "neighbors")
				rank, err := boards.Rank(ctx, b, player, neighbors)
				require.NoError(t, err)
				place := slices.IndexFunc(want, func(e store.BoardEntry) bool { return e.PlayerID == player })
				require.Equal(t, place >= 0, rank.Found)
				if place >= 0 {
					from := max(0, place-neighbors)
					require.EqualValues(t, place, rank.Place)
					require.EqualValues(t, from, rank.First)
					require.Equal(t, want[from:min(len(want), place+neighbors+1)], rank.Entries)
				}
			},
		})
		for b, entries := range model {
			requireEntries(ctx, t, boards, b, slices.SortedFunc(maps.Values(entries), descending)...)
		}
		repair, err := boards.Repair(ctx)
		require.NoError(t, err)
		require.Zero(t, repair)
	})
}
