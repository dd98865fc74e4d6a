package directory

import (
	"context"
	"maps"
	"slices"
	"time"

	"github.com/gridstand/gridstand/game/replay"
	"github.com/gridstand/gridstand/server/internal/periodic"
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

// change is a game with a new event or a different number of watchers.
type change struct {
	state    *replay.State
	watchers int
}

// Touch queues a game that has a new event or a different number of watchers. Run writes its
// listing within a second. If a game is queued repeatedly, only its last listing is written.
// Touch never blocks.
func (d *Directory) Touch(state *replay.State, watchers int) {
	d.mu.Lock()
	defer d.mu.Unlock()
	if _, ok := d.pending[state.ID]; ok || len(d.pending) < maxPending {
		d.pending[state.ID] = change{state, watchers}
	}
}

// Mend queues a game that was found in the wrong place or on the wrong list, unless a newer
// listing of it is queued. Such errors are expected: if two servers append to a game within a
// second, the last one to write a listing may not have the latest state, and a crashed server
// does not write its listings. Mend never blocks.
func (d *Directory) Mend(state *replay.State, watchers int) {
	d.mu.Lock()
	defer d.mu.Unlock()
	if _, ok := d.pending[state.ID]; !ok && len(d.pending) < maxPending {
		d.pending[state.ID] = change{state, watchers}
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
	changes := slices.AppendSeq(make([]change, 0, len(d.pending)), maps.Values(d.pending))
	clear(d.pending)
	d.mu.Unlock()

	listings := make([]store.Listing, len(changes))
	for i, c := range changes {
		listings[i] = Of(c.state, c.watchers)
	}
	err := d.Enter(ctx, listings...)
	if err != nil {
		for _, c := range changes {
			d.Mend(c.state, c.watchers)
		}
	}
	return err
}
