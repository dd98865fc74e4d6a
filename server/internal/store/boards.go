package store

import (
	"context"
	"time"
)

// Board names a leaderboard. A player is on a board once.
type Board struct {
	// Variant of the games, and Window, the name of the time that it covers.
	Variant, Window string
	// Expires is when the board is removed, in whole seconds; zero for never.
	// Boards with the same variant and window have the same. Only Record reads it.
	Expires time.Time
}

// BoardEntry is one line of a board. Boards are ordered by score, and equal scores by
// member, both descending.
type BoardEntry struct {
	PlayerID string
	Score    int32
	// Member is what the caller keeps of the result. It orders equal scores byte by
	// byte, and is not empty. Between its first two colons is the player's id.
	Member string
}

// Boards are the leaderboards. A board that has expired reads like an empty one.
type Boards interface {
	// Record puts an entry on boards. On each it replaces the player's entry if that
	// is lower by score and member, so order and repetition of calls do not matter. A
	// player who is hidden is not put on a board, and a board that has expired is not
	// created again.
	Record(ctx context.Context, entry BoardEntry, boards ...Board) error
	// Page returns up to n entries, 1 at least, from a place on (the first is 0), how
	// many the board has, and the store's time.
	Page(ctx context.Context, b Board, first int64, n int) (BoardPage, error)
	// Rank returns a player's place, with up to that many entries directly above and
	// as many below.
	Rank(ctx context.Context, b Board, playerID string, neighbors int) (BoardRank, error)

	// Hide removes a player from all boards, and Record ignores the player until
	// Unhide. It can be repeated, which finishes it after an error.
	Hide(ctx context.Context, playerID string) error
	// Unhide ends Hide. What was not recorded in between is not on the boards.
	Unhide(ctx context.Context, playerID string) error
	// Hidden returns those of the players who are hidden; AnyHidden whether there are
	// any.
	Hidden(ctx context.Context, playerIDs ...string) (map[string]bool, error)
	AnyHidden(ctx context.Context) (bool, error)

	// Boards calls visit with every board that has entries. It stops at the first
	// error, also of visit.
	Boards(ctx context.Context, visit func(Board) error) error
	// Entries calls visit with the entries of a board in any order, some at a time. An
	// entry that stays there is visited at least once. It stops at the first error,
	// also of visit.
	Entries(ctx context.Context, b Board, visit func([]BoardEntry) error) error
	// Drop removes an entry from a board, and reports whether it was there.
	Drop(ctx context.Context, b Board, playerID, member string) (bool, error)
	// Repair compares what the engine keeps beside the entries of all boards, such as
	// counts, with the entries, and corrects it.
	Repair(ctx context.Context) (BoardRepair, error)
}

// BoardPage is a piece of a board.
type BoardPage struct {
	Entries []BoardEntry
	// Total is how many entries the board has.
	Total int64
	// Now is the store's time.
	Now time.Time
}

// BoardRank is a player's place on a board, and who is around it, all of one moment.
type BoardRank struct {
	// Now is the store's time.
	Now time.Time
	// Found is whether the player is on the board; the rest is zero otherwise.
	Found bool
	// Place of the player, and of the first of the entries, both from 0.
	Place, First int64
	// Entries are the player's own and those around it.
	Entries []BoardEntry
}

// BoardRepair is what Repair did.
type BoardRepair struct {
	// Removed is how many entries were removed that are not their player's best.
	Removed int
	// Recounted is how many boards had a wrong count.
	Recounted int
}
