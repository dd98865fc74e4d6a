// Package directory keeps the lists of games that can be paged through: the
// latest, the best and the most watched ones, and those of each player.
//
// The lists are hints: they are written beside the log, up to a second late, and a
// server may crash in between. A reader looks each game up, leaves out those that do
// not belong in the list, and corrects the list with Mend and Forget. Errors are
// the store's or the context's, wrapped, unless stated otherwise.
package directory

import (
	"context"
	"fmt"
	"log/slog"
	"slices"
	"sync"
	"sync/atomic"
	"time"

	"golang.org/x/sync/semaphore"

	"github.com/gridstand/gridstand/game/replay"
	"github.com/gridstand/gridstand/internal/id"
	"github.com/gridstand/gridstand/server/internal/page"
	"github.com/gridstand/gridstand/server/internal/store"
)

// Directory is the lists in one store. All methods may be called concurrently.
type Directory struct {
	writes store.Lists
	reads  store.Lists // for Collect
	tokens *page.Tokens
	keep   time.Duration
	log    *slog.Logger

	moving   atomic.Pointer[movingGames] // nil before the first count
	counting *semaphore.Weighted         // held while games are counted

	mu sync.Mutex
	// pending listings of Touch, by game, that Run has yet to write.
	pending map[string]store.Listing
}

// New returns a directory. Pages are read through reads, which may be writes or the
// same lists over other connections, so that reads do not delay writes. Games without
// an event for the duration of keep are removed, so keep must be no shorter than the
// time for which finished games are kept and unfinished ones may be idle; 0 removes
// none. Errors in the background are logged to log.
func New(writes, reads store.Lists, tokens *page.Tokens, keep time.Duration, log *slog.Logger) *Directory {
	return &Directory{
		writes: writes, reads: reads, tokens: tokens, keep: keep, log: log,
		counting: semaphore.NewWeighted(1),
		pending:  map[string]store.Listing{},
	}
}

// Of is the listing of a game at a state.
func Of(s *replay.State, watchers int) store.Listing {
	l := store.Listing{
		GameID: s.ID, Variant: s.Variant.ID, Status: store.Status(s.Status),
		Score: slices.Max(s.Position.Scores()), Updated: s.UpdateTime,
		Watchers: watchers, Private: s.Private,
	}
	add := func(playerID string) {
		if id.Valid(playerID) && !slices.Contains(l.Players, playerID) {
			l.Players = append(l.Players, playerID)
		}
	}
	add(s.Creator.ID)
	for _, seat := range s.Seats {
		add(seat.Player.ID)
	}
	return l
}

// Put writes a listing now: for a game that is new, or whose status or players
// changed. It is idempotent, so it may be retried after an error. It replaces what
// Touch queued before.
func (d *Directory) Put(ctx context.Context, listing store.Listing) error {
	d.drop(listing.GameID)
	if err := d.writes.Write(ctx, []store.Listing{listing}, d.keep); err != nil {
		return fmt.Errorf("listing a game: %w", err)
	}
	return nil
}

// Enter writes listings of different games now but leaves newer ones queued, and moves
// no game back. It is idempotent.
func (d *Directory) Enter(ctx context.Context, listings []store.Listing) error {
	if err := d.writes.Write(ctx, listings, d.keep); err != nil {
		return fmt.Errorf("listing games: %w", err)
	}
	return nil
}

// Remove removes a game from all lists.
func (d *Directory) Remove(ctx context.Context, l store.Listing) error {
	d.drop(l.GameID)
	if err := d.writes.Remove(ctx, l); err != nil {
		return fmt.Errorf("taking a game off the lists: %w", err)
	}
	return nil
}

// drop drops what is queued for a game.
func (d *Directory) drop(gameID string) {
	d.mu.Lock()
	defer d.mu.Unlock()
	delete(d.pending, gameID)
}

// Forget removes games that no longer exist from a list.
func (d *Directory) Forget(ctx context.Context, l store.List, gameIDs ...string) error {
	if err := d.writes.Forget(ctx, l, gameIDs...); err != nil {
		return fmt.Errorf("forgetting games: %w", err)
	}
	return nil
}

// Trim removes games without an event for the duration of keep from the lists of the
// variants.
func (d *Directory) Trim(ctx context.Context, variants []string) error {
	if err := d.writes.Trim(ctx, variants, d.keep); err != nil {
		return fmt.Errorf("trimming the lists: %w", err)
	}
	return nil
}
