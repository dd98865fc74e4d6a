package sqlite

import (
	"cmp"
	"context"
	"encoding/json"
	"math"
	"time"

	sqlite3 "zombiezen.com/go/sqlite"

	"github.com/gridstand/gridstand/server/internal/store"
)

// boards implements store.Boards. Each board is divided into ranges with stored counts,
// so that an entry's place can be found without counting all entries above it: the counts
// of the ranges above are added up, and only the entries of one range are counted. Ranges
// are bounded by score and member, so they stay small even if all scores are equal. Ranges that lose
// entries are not merged, but one without entries becomes part of the range below it.
type boards struct {
	*db
	// rangeSize is the maximum number of entries in a range.
	rangeSize int64
}

// With ranges of this size, counting the entries of a range takes about as long as adding
// up the counts of the ranges that hold a million entries.
const rangeSize = 1024

func newBoards(d *db) boards { return boards{d, rangeSize} }

// rankKey is a position on a board. Boards are in descending order.
type rankKey struct {
	score  int64
	member string
}

// lowestKey is below all entries, and highestKey above all.
var lowestKey, highestKey = rankKey{score: math.MinInt64}, rankKey{score: math.MaxInt64}

func rankKeyAt(s *sqlite3.Stmt, column int) rankKey {
	return rankKey{s.ColumnInt64(column), s.ColumnText(column + 1)}
}

func firstRankKey(s *sqlite3.Stmt) rankKey { return rankKeyAt(s, 0) }

func (k rankKey) compare(other rankKey) int {
	return cmp.Or(cmp.Compare(k.score, other.score), cmp.Compare(k.member, other.member))
}

// scoreAt reads the columns player, score, member.
func scoreAt(s *sqlite3.Stmt) store.BoardEntry {
	return store.BoardEntry{PlayerID: s.ColumnText(0), Score: int32(s.ColumnInt64(1)), Member: s.ColumnText(2)}
}

// findBoard returns a board's number and its number of entries, or zeros if the board
// does not exist.
func findBoard(c *sqlite3.Conn, b store.Board, now time.Time) (board, total int64, err error) {
	err = query(c, "SELECT board, total FROM boards WHERE variant = ? AND name = ? AND (expires IS NULL OR expires > ?)",
		func(s *sqlite3.Stmt) {
			board, total = s.ColumnInt64(0), s.ColumnInt64(1)
		}, b.Variant, b.Window, now)
	return board, total, err
}

// scoreOf returns a player's position on a board.
func scoreOf(c *sqlite3.Conn, board int64, playerID string) (own rankKey, found bool, err error) {
	return one(c, "SELECT score, member FROM scores WHERE board = ? AND player = ?", firstRankKey, board, playerID)
}

// Record need not wait for the disk. The game's job, which repeats it, is removed later: if a power failure
// loses the entry, the job is back.
func (b boards) Record(ctx context.Context, entry store.BoardEntry, boards ...store.Board) error {
	return b.writeUnsynced(ctx, func(c *sqlite3.Conn) error {
		hidden, err := has(c, selectHidden, entry.PlayerID)
		if err != nil || hidden {
			return err
		}
		for _, board := range boards {
			if err := b.record(c, entry, board); err != nil {
				return err
			}
		}
		return nil
	})
}

func (b boards) record(c *sqlite3.Conn, entry store.BoardEntry, on store.Board) error {
	now := b.now()
	if !on.Expires.IsZero() && !on.Expires.After(now) {
		return nil
	}
	board, _, err := findBoard(c, on, now)
	if err != nil {
		return err
	}
	if board == 0 {
		err := exec(c, "INSERT INTO boards (variant, name, expires, total) VALUES (?, ?, ?, 0)", on.Variant, on.Window, on.Expires)
		if err != nil {
			return err
		}
		board = c.LastInsertRowID()
		if err := insertRange(c, board, lowestKey, 0); err != nil {
			return err
		}
	}
	at := rankKey{int64(entry.Score), entry.Member}
	old, found, err := scoreOf(c, board, entry.PlayerID)
	if err != nil || found && old.compare(at) >= 0 {
		return err
	}
	if found {
		if err := b.remove(c, board, entry.PlayerID, old); err != nil {
			return err
		}
	}
	if err := exec(c, "INSERT INTO scores (board, player, score, member) VALUES (?, ?, ?, ?)",
		board, entry.PlayerID, at.score, at.member); err != nil {
		return err
	}
	if err := exec(c, "UPDATE boards SET total = total + 1 WHERE board = ?", board); err != nil {
		return err
	}
	return b.count(c, board, at)
}

