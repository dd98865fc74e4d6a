package directory

import (
	"context"
	"maps"
	"slices"
	"time"

	"github.com/gridstand/gridstand/server/internal/store"
)

const (
	// writeEvery is how far the lists may lag behind a game's moves: a game
	// is written at most once in this time.
	writeEvery = time.Second
	// maxPending bounds the games that wait to be written. Games beyond it keep
	// their place in the lists until their next event.
	maxPending = 100_000
	// stopTimeout bounds the last write at shutdown.
	stopTimeout = 2 * time.Second
)

// Touch queues a listing, which Run writes within a second: for a game that moved or
// whose watchers changed. Only the last listing of a game is written. It never
// blocks.
func (d *Directory) Touch(listing store.Listing) {
	d.mu.Lock()
	defer d.mu.Unlock()
	if _, ok := d.pending[listing.GameID]; ok || len(d.pending) < maxPending {
		d.pending[listing.GameID] = listing
	}
}

// Mend queues listings of games that were found in the wrong place, or in a list to
// which they do not belong, unless newer ones are queued. Such games are normal:
// if a game moved on two servers within a second, the last one to write need not
// have the newer state, and a server that crashed wrote nothing. It never blocks.
func (d *Directory) Mend(listings ...store.Listing) {
	d.mu.Lock()
	defer d.mu.Unlock()
	for _, listing := range listings {
		if _, ok := d.pending[listing.GameID]; !ok && len(d.pending) < maxPending {
			d.pending[listing.GameID] = listing
		}
	}
}

// Run writes what Touch and Mend queue, until ctx ends and the rest is written. While
// the store is unavailable it retries. It is called once.
func (d *Directory) Run(ctx context.Context) {
	ticker := time.NewTicker(writeEvery)
	defer ticker.Stop()
	failing := false
	for {
		select {
		case <-ticker.C:
			err := d.flush(ctx)
			switch {
			case err != nil && !failing && ctx.Err() == nil:
				failing = true
				d.log.Warn("lists of games are not being written", "id", "lists-not-written", "error", err)
			case err == nil && failing:
				failing = false
				d.log.Info("lists of games are written again")
			}
		case <-ctx.Done():
			last, cancel := context.WithTimeout(context.WithoutCancel(ctx), stopTimeout)
			defer cancel()
			if err := d.flush(last); err != nil {
				d.log.Warn("lists of games miss what happened last", "id", "lists-behind", "error", err)
			}
			return
		}
	}
}

// flush writes what is pending. After an error the listings are pending again unless
// newer ones are.
func (d *Directory) flush(ctx context.Context) error {
	d.mu.Lock()
	listings := slices.AppendSeq(make([]store.Listing, 0, len(d.pending)), maps.Values(d.pending))
	clear(d.pending)
	d.mu.Unlock()

	if err := d.writes.Write(ctx, listings, d.keep); err != nil {
		d.Mend(listings...)
		return err
	}
	return nil
}
