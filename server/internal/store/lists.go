package store

import (
	"context"
	"time"
)

// Status is the stage that a game has reached. It only grows.
type Status uint8

// The statuses. AnyStatus is for lists.
const (
	AnyStatus Status = iota
	Waiting
	Active
	Finished
)

// Listing is what the lists store about a game.
type Listing struct {
	// GameID and Variant of the game.
	GameID, Variant string
	// Status of the game, not AnyStatus.
	Status Status
	// Score of its highest seat.
	Score int32
	// Updated is the time of its last event.
	Updated time.Time
	// Watchers on all servers.
	Watchers int
	// Private games are listed for their players only.
	Private bool
	// Players who have seats in it, and its creator, once each and in any order.
	Players []string
}

// Order is the order of a list, always descending.
type Order uint8

// The orders. ByScore and ByWatchers list active games only, and of equally
// watched games ByWatchers lists the one with the higher score first.
const (
	Recent Order = iota
	ByScore
	ByWatchers
)

// List names a list of games.
type List struct {
	// Order of the list. With a player it is Recent.
	Order Order
	// Status of the games, for the order Recent.
	Status Status
	// Variant of the games, "" for any.
	Variant string
	// PlayerID of one of their players, "" for any. The list of a player has all of
	// the player's games, of every status and variant, also private ones.
	PlayerID string
}

// Rank is the sort key of a game in the list, which is in descending order of rank,
// and of games of the same rank in descending order of id.
func (l List) Rank(g Listing) int64 {
	switch {
	case l.PlayerID != "" || l.Order == Recent:
		return g.Updated.UnixMilli()
	case l.Order == ByScore:
		return int64(g.Score)
	default:
		// A float64 of Redis holds this exactly up to four million watchers.
		const maxWatchers = 1<<22 - 1
		return int64(max(0, min(g.Watchers, maxWatchers)))<<31 | int64(max(0, g.Score))
	}
}

// Place is a position in a list: that of a game when it was read. The zero Place is
// the top.
type Place struct {
	Rank   int64
	GameID string
}

// Lists are the lists of games that can be paged through. They are hints: a caller
// looks each game up, and corrects the lists.
type Lists interface {
	// Write writes the listings of different games, in several steps if they are
	// many. It can be repeated. A listing that is older than what was written before
	// does not move the game back in time; it may bring it back to lists of an earlier
	// status, and change its score and watchers. A game is removed without an event
	// for keep, 0 for never.
	Write(ctx context.Context, listings []Listing, keep time.Duration) error
	// Remove removes a game from all lists.
	Remove(ctx context.Context, l Listing) error
	// Forget removes games that no longer exist from a list. It may remove them from
	// other lists, too.
	Forget(ctx context.Context, l List, gameIDs ...string) error
	// Page returns up to n places that follow a place, even if its game was removed
	// or moved.
	Page(ctx context.Context, l List, after Place, n int) ([]Place, error)
	// Moving returns how many public active games had an event within a duration, by
	// the store's clock.
	Moving(ctx context.Context, within time.Duration) (int, error)
	// Trim removes games that had no event for keep from all lists; 0 removes none. It
	// may leave players' lists as they are, and games that are not over. variants are
	// all that exist.
	Trim(ctx context.Context, variants []string, keep time.Duration) error
}
