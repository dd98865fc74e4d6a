package sqlite

import (
	"cmp"
	"fmt"
	"math/rand/v2"
	"slices"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
	sqlite3 "zombiezen.com/go/sqlite"

	"github.com/gridstand/gridstand/server/internal/store"
)

// forever is a board that never expires.
var forever = store.Board{Variant: "classic", Window: "all"}

// fill records entries for players 0 to n−1, in order, with the given scores.
func fill(t *testing.T, b boards, on store.Board, n int, score func(i int) int32) (entries []store.BoardEntry) {
	t.Helper()
	for i := range n {
		entries = append(entries, store.BoardEntry{
			PlayerID: fmt.Sprint("p", i), Score: score(i), Member: fmt.Sprintf("%06d:p%d:g", n-i, i),
		})
	}
	require.NoError(t, b.write(t.Context(), func(c *sqlite3.Conn) error {
		for _, e := range entries {
			if err := b.record(c, e, on); err != nil {
				return err
			}
		}
		return nil
	}))
	return entries
}

// requireBoard checks that a board has exactly the given entries, which it sorts, that each is found at
// its place, and that neither the size nor the number of ranges exceeds its bound after the given number of
// recorded entries.
func requireBoard(t *testing.T, b boards, recorded int, want []store.BoardEntry) {
	t.Helper()
	slices.SortFunc(want, func(a, b store.BoardEntry) int {
		return cmp.Or(cmp.Compare(b.Score, a.Score), cmp.Compare(b.Member, a.Member))
	})
	for place, e := range want {
		at, _, err := b.Place(t.Context(), forever, e.PlayerID)
		require.NoError(t, err)
		require.EqualValues(t, place, at)
		if place%20 == 0 {
			page, err := b.Page(t.Context(), forever, int64(place), 20)
			require.NoError(t, err)
			require.Equal(t, want[place:min(place+20, len(want))], page.Entries)
			require.EqualValues(t, len(want), page.Total)
		}
	}
	sizes := numbers(t, b.db, "SELECT entries FROM score_ranges WHERE board = 1")
	assert.LessOrEqual(t, slices.Max(sizes), int(b.rangeSize))
	assert.LessOrEqual(t, len(sizes), min(recorded/int(b.rangeSize/2), len(want))+1, "ranges of %d entries", len(want))
}

// Ensure that every entry is found at its place, regardless of the scores and the order in which entries
// are added and removed, although the board is divided into ranges.
func TestBoards_Ranges(t *testing.T) {
	t.Parallel()
	random := rand.New(rand.NewPCG(1, 2))
	for name, score := range map[string]func(i int) int32{
		"equal": func(int) int32 { return 7 }, "rising": func(i int) int32 { return int32(i) },
		"falling": func(i int) int32 { return int32(-i) }, "random": func(int) int32 { return random.Int32N(50) },
	} {
		for order, sort := range map[string]func([]store.BoardEntry){
			"as recorded": func([]store.BoardEntry) {}, "reversed": slices.Reverse[[]store.BoardEntry],
			"shuffled": func(list []store.BoardEntry) {
				random.Shuffle(len(list), func(i, j int) { list[i], list[j] = list[j], list[i] })
			},
		} {
			t.Log(name + " " + order)
			b := newBoards(openDB(t, Options{Memory: true}))
			b.rangeSize = 8
			const recorded = 60
			list := fill(t, b, forever, recorded, score)
			requireBoard(t, b, recorded, slices.Clone(list))
			sort(list)
			for ; len(list) > 0; list = list[20:] {
				for _, e := range list[:20] {
					require.NoError(t, b.Hide(t.Context(), e.PlayerID))
				}
				requireBoard(t, b, recorded, slices.Clone(list[20:]))
			}
		}
	}
}

// Ensure that nothing is cleared if an error ends the transaction, as one of the disk does.
func TestBoards_ClearFails(t *testing.T) {
	t.Parallel()
	d := openDB(t, Options{Memory: true})
	b := newBoards(d)
	require.NoError(t, b.Record(t.Context(), store.BoardEntry{PlayerID: "a", Member: "a"}, forever))
	require.NoError(t, d.write(t.Context(), func(c *sqlite3.Conn) error {
		return exec(c, "CREATE TRIGGER fail BEFORE DELETE ON score_ranges BEGIN SELECT RAISE(ROLLBACK, 'failed'); END")
	}))
	require.ErrorContains(t, b.Clear(t.Context()), "failed")
	assert.Equal(t, []int{1}, numbers(t, d, "SELECT count(*) FROM scores"))
}
