package leaderboard

import (
	"fmt"
	"time"

	"github.com/gridstand/gridstand/server/internal/store"
)

// Window is the period that a board covers.
type Window uint8

// The windows. Weeks are those of ISO 8601, from Monday on; weeks and days go
// by UTC.
const (
	All Window = iota
	Week
	Day
)

// keptFor is how long the board of a week or day is kept after its end: for clients
// that are paging through it, and for results that are recorded late because the
// servers were down after the game's end.
const keptFor = 7 * 24 * time.Hour

// board is one board: comparable, and equal for all times in its window.
type board struct {
	variant string
	window  Window
	// start is the first day of a week or day, in days since 1970, and 0 for
	// all time.
	start int64
}

const secondsPerDay = 24 * 60 * 60

// boardAt returns the board to which a result of time t belongs.
func boardAt(variant string, window Window, t time.Time) board {
	b := board{variant: variant, window: window}
	if window == All {
		return b
	}
	t = t.UTC()
	b.start = time.Date(t.Year(), t.Month(), t.Day(), 0, 0, 0, 0, time.UTC).Unix() / secondsPerDay
	if window == Week {
		b.start -= int64(t.Weekday()+6) % 7 // Days since Monday.
	}
	return b
}

func (b board) startTime() time.Time { return time.Unix(b.start*secondsPerDay, 0).UTC() }

// name of the window in the store.
func (b board) name() string {
	switch b.window {
	case Week:
		year, week := b.startTime().ISOWeek()
		return fmt.Sprintf("week-%04d-W%02d", year, week)
	case Day:
		return b.startTime().Format("day-2006-01-02")
	default:
		return "all"
	}
}

// stored is the board in the store.
func (b board) stored() store.Board {
	s := store.Board{Variant: b.variant, Window: b.name()}
	switch b.window {
	case All:
	case Week:
		s.Expires = b.startTime().AddDate(0, 0, 7).Add(keptFor)
	case Day:
		s.Expires = b.startTime().AddDate(0, 0, 1).Add(keptFor)
	}
	return s
}
