package sqlite

import (
	"context"
	"errors"
	"fmt"
	"math/rand/v2"
	"slices"
	"sync/atomic"
	"testing"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
	sqlite3 "zombiezen.com/go/sqlite"

	"github.com/gridstand/gridstand/server/internal/store"
)

var (
	forever = store.Board{Variant: "classic", Window: "all"}
	errTest = errors.New("test error")
)

// openBoards opens a store whose boards are divided into small ranges.
func openBoards(t *testing.T, o Options) (*store.Store, boards) {
	t.Helper()
	o.Memory = true
	s, err := Open(o)
	require.NoError(t, err)
	t.Cleanup(func() { assert.NoError(t, s.Close()) })
	s = WithRangeSize(s, 8)
	return s, s.Boards.(boards)
}

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

// ranges returns the counts of the only board's ranges.
func ranges(t *testing.T, b boards) (sizes []int64) {
	t.Helper()
	require.NoError(t, b.read(t.Context(), func(c *sqlite3.Conn) error {
		return query(c, "SELECT entries FROM score_ranges ORDER BY score, member", func(s *sqlite3.Stmt) {
			sizes = append(sizes, s.ColumnInt64(0))
		})
	}))
	return sizes
}

// Ensure that neither the size nor the number of ranges exceeds its bound, regardless of
// the scores and the order in which entries are added and removed.
func TestBoards_Ranges(t *testing.T) {
	t.Parallel()
	if testing.Short() {
		t.Skip("too slow for -short")
	}
	const entries = 200
	for name, score := range map[string]func(i int) int32{
		"equal": func(int) int32 { return 7 }, "rising": func(i int) int32 { return int32(i) },
		"falling": func(i int) int32 { return int32(-i) }, "random": func(int) int32 { return rand.Int32N(50) },
	} {
		for order, sort := range map[string]func([]store.BoardEntry){
			"as recorded": func([]store.BoardEntry) {}, "reversed": slices.Reverse[[]store.BoardEntry],
			"shuffled": func(list []store.BoardEntry) {
				rand.Shuffle(len(list), func(i, j int) { list[i], list[j] = list[j], list[i] })
			},
		} {
			t.Run(name+" "+order, func(t *testing.T) {
				t.Parallel()
				_, b := openBoards(t, Options{})
				check := func(left int) {
					sizes := ranges(t, b)
					assert.LessOrEqual(t, slices.Max(sizes), b.rangeSize)
					assert.LessOrEqual(t, len(sizes), 2*left/int(b.rangeSize/4)+1, "ranges of %d entries", left)
					repair, err := b.Repair(t.Context())
					require.NoError(t, err)
					assert.Zero(t, repair)
				}
				list := fill(t, b, forever, entries, score)
				check(entries)
				sort(list)
				for left := entries; left > 0; left -= 50 {
					require.NoError(t, b.write(t.Context(), func(c *sqlite3.Conn) error {
						for _, e := range list[left-50 : left] {
							if err := b.remove(c, 1, e.PlayerID, rankKey{int64(e.Score), e.Member}); err != nil {
								return err
							}
						}
						return nil
					}))
					check(left - 50)
				}
			})
		}
	}
}

// Ensure that Repair finds and corrects all kinds of wrong counts.
func TestBoards_Repair(t *testing.T) {
	t.Parallel()
	for name, damage := range map[string]string{
		"total":         "UPDATE boards SET total = total + 1 WHERE board = 1",
		"a range":       "UPDATE score_ranges SET entries = entries + 1 WHERE board = 1 AND member = ''",
		"two ranges":    "UPDATE score_ranges SET entries = entries + CASE WHEN score > 50 THEN 1 ELSE -1 END WHERE board = 1",
		"lost ranges":   "DELETE FROM score_ranges WHERE board = 1 AND score > 50",
		"the lowest":    "DELETE FROM score_ranges WHERE board = 1 AND member = ''",
		"all":           "DELETE FROM score_ranges WHERE board = 1",
		"lost entries":  "DELETE FROM scores WHERE board = 1 AND score < 60",
		"wrong borders": "UPDATE score_ranges SET score = score + 1 WHERE board = 1 AND score > 50",
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			s, b := openBoards(t, Options{})
			fill(t, b, forever, 100, func(i int) int32 { return int32(i) })
			fill(t, b, store.Board{Variant: "tribolo", Window: "all"}, 1, func(int) int32 { return 1 })
			require.NoError(t, b.write(t.Context(), func(c *sqlite3.Conn) error {
				return exec(c, damage)
			}))
			for _, wrong := range []int{1, 0} {
				repair, err := s.Boards.Repair(t.Context())
				require.NoError(t, err)
				assert.Equal(t, store.BoardRepair{Recounted: wrong}, repair)
			}
			page, err := s.Boards.Page(t.Context(), forever, 0, 200)
			require.NoError(t, err)
			assert.Len(t, page.Entries, int(page.Total))
			for place, e := range page.Entries {
				rank, err := s.Boards.Rank(t.Context(), forever, e.PlayerID, 0)
				require.NoError(t, err)
				assert.EqualValues(t, place, rank.Place)
				at, err := s.Boards.Page(t.Context(), forever, int64(place), 1)
				require.NoError(t, err)
				assert.Equal(t, []store.BoardEntry{e}, at.Entries)
			}
		})
	}
}

