package sqlite

import (
	"errors"

	sqlite3 "zombiezen.com/go/sqlite"
)

// scoreRange is a part of a board: the entries from its key up to the key of the next
// range.
type scoreRange struct {
	from    rankKey
	entries int64
}

// rangeAt reads the columns score, member, entries.
func rangeAt(s *sqlite3.Stmt) scoreRange { return scoreRange{rankKeyAt(s, 0), s.ColumnInt64(2)} }

func insertRange(c *sqlite3.Conn, board int64, from rankKey, entries int64) error {
	return exec(c, "INSERT INTO score_ranges (board, score, member, entries) VALUES (?, ?, ?, ?)",
		board, from.score, from.member, entries)
}

// addEntries adds n to the count of the range that contains the given key, and returns that
// range.
func addEntries(c *sqlite3.Conn, board int64, at rankKey, n int64) (r scoreRange, err error) {
	r, _, err = one(c, `UPDATE score_ranges SET entries = entries + ?4 WHERE board = ?1 AND (score, member) = (
			SELECT score, member FROM score_ranges WHERE board = ?1 AND (score, member) <= (?2, ?3)
			ORDER BY score DESC, member DESC LIMIT 1)
		RETURNING score, member, entries`, rangeAt, board, at.score, at.member, n)
	return r, err
}

// count increments the count of the range that contains the given key. If the range has
// become too large, count splits it in half.
func (b boards) count(c *sqlite3.Conn, board int64, at rankKey) error {
	r, err := addEntries(c, board, at, 1)
	if err != nil || r.entries <= b.rangeSize {
		return err
	}
	low := r.entries / 2
	middle, found, err := keyAfter(c, board, r.from, low)
	if err != nil || !found {
		return err
	}
	if _, err := addEntries(c, board, r.from, low-r.entries); err != nil {
		return err
	}
	return insertRange(c, board, middle, r.entries-low)
}

// keyAfter skips n entries in ascending order, starting with the first one whose key is at
// least from, and returns the key of the next entry.
func keyAfter(c *sqlite3.Conn, board int64, from rankKey, n int64) (at rankKey, found bool, err error) {
	return one(c, `SELECT score, member FROM scores WHERE board = ? AND (score, member) >= (?, ?)
		ORDER BY score, member LIMIT 1 OFFSET ?`, firstRankKey, board, from.score, from.member, n)
}

// countAbove returns the number of entries whose key is greater than at.
func countAbove(c *sqlite3.Conn, board int64, at rankKey) (n int64, err error) {
	end, err := rangeAbove(c, board, at)
	if err != nil {
		return 0, err
	}
	// For the ranges, conditions on single columns take SQLite a quarter of the time of one on (score, member).
	return number(c, `SELECT (SELECT coalesce(sum(entries), 0) FROM score_ranges WHERE board = ?1 AND score > ?4)
		+ (SELECT coalesce(sum(entries), 0) FROM score_ranges WHERE board = ?1 AND score = ?4 AND member >= ?5)
		+ (SELECT count(*) FROM scores WHERE board = ?1 AND (score, member) > (?2, ?3) AND (score, member) < (?4, ?5))`,
		board, at.score, at.member, end.score, end.member)
}

// rangeAbove returns the start of the range above the one that contains the given key.
func rangeAbove(c *sqlite3.Conn, board int64, at rankKey) (above rankKey, err error) {
	above, found, err := one(c, `SELECT score, member FROM score_ranges WHERE board = ? AND (score, member) > (?, ?)
		ORDER BY score, member LIMIT 1`, firstRankKey, board, at.score, at.member)
	if !found {
		above = highestKey
	}
	return above, err
}

// seekPlace returns a key above the given place, and the number of entries between the
// two.
func seekPlace(c *sqlite3.Conn, board, place int64) (above rankKey, skip int64, err error) {
	s, err := c.Prepare("SELECT score, member, entries FROM score_ranges WHERE board = ? ORDER BY score DESC, member DESC")
	if err != nil {
		return rankKey{}, 0, err
	}
	s.BindInt64(1, board)
	for skip = place; ; {
		if more, err := s.Step(); err != nil || !more {
			return lowestKey, 0, err // the place is below the last entry
		}
		r := rangeAt(s)
		if r.entries > skip {
			above, err = rangeAbove(c, board, r.from)
			return above, skip, errors.Join(err, s.Reset())
		}
		skip -= r.entries
	}
}
