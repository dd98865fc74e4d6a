// Package profile keeps what each player has achieved: the number of games, wins and best scores
// by variant, the days with daily games, the latest scores, and the latest races. A profile outlives
// its games.
//
// A game counts once, however often and in whatever order games are recorded: the profile lists
// the latest games by id. Once there are MaxLatest of them, it assumes that older games have been
// counted.
package profile

import (
	"cmp"
	"slices"
	"time"

	profilev1 "github.com/gridstand/gridstand/server/internal/profile/v1"
)

const (
	// MaxLatest is the maximum number of games that a profile lists.
	MaxLatest = 100
	// RecentDays is the number of days whose daily games a profile lists.
	RecentDays = 60
	// maxRuns limits the periods of consecutive days that a profile lists.
	maxRuns = 64
)

// add adds a game to a profile, and reports whether it had not been counted.
func add(p *profilev1.Profile, r Result) bool {
	if slices.ContainsFunc(p.GetLatest(), func(g *profilev1.Game) bool { return g.GetId() == r.GameID }) {
		return false
	}
	g := &profilev1.Game{Id: r.GameID, Variant: r.Variant, Score: r.Score, TimeMs: r.Time.UnixMilli()}
	if len(p.GetLatest()) >= MaxLatest && compareGames(g, p.GetLatest()[0]) < 0 {
		return false
	}
	v := variantOf(p, r.Variant)
	v.Games++
	if r.Won {
		v.Wins++
	}
	if r.Counts {
		raise(v, r.Score, r.GameID, g.GetTimeMs())
	}
	p.Latest = latest(append(p.GetLatest(), g))
	if r.Day != 0 {
		addDays(p, &profilev1.Run{First: r.Day, Days: 1})
		p.Dailies = recent(append(p.GetDailies(), &profilev1.Daily{Day: r.Day, Variant: r.Variant, Score: r.Score}))
	}
	return true
}

// variantOf returns the part of a profile for the given variant. It adds one that is missing.
func variantOf(p *profilev1.Profile, id string) *profilev1.Variant {
	for _, v := range p.GetVariants() {
		if v.GetId() == id {
			return v
		}
	}
	v := &profilev1.Variant{Id: id}
	p.Variants = append(p.Variants, v)
	return v
}

// raise replaces the best score if the given one is higher, or equal and earlier.
func raise(v *profilev1.Variant, score int32, gameID string, ms int64) {
	if score > v.GetBestScore() || score == v.GetBestScore() && score > 0 && ms < v.GetBestMs() {
		v.BestScore, v.BestGameId, v.BestMs = score, gameID, ms
	}
}

func compareGames(a, b *profilev1.Game) int {
	return cmp.Or(cmp.Compare(a.GetTimeMs(), b.GetTimeMs()), cmp.Compare(a.GetId(), b.GetId()))
}

// latest sorts games, and removes the oldest beyond MaxLatest.
func latest(games []*profilev1.Game) []*profilev1.Game {
	slices.SortFunc(games, compareGames)
	return games[max(0, len(games)-MaxLatest):]
}

// recent sorts results, and removes those of early days.
func recent(results []*profilev1.Daily) []*profilev1.Daily {
	slices.SortFunc(results, func(a, b *profilev1.Daily) int {
		return cmp.Or(cmp.Compare(a.GetDay(), b.GetDay()), cmp.Compare(a.GetVariant(), b.GetVariant()))
	})
	return slices.DeleteFunc(results, func(r *profilev1.Daily) bool { return r.GetDay() <= results[len(results)-1].GetDay()-RecentDays })
}

// addDays adds days with a daily game.
func addDays(p *profilev1.Profile, more *profilev1.Run) {
	var runs []*profilev1.Run
	all := append(slices.Clone(p.GetRuns()), more)
	slices.SortFunc(all, func(a, b *profilev1.Run) int { return cmp.Compare(a.GetFirst(), b.GetFirst()) })
	for _, r := range all {
		if n := len(runs); n > 0 && r.GetFirst() <= runs[n-1].GetFirst()+runs[n-1].GetDays() {
			last := runs[n-1]
			last.Days = max(last.GetDays(), r.GetFirst()+r.GetDays()-last.GetFirst())
		} else {
			runs = append(runs, &profilev1.Run{First: r.GetFirst(), Days: r.GetDays()})
		}
	}
	for _, r := range runs {
		p.LongestRun = max(p.GetLongestRun(), r.GetDays())
	}
	p.Runs = runs[max(0, len(runs)-maxRuns):]
}

const day = 24 * time.Hour

// DayOf returns the number of days from 1970-01-01 to the given time.
func DayOf(t time.Time) int32 { return int32(t.Unix() / int64(day/time.Second)) }

// Date returns the date of a day, such as 2026-11-21.
func Date(d int32) string { return time.Unix(0, 0).UTC().AddDate(0, 0, int(d)).Format(time.DateOnly) }

// Streak returns the number of consecutive days with a daily game up to today, or up to yesterday
// if there is none today yet.
func Streak(p *profilev1.Profile, today int32) int32 {
	if n := len(p.GetRuns()); n > 0 {
		if last := p.GetRuns()[n-1]; last.GetFirst()+last.GetDays() >= today {
			return last.GetDays()
		}
	}
	return 0
}
