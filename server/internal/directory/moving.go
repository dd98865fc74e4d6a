package directory

import (
	"context"
	"time"

	"github.com/gridstand/gridstand/server/internal/store"
)

const (
	// movingWithin is how long after its last event a game counts as being played.
	movingWithin = 30 * time.Second
	// recountAfter is how long a count is reused.
	recountAfter = time.Second
)

// movingGames is a count of the games that are being played.
type movingGames struct {
	games int
	at    time.Time
}

// Moving returns the number of public active games that had an event in the last 30 seconds.
// It queries the store at most once per second. In between, and while another call is
// querying the store, it returns the last count.
func (d *Directory) Moving(ctx context.Context) (int, error) {
	last := d.moving.Load()
	if last != nil && (time.Since(last.at) < recountAfter || !d.counting.TryAcquire(1)) {
		return last.games, nil
	}
	if last == nil {
		if err := d.counting.Acquire(ctx, 1); err != nil {
			return 0, err
		}
	}
	defer d.counting.Release(1)
	if latest := d.moving.Load(); latest != last { // Another call has counted the games while this one waited.
		return latest.games, nil
	}
	games, err := d.MovedWithin(ctx, movingWithin)
	if err != nil {
		return 0, err
	}
	d.moving.Store(&movingGames{games, time.Now()})
	return games, nil
}

// MovedWithin returns the number of public active games that had an event within the given
// duration, by the store's clock.
func (d *Directory) MovedWithin(ctx context.Context, within time.Duration) (int, error) {
	return d.reads.Moving(ctx, within)
}

// Latest returns up to n public active games, those with the latest events first.
func (d *Directory) Latest(ctx context.Context, n int) ([]string, error) {
	places, err := d.page(ctx, store.List{Status: store.Active}, store.Place{}, n)
	ids := make([]string, len(places))
	for i, place := range places {
		ids[i] = place.GameID
	}
	return ids, err
}