// remove removes an existing entry.
func (b boards) remove(c *sqlite3.Conn, board int64, playerID string, at rankKey) error {
	if err := exec(c, "DELETE FROM scores WHERE board = ? AND player = ?", board, playerID); err != nil {
		return err
	}
	if err := exec(c, "UPDATE boards SET total = total - 1 WHERE board = ?", board); err != nil {
		return err
	}
	r, err := addEntries(c, board, at, -1)
	if err == nil && r.entries == 0 && r.from != lowestKey {
		err = exec(c, "DELETE FROM score_ranges WHERE board = ? AND score = ? AND member = ?",
			board, r.from.score, r.from.member)
	}
	return err
}

func (b boards) Page(ctx context.Context, on store.Board, first int64, n int) (page store.BoardPage, err error) {
	err = b.read(ctx, func(c *sqlite3.Conn) error {
		board, total, err := findBoard(c, on, b.now())
		page = store.BoardPage{Total: total}
		if err != nil || first >= total {
			return err
		}
		above, skip, err := seekPlace(c, board, first)
		if err != nil {
			return err
		}
		page.Entries, err = all(c, `SELECT player, score, member FROM scores WHERE board = ? AND (score, member) < (?, ?)
			ORDER BY score DESC, member DESC LIMIT ? OFFSET ?`, scoreAt, board, above.score, above.member, n, skip)
		return err
	})
	return page, err
}

func (b boards) Place(ctx context.Context, on store.Board, playerID string) (place int64, found bool, err error) {
	err = b.read(ctx, func(c *sqlite3.Conn) error {
		found = false
		board, _, err := findBoard(c, on, b.now())
		if err != nil || board == 0 {
			return err
		}
		var own rankKey
		if own, found, err = scoreOf(c, board, playerID); found {
			place, err = countAbove(c, board, own)
		}
		return err
	})
	return place, found, err
}

func (b boards) AtLeast(ctx context.Context, on store.Board, scores ...int32) (counts []int64, err error) {
	err = b.read(ctx, func(c *sqlite3.Conn) error {
		counts = make([]int64, len(scores))
		board, _, err := findBoard(c, on, b.now())
		for i, score := range scores {
			if err == nil && board != 0 {
				counts[i], err = countAbove(c, board, rankKey{score: int64(score)}) // No member is empty.
			}
		}
		return err
	})
	return counts, err
}

func (b boards) Hide(ctx context.Context, playerID string) error {
	return b.write(ctx, func(c *sqlite3.Conn) error {
		if err := exec(c, "INSERT INTO hidden (player) VALUES (?) ON CONFLICT DO NOTHING", playerID); err != nil {
			return err
		}
		entries := map[int64]rankKey{}
		err := query(c, `SELECT s.board, s.score, s.member FROM boards b CROSS JOIN scores s ON s.board = b.board
			WHERE s.player = ? AND (b.expires IS NULL OR b.expires > ?)`,
			func(s *sqlite3.Stmt) { entries[s.ColumnInt64(0)] = rankKeyAt(s, 1) }, playerID, b.now())
		if err != nil {
			return err
		}
		for board, at := range entries {
			if err := b.remove(c, board, playerID, at); err != nil {
				return err
			}
		}
		return nil
	})
}

func (b boards) Unhide(ctx context.Context, playerID string) error {
	return b.write(ctx, func(c *sqlite3.Conn) error { return exec(c, "DELETE FROM hidden WHERE player = ?", playerID) })
}

const selectHidden = "SELECT 1 FROM hidden WHERE player = ?"

func (b boards) Hidden(ctx context.Context, playerIDs ...string) (map[string]bool, error) {
	hidden := map[string]bool{}
	ids, _ := json.Marshal(playerIDs) // cannot fail
	err := b.read(ctx, func(c *sqlite3.Conn) error {
		return query(c, "SELECT player FROM json_each(?) CROSS JOIN hidden ON player = value",
			func(s *sqlite3.Stmt) { hidden[firstText(s)] = true }, string(ids))
	})
	return hidden, err
}

func (b boards) Clear(ctx context.Context) error {
	return b.write(ctx, func(c *sqlite3.Conn) error {
		return execAll(c, []string{"DELETE FROM score_ranges", "DELETE FROM scores", "DELETE FROM boards"})
	})
}
