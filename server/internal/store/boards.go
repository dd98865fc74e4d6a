package store

import (
	"context"
	"time"
)

// Board identifies a leaderboard. A player has at most one entry on a board.
type Board struct {
	// Variant is the variant of the games, and Window the name of the time window.
	Variant, Window string
	// Expires is the time at which the board is removed, in whole seconds, or zero if it
	// is kept forever. It is the same for all boards with the same variant and window.
	// Only Record reads it.
	Expires time.Time
}

// BoardEntry is an entry of a board. Boards are ordered by score, and entries with equal
// scores by member, both descending.
type BoardEntry struct {
	PlayerID string
	Score    int32
	// Member identifies the result. The caller chooses its content, but it must not be
	// empty, and must contain the player's ID between its first two colons. Entries with
	// equal scores are ordered by Member, byte by byte.
	Member string
}

// Boards stores the leaderboards. A board that has expired reads as empty.
type Boards interface {
	// Record puts an entry on the given boards. On each board it replaces the player's
	// entry if the new one ranks higher by score and member, so the order of calls does
	// not matter, and repeating them has no effect. Record ignores hidden players, and
	// does not recreate an expired board.
	Record(ctx context.Context, entry BoardEntry, boards ...Board) error
	// Page returns up to n entries (n is at least 1) starting at the given place (counted
	// from 0), together with the size of the board.
	Page(ctx context.Context, b Board, first int64, n int) (BoardPage, error)
	// Place returns the player's place, counted from 0, or false if the player is not on the board.
	Place(ctx context.Context, b Board, playerID string) (place int64, found bool, err error)

	// AtLeast returns for each of the given scores the number of entries that have at least that score.
	AtLeast(ctx context.Context, b Board, scores ...int32) ([]int64, error)

	// Hide removes the player's entries from all boards, and makes Record ignore the
	// player until Unhide is called. If it fails, repeat the call to complete it.
	Hide(ctx context.Context, playerID string) error
	// Unhide reverts Hide. It does not restore removed entries or results that Record
	// ignored.
	Unhide(ctx context.Context, playerID string) error
	// Hidden reports for each of the given players whether the player is hidden.
	Hidden(ctx context.Context, playerIDs ...string) (map[string]bool, error)

	// Clear removes all entries of all boards. It may miss entries that are added during the call.
	Clear(ctx context.Context) error
}

// BoardPage is a range of a board's entries.
type BoardPage struct {
	Entries []BoardEntry
	// Total is the number of entries on the board.
	Total int64
}