// Ensure that the sweep removes all data of an expired board and no data of other boards.
func TestBoards_Sweep(t *testing.T) {
	t.Parallel()
	var ahead atomic.Int64
	s, b := openBoards(t, Options{Now: func() time.Time { return time.Now().Add(time.Duration(ahead.Load())) }})
	day := store.Board{Variant: "classic", Window: "day", Expires: time.Now().Add(time.Hour)}
	score := func(i int) int32 { return int32(i) }
	fill(t, b, day, 3*sweepRows+1, score)
	entries := fill(t, b, forever, 50, score)
	require.NoError(t, b.sweep(t.Context()))
	page, err := s.Boards.Page(t.Context(), day, 0, 1)
	require.NoError(t, err)
	assert.EqualValues(t, 3*sweepRows+1, page.Total)

	ahead.Store(int64(time.Hour))
	require.NoError(t, b.sweep(t.Context()))
	for table, want := range map[string]int{"boards": 1, "scores": len(entries), "score_ranges": len(ranges(t, b))} {
		n := 0
		require.NoError(t, b.read(t.Context(), func(c *sqlite3.Conn) error {
			return query(c, "SELECT count(*) FROM "+table+" WHERE board = 2", func(s *sqlite3.Stmt) {
				n = s.ColumnInt(0)
			})
		}))
		assert.Equal(t, want, n, table)
	}
	left := 0
	require.NoError(t, s.Boards.Boards(t.Context(), func(b store.Board) error {
		left++
		assert.Equal(t, forever, b)
		return nil
	}))
	assert.Equal(t, 1, left)
	require.NoError(t, s.Boards.Record(t.Context(), entries[0], day))
	require.NoError(t, s.Boards.Hide(t.Context(), entries[0].PlayerID))
	repair, err := s.Boards.Repair(t.Context())
	require.NoError(t, err)
	assert.Zero(t, repair)
}

// Ensure that a result is recorded on all boards or on none, and that the counts agree.
func TestBoards_Record_OneTransaction(t *testing.T) {
	t.Parallel()
	s, b := openBoards(t, Options{})
	other := store.Board{Variant: "classic", Window: "week"}
	fill(t, b, forever, 40, func(i int) int32 { return int32(i) })
	entry := store.BoardEntry{PlayerID: "p3", Score: 99, Member: "1:p3:g"}
	record := func(outcome error) error {
		return b.write(t.Context(), func(c *sqlite3.Conn) error {
			return then(t.Context(), c, func(ctx context.Context) error {
				if err := s.Boards.Record(ctx, entry, forever, other); err != nil {
					return err
				}
				rank, err := s.Boards.Rank(ctx, other, "p3", 0)
				assert.True(t, rank.Found, "not found within the transaction")
				return errors.Join(err, outcome)
			})
		})
	}
	for _, outcome := range []error{errTest, nil} {
		require.ErrorIs(t, record(outcome), outcome)
		for board, place := range map[store.Board]int64{forever: 36, other: 0} {
			rank, err := s.Boards.Rank(t.Context(), board, "p3", 0)
			require.NoError(t, err)
			assert.Equal(t, outcome == nil || board == forever, rank.Found)
			if outcome == nil {
				place = 0
			}
			assert.Equal(t, place, rank.Place)
		}
		repair, err := s.Boards.Repair(t.Context())
		require.NoError(t, err)
		assert.Zero(t, repair)
	}
}
