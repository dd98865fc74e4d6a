package directory

import (
	"context"
	"maps"
	"slices"
	"time"

	"github.com/gridstand/gridstand/internal/convert"
	"github.com/gridstand/gridstand/internal/periodic"
	"github.com/gridstand/gridstand/server/internal/store"
)

const (
	// writeEvery is the interval between writes of queued listings. A game is written at most
	// once per interval, so the lists may lag behind its moves by this long.
	writeEvery = time.Second
	// maxPending limits the number of queued games. Games beyond the limit keep their positions
	// in the lists until their next event.
	maxPending = 100_000
	// stopTimeout limits the duration of the last write at shutdown.
	stopTimeout = 2 * time.Second
)

// Touch queues a game that has a new event or a different number of watchers. Run writes its listing
// within a second. If a game is queued repeatedly, it is written once. listing returns the listing when it
// is written, because a player may make many moves until then. Touch never blocks.
func (d *Directory) Touch(gameID string, listing func() store.Listing) {
	d.mu.Lock()
	defer d.mu.Unlock()
	if _, ok := d.pending[gameID]; ok || len(d.pending) < maxPending {
		d.pending[gameID] = listing
	}
}

// Mend queues listings of games that were found in the wrong place or on the wrong list,
// unless newer listings are queued. Such errors are expected: if two servers append to a
// game within a second, the last one to write a listing may not have the latest state, and
// a crashed server does not write its listings. Mend never blocks.
func (d *Directory) Mend(listings ...store.Listing) {
	d.mu.Lock()
	defer d.mu.Unlock()
	for _, listing := range listings {
		if _, ok := d.pending[listing.GameID]; !ok && len(d.pending) < maxPending {
			d.pending[listing.GameID] = func() store.Listing { return listing }
		}
	}
}

// Run writes the listings that Touch and Mend queue. When ctx is done, it writes the remaining
// listings and returns. It retries while the store is unavailable. It must be called only once.
func (d *Directory) Run(ctx context.Context) {
	failing := false
	periodic.Run(ctx, writeEvery, func() {
		err := d.flush(ctx)
		switch {
		case err != nil && !failing && ctx.Err() == nil:
			failing = true
			d.log.Warn("cannot write lists of games", "id", "lists-not-written", "error", err)
		case err == nil && failing:
			failing = false
			d.log.Info("lists of games can be written again")
		}
	})
	last, cancel := context.WithTimeout(context.WithoutCancel(ctx), stopTimeout)
	defer cancel()
	if err := d.flush(last); err != nil {
		d.log.Warn("cannot write the last changes to lists of games", "id", "lists-behind", "error", err)
	}
}

// flush writes the queued listings. After an error, it queues them again, except those of
// games with newer listings.
func (d *Directory) flush(ctx context.Context) error {
	d.mu.Lock()
	pending := slices.Collect(maps.Values(d.pending))
	clear(d.pending)
	d.mu.Unlock()

	listings := convert.All(pending, func(listing func() store.Listing) store.Listing { return listing() })
	if err := d.writes.Write(ctx, listings, d.keep); err != nil {
		d.Mend(listings...)
		return err
	}
	return nil
}
