// Package directory maintains lists of games: the latest, the best and the most watched
// games, and the games of each player.
//
// The lists are only hints, because they are written up to a second after the log, and a
// server may crash in between. A reader looks up each game, omits those that do not belong
// to the list, and corrects the list with Mend and Forget. Unless documented otherwise,
// errors come from the store or the context.
//
// Put writes a listing at once, and readers on this server see it at once; Enter only writes it. Touch
// writes it within a second, and so does Mend, unless a newer one is queued.
package directory

import (
	"context"
	"log/slog"
	"slices"
	"sync"
	"sync/atomic"
	"time"

	"github.com/gridstand/gridstand/game/replay"
	"github.com/gridstand/gridstand/internal/id"
	"github.com/gridstand/gridstand/server/internal/cached"
	"github.com/gridstand/gridstand/server/internal/challenge"
	"github.com/gridstand/gridstand/server/internal/gamelog"
	"github.com/gridstand/gridstand/server/internal/page"
	"github.com/gridstand/gridstand/server/internal/store"
)

// Directory manages the lists in a store. It is safe for concurrent use.
type Directory struct {
	writes store.Lists
	reads  store.Lists // for reading pages and counts; see New
	tokens *page.Tokens
	keep   time.Duration
	log    *slog.Logger

	moving cached.Reads[struct{}, int] // see Moving

	changes atomic.Int64 // counts changes of lists that their readers must see at once

	mu sync.Mutex
	// pending contains the queued listings, by game.
	pending map[string]func() store.Listing
}

// New returns a Directory. It reads pages through reads, which may be the same as writes, or
// the same lists on separate connections so that reads do not delay writes. Finished games that have had
// no event for the duration keep may be removed from the lists, so keep must be at least as long
// as finished games are kept and as unfinished games may be idle. If keep is 0, none are
// removed. Background errors are logged to log.
func New(writes, reads store.Lists, tokens *page.Tokens, keep time.Duration, log *slog.Logger) *Directory {
	return &Directory{
		writes: writes, reads: reads, tokens: tokens, keep: keep, log: log,
		pending: map[string]func() store.Listing{},
	}
}

// Of returns the listing of a game with state s. Attempts that are hidden while their challenge
// is open are listed like private games, and so are those at a race without a move: the race may not be open.
func Of(s *replay.State, watchers int) store.Listing {
	unopened := s.Attempt.Kind == replay.Race && s.Version == 1
	l := store.Listing{
		GameID: s.ID, Variant: s.Variant.ID, Status: store.Status(s.Status),
		Score: slices.Max(s.Position.Scores()), Updated: s.UpdateTime,
		Watchers: watchers, Private: s.Private || unopened || challenge.Embargoed(s.Attempt.Kind),
	}
	add := func(playerID string) {
		if id.Valid(playerID) && !slices.Contains(l.Players, playerID) {
			l.Players = append(l.Players, playerID)
		}
	}
	if s.Attempt.ChallengeID == "" { // The attempts of a race's bots do not belong to the race's creator.
		add(s.Creator.ID)
	}
	for _, seat := range s.Seats {
		add(seat.Player.ID)
	}
	return l
}

// PlayersOf returns the ids of the players of games, for those whose heads could be read.
func PlayersOf(heads []gamelog.Head) (players []string) {
	for _, head := range heads {
		if head.State != nil {
			players = append(players, Of(head.State, 0).Players...)
		}
	}
	return players
}

// Put immediately writes the listing of a new game, or of a game whose status or players have
// changed, and makes Shared read its pages again. It drops the game's queued listing, if any. It is
// idempotent, so it may be retried after an error.
func (d *Directory) Put(ctx context.Context, listing store.Listing) error {
	d.mu.Lock()
	delete(d.pending, listing.GameID)
	d.mu.Unlock()
	defer d.changes.Add(1)
	return d.Enter(ctx, listing)
}

// Enter immediately writes the given listings, each of a different game, in case they are missing.
// It does not affect queued listings or replace newer listings. It is idempotent.
func (d *Directory) Enter(ctx context.Context, listings ...store.Listing) error {
	return d.writes.Write(ctx, listings, d.keep)
}

// Forget removes games that no longer exist or are in quarantine from a list.
func (d *Directory) Forget(ctx context.Context, l store.List, gameIDs ...string) error {
	return d.writes.Forget(ctx, l, gameIDs...)
}
