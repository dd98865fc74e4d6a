package store

import (
	"context"
	"time"
)

// Status is the stage of a game. It only ever advances.
type Status uint8

// The statuses. AnyStatus is used only in List, where it matches all of them.
const (
	AnyStatus Status = iota
	Waiting
	Active
	Finished
)

// Listing is what the lists store about a game.
type Listing struct {
	// GameID is the game's ID, and Variant the ID of its variant.
	GameID, Variant string
	// Status is the game's status, never AnyStatus.
	Status Status
	// Score is the highest score among the seats.
	Score int32
	// Updated is the time of the game's last event.
	Updated time.Time
	// Watchers is the number of spectators on all servers.
	Watchers int
	// Private reports whether the game is listed only for its players. A private game may become public.
	Private bool
	// Players are the players with seats in the game and its creator, without duplicates,
	// in any order.
	Players []string
}

// Order is the sort order of a list. All orders are descending.
type Order uint8

// The orders. ByScore and ByWatchers list active games only. ByWatchers orders games with
// the same number of spectators by score.
const (
	Recent Order = iota
	ByScore
	ByWatchers
)

// List identifies a list of games.
type List struct {
	// Order must be Recent if PlayerID is set.
	Order Order
	// Status is the status of the listed games, used only if Order is Recent.
	Status Status
	// Variant is the variant of the listed games, "" for all variants.
	Variant string
	// PlayerID restricts the list to the games of one player, "" for all players. A
	// player's list contains all of the player's games: every status and variant, and
	// private games too.
	PlayerID string
}

// Rank returns the sort key of a game in the list. Lists are ordered by rank, and games
// with the same rank by ID, both descending.
func (l List) Rank(g Listing) int64 {
	switch {
	case l.PlayerID != "" || l.Order == Recent:
		return g.Updated.UnixMilli()
	case l.Order == ByScore:
		return int64(g.Score)
	default:
		// A float64 in Redis represents this rank exactly up to four million spectators.
		const maxWatchers = 1<<22 - 1
		return int64(max(0, min(g.Watchers, maxWatchers)))<<31 | int64(max(0, g.Score))
	}
}

// Place is a position in a list: the rank and ID of a game when it was read. The zero
// Place is the top of the list.
type Place struct {
	Rank   int64
	GameID string
}

// Lists stores the lists of games, which can be paged through. They may be out of date:
// callers look up each game, and correct its listing if necessary.
type Lists interface {
	// Write writes the listings of distinct games, in several steps if there are many.
	// It is safe to repeat. A listing older than the stored one does not move the game
	// back in time, but it may put the game back on lists of an earlier status, and
	// change its score and watchers. Depending on the engine, a finished game is removed when the
	// game itself expires, or when another one ends at least the duration keep after it (never
	// if keep is 0).
	Write(ctx context.Context, listings []Listing, keep time.Duration) error
	// Forget removes the given games, which no longer exist or are in quarantine, from the list
	// l. It may also remove them from other lists.
	Forget(ctx context.Context, l List, gameIDs ...string) error
	// Page returns up to n places after the given one. The game at that place may have
	// been removed or moved since.
	Page(ctx context.Context, l List, after Place, n int) ([]Place, error)
	// Moving returns the number of public active games that had an event within the
	// given duration before now, by the store's clock.
	Moving(ctx context.Context, within time.Duration) (int, error)
}
