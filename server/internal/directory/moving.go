package directory

import (
	"context"
	"fmt"
	"time"
)

const (
	// movingWithin is the time since its last event in which a game counts as moving.
	movingWithin = 30 * time.Second
	// recountAfter is how long a count is used.
	recountAfter = time.Second
)

// movingGames is how many games moved when they were counted.
type movingGames struct {
	games int
	at    time.Time
}

// Moving returns how many public active games had an event in the last 30 seconds. It
// asks the store once a second at most; in between, and while another call asks, it
// returns the last answer.
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
	if latest := d.moving.Load(); latest != last { // counted while this call waited
		return latest.games, nil
	}
	games, err := d.MovedWithin(ctx, movingWithin)
	if err != nil {
		return 0, err
	}
	d.moving.Store(&movingGames{games, time.Now()})
	return games, nil
}

// MovedWithin returns how many public active games had an event within a duration, by
// the store's clock.
func (d *Directory) MovedWithin(ctx context.Context, within time.Duration) (int, error) {
	games, err := d.reads.Moving(ctx, within)
	if err != nil {
		return 0, fmt.Errorf("counting the games that move: %w", err)
	}
	return games, nil
}
