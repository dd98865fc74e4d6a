package directory

import (
	"context"
	"maps"
	"slices"
	"time"
)

const (
	// writeEvery is how far the lists may lag behind a game's moves, and so
	// the most often that a game's moves cost a write.
	writeEvery = time.Second
	// maxPending bounds the games that wait to be written. Games beyond it are
	// listed where they were until their next event.
	maxPending = 100_000
	// batchSize bounds a pipeline, so that no other command waits long.
	batchSize = 500
	// stopTimeout bounds the last write of a server that stops.
	stopTimeout = 2 * time.Second
)

// Touch has Run write a listing within a second, for a game that moved or
// whose watchers changed. Only the last listing of a game is written. It never
// waits.
func (d *Directory) Touch(listing Listing) {
	d.mu.Lock()
	defer d.mu.Unlock()
	if _, ok := d.pending[listing.GameID]; ok || len(d.pending) < maxPending {
		d.pending[listing.GameID] = listing
	}
}

// Mend has Run write the listing of a game that was found in the wrong place, or
// in a list to which it does not belong, unless something newer is to be written
// anyway. Of two servers on which a game moved
// within a second the one that writes last need not be the one that knows more,
// and one that died wrote nothing. It never waits.
func (d *Directory) Mend(listing Listing) {
	d.mu.Lock()
	defer d.mu.Unlock()
	d.putBack(listing)
}

// putBack makes a listing pending unless a newer one is. d.mu is held.
func (d *Directory) putBack(listing Listing) {
	if _, ok := d.pending[listing.GameID]; !ok && len(d.pending) < maxPending {
		d.pending[listing.GameID] = listing
	}
}

// Run writes what Touch and Mend collect, until ctx ends and the last of it is
// written. While Redis is away it goes on trying. It is to be called once.
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

// flush writes what is pending. After an error what was not written, and has
// not been touched anew, is pending again.
func (d *Directory) flush(ctx context.Context) error {
	d.mu.Lock()
	listings := slices.AppendSeq(make([]Listing, 0, len(d.pending)), maps.Values(d.pending))
	clear(d.pending)
	d.mu.Unlock()

	for len(listings) > 0 {
		batch := listings[:min(batchSize, len(listings))]
		if err := d.write(ctx, batch); err != nil {
			d.restore(listings)
			return err
		}
		listings = listings[len(batch):]
	}
	return nil
}

// restore makes listings pending again unless newer ones are.
func (d *Directory) restore(listings []Listing) {
	d.mu.Lock()
	defer d.mu.Unlock()
	for _, listing := range listings {
		d.putBack(listing)
	}
}
