package leaderboard

import (
	"fmt"
	"time"

	"github.com/gridstand/gridstand/server/internal/store"
)

// Window is the period that a board covers.
type Window uint8

// The windows of leaderboards. Weeks are ISO 8601 weeks, which begin on Monday. Weeks and
// days are in UTC.
const (
	All Window = iota
	Week
	Day
)

// keptFor is how long a weekly or daily board is kept after the week or day ends, for clients
// that are paging through it and for results that are recorded late because servers were down
// when the game ended.
const keptFor = 7 * 24 * time.Hour

// board identifies a leaderboard. All times in the same window yield equal values, so they
// can be compared with ==.
type board struct {
	variant string
	window  Window
	// start is the first day of the window in days since 1970, or 0 for all time.
	start int64
}

const secondsPerDay = 24 * 60 * 60

// boardAt returns the board that a result at time t belongs to.
func boardAt(variant string, window Window, t time.Time) board {
	b := board{variant: variant, window: window}
	if window == All {
		return b
	}
	t = t.UTC()
	b.start = time.Date(t.Year(), t.Month(), t.Day(), 0, 0, 0, 0, time.UTC).Unix() / secondsPerDay
	if window == Week {
		b.start -= int64(t.Weekday()+6) % 7 // number of days since Monday
	}
	return b
}

func (b board) startTime() time.Time { return time.Unix(b.start*secondsPerDay, 0).UTC() }

// name returns the window's name in the store.
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

// stored returns the board in its stored form.
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

// challengeWindow is the prefix of the name of the window for a challenge's standings. The
// challenge's id follows it.
const challengeWindow = "challenge-"

// challengeBoard returns the board with the standings of a challenge.
func challengeBoard(variant, challengeID string) store.Board {
	return store.Board{Variant: variant, Window: challengeWindow + challengeID}
}
