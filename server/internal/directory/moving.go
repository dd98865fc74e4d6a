package directory

import (
	"context"
	"time"

	"github.com/gridstand/gridstand/internal/convert"
	"github.com/gridstand/gridstand/server/internal/store"
)

const (
	// movingWithin is how long after its last event a game counts as being played.
	movingWithin = 30 * time.Second
	// recountAfter is how long a count is reused.
	recountAfter = time.Second
)

// Moving returns the number of public active games that had an event in the last 30 seconds.
// It queries the store at most once per second, and in between it returns the last count.
func (d *Directory) Moving(ctx context.Context) (int, error) {
	return d.moving.Get(ctx, struct{}{}, recountAfter, func() (int, error) { return d.MovedWithin(ctx, movingWithin) })
}

// MovedWithin returns the number of public active games that had an event within the given
// duration, by the store's clock.
func (d *Directory) MovedWithin(ctx context.Context, within time.Duration) (int, error) {
	return d.reads.Moving(ctx, within)
}

// Latest returns up to n public active games, those with the latest events first.
func (d *Directory) Latest(ctx context.Context, n int) ([]string, error) {
	places, err := d.page(ctx, store.List{Status: store.Active}, store.Place{}, n)
	return convert.All(places, func(place store.Place) string { return place.GameID }), err
}
