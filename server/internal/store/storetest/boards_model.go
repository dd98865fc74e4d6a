package storetest

import (
	"fmt"
	"maps"
	"math/rand/v2"
	"slices"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/gridstand/gridstand/server/internal/store"
)

// boardsModel makes random calls, and compares the boards with maps.
type boardsModel struct {
	*testing.T
	boards  store.Boards
	random  *rand.Rand
	entries map[store.Board]map[string]store.BoardEntry // none for a board that has expired
	hidden  map[string]bool
}

// boardsLikeModel makes 300 random calls on an empty store.
func boardsLikeModel(t *testing.T, boards store.Boards, seed uint64) {
	m := boardsModel{t, boards, rand.New(rand.NewPCG(seed, 0)), map[store.Board]map[string]store.BoardEntry{allTime: {}, today: {}}, map[string]bool{}}
	m.read()
	for range 300 {
		switch n := m.random.IntN(20); {
		case n < 9:
			m.record()
		case n < 12:
			player := m.player()
			require.NoError(t, boards.Hide(t.Context(), player))
			m.hidden[player] = true
			for _, entries := range m.entries {
				delete(entries, player)
			}
		case n < 14:
			player := m.player()
			require.NoError(t, boards.Unhide(t.Context(), player))
			delete(m.hidden, player)
		default:
			m.read()
		}
	}
	for b, entries := range m.entries {
		requireEntries(t.Context(), t, boards, b, slices.SortedFunc(maps.Values(entries), descending)...)
	}
	require.NoError(t, boards.Clear(t.Context()))
	for b := range m.entries {
		requireEntries(t.Context(), t, boards, b)
	}
}

const players = 12

func playerNumber(n int) string { return fmt.Sprintf("player-%02d", n) }

func (m boardsModel) player() string { return playerNumber(m.random.IntN(players)) }

// record records a result on some boards, once or twice.
func (m boardsModel) record() {
	scores := []int32{0, 1, 2, 9, 10, 1 << 30, 1<<31 - 1}
	e := scored(m.player(), scores[m.random.IntN(len(scores))], m.random.IntN(4))
	on := []store.Board{allTime, today, past}
	m.random.Shuffle(len(on), func(i, j int) { on[i], on[j] = on[j], on[i] })
	on = on[m.random.IntN(len(on)):]
	for range 1 + m.random.IntN(2) {
		require.NoError(m, m.boards.Record(m.Context(), e, on...))
	}
	for _, b := range on {
		best, ok := m.entries[b][e.PlayerID]
		if m.entries[b] != nil && !m.hidden[e.PlayerID] && (!ok || descending(e, best) < 0) {
			m.entries[b][e.PlayerID] = e
		}
	}
}

// read compares a page of a board, numbers of entries, and the places of all players.
func (m boardsModel) read() {
	b := []store.Board{allTime, today, past}[m.random.IntN(3)]
	want := slices.SortedFunc(maps.Values(m.entries[b]), descending)
	first, n := m.random.IntN(13), 1+m.random.IntN(13)
	page, err := m.boards.Page(m.Context(), b, int64(first), n)
	require.NoError(m, err)
	require.Equal(m, slices.Concat(want[min(first, len(want)):min(first+n, len(want))]), slices.Concat(page.Entries))
	require.EqualValues(m, len(want), page.Total)

	bounds := []int32{0, 1, 3, 10, 1<<31 - 1}
	counts, err := m.boards.AtLeast(m.Context(), b, bounds...)
	require.NoError(m, err)
	for i, bound := range bounds {
		below := func(e store.BoardEntry) bool { return e.Score < bound }
		require.EqualValues(m, len(slices.DeleteFunc(slices.Clone(want), below)), counts[i], "of at least %d", bound)
	}

	for n := range players {
		player := playerNumber(n)
		place, found, err := m.boards.Place(m.Context(), b, player)
		require.NoError(m, err)
		at := slices.IndexFunc(want, func(e store.BoardEntry) bool { return e.PlayerID == player })
		require.Equal(m, at >= 0, found)
		require.EqualValues(m, max(0, at), place)
	}
}
