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

// Board identifies a leaderboard of a variant or, if ChallengeID is set, the standings of a challenge.
type Board struct {
	Variant     string
	Window      Window
	ChallengeID string
}

const secondsPerDay = 24 * 60 * 60

// stored returns the board that a result at time t belongs to, in its stored form, and the first day of
// its window in days since 1970. That is 0 for the standings of a challenge, which have no Expires, and for
// all time; both do not depend on t.
func (b Board) stored(t time.Time) (s store.Board, start int64) {
	t = t.UTC()
	first := time.Date(t.Year(), t.Month(), t.Day(), 0, 0, 0, 0, time.UTC)
	switch {
	case b.ChallengeID != "":
		return store.Board{Variant: b.Variant, Window: "challenge-" + b.ChallengeID}, 0
	case b.Window == Week:
		first = first.AddDate(0, 0, -int(t.Weekday()+6)%7) // Monday
		year, week := first.ISOWeek()
		s.Window, s.Expires = fmt.Sprintf("week-%04d-W%02d", year, week), first.AddDate(0, 0, 7).Add(keptFor)
	case b.Window == Day:
		s.Window, s.Expires = first.Format("day-2006-01-02"), first.AddDate(0, 0, 1).Add(keptFor)
	default:
		return store.Board{Variant: b.Variant, Window: "all"}, 0
	}
	s.Variant = b.Variant
	return s, first.Unix() / secondsPerDay
}

// query returns what the page tokens of the board are bound to.
func (b Board) query() string {
	if b.ChallengeID != "" {
		return "standings " + b.ChallengeID
	}
	return fmt.Sprintf("scores %d %s", b.Window, b.Variant)
}
