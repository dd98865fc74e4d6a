package challenge

import (
	"context"
	"slices"
	"time"

	"github.com/gridstand/gridstand/game/replay"
	"github.com/gridstand/gridstand/internal/id"
	"github.com/gridstand/gridstand/server/internal/invalid"
)

// DateFormat is the format of Challenge.Date.
const DateFormat = time.DateOnly

// DailyID returns the id of the daily game for the given variant and date.
func DailyID(variant, date string) string {
	return id.Derive([]byte("daily"), []byte(variant), []byte(date))
}

// Daily returns the daily game for the given variant and date, and the next day's if it exists.
// An empty date means today; the error for a malformed one is an *invalid.Error. If necessary, Daily creates
// today's and tomorrow's games.
func (s *Challenges) Daily(ctx context.Context, variant, date string) (c, next *Challenge, now time.Time, err error) {
	if variant == "" && len(s.Dailies) > 0 {
		variant = s.Dailies[0]
	}
	if !slices.Contains(s.Dailies, variant) {
		return nil, nil, now, ErrNoDaily
	}
	// Get the store's time first, because the store's clock determines today's date.
	if _, now, err = s.readAll(ctx); err != nil {
		return nil, nil, now, err
	}
	today := now.UTC().Truncate(24 * time.Hour)
	day := today
	if date != "" {
		if day, err = time.Parse(DateFormat, date); err != nil {
			return nil, nil, now, invalid.Field("daily.date", "must be a day such as %s, or empty for today", DateFormat)
		}
	}
	days := [2]time.Time{day, day.AddDate(0, 0, 1)}
	ids := [2]string{DailyID(variant, days[0].Format(DateFormat)), DailyID(variant, days[1].Format(DateFormat))}
	found, _, err := s.readAll(ctx, ids[:]...)
	if err != nil {
		return nil, nil, now, err
	}
	var both [2]*Challenge
	for i, d := range days {
		if n := slices.IndexFunc(found, func(c *Challenge) bool { return c.OpenTime.Equal(d) }); n >= 0 {
			both[i] = found[n]
		} else if !d.Before(today) && !d.After(today.AddDate(0, 0, 1)) {
			daily := Challenge{ID: ids[i], Kind: replay.Daily, Variant: variant, OpenTime: d}
			if both[i], err = s.Create(ctx, daily, now); err != nil {
				return nil, nil, now, err
			}
		}
	}
	if both[0] == nil {
		err = ErrNoDay
	}
	return both[0], both[1], now, err
}

// DayStreak returns the streak of a player who begins the given daily game: the streak of the
// previous day's attempt plus one.
func (s *Challenges) DayStreak(ctx context.Context, c *Challenge, playerID string) (int32, error) {
	before := AttemptID(DailyID(c.Variant, c.OpenTime.AddDate(0, 0, -1).Format(DateFormat)), playerID)
	head, err := s.Log.Head(ctx, before)
	if err != nil || head.State == nil {
		return 1, err
	}
	return head.State.Attempt.DayStreak + 1, nil
}
