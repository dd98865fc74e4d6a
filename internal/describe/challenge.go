package describe

import (
	"fmt"
	"strings"
	"time"

	"github.com/dustin/go-humanize"

	pb "github.com/gridstand/gridstand/proto/gridstand/v1"
)

// usualVariant is the default variant, which titles omit.
const usualVariant = "classic"

// Challenge returns the title of a challenge: "Daily 2026-11-21", "Race of 3 min, vt100",
// "Challenge by ada, 90 s each", "Challenge: beat ada's 12,345". Player names are not sanitized; the caller must
// do that.
func Challenge(c *pb.Challenge) string {
	title := kindWords(c, " by "+c.GetCreator().GetName(),
		fmt.Sprintf(": beat %s's %s", c.GetTarget().GetPlayer().GetName(), Comma(c.GetTarget().GetScore())))
	return strings.ToUpper(title[:1]) + title[1:]
}

// kindWords describes a challenge: "daily 2026-11-21", "race of 3 min, vt100". It appends the
// parameter by for a link challenge, and the parameter goal for a rematch.
func kindWords(c *pb.Challenge, by, goal string) string {
	words := "challenge"
	switch c.GetKind() {
	case pb.ChallengeKind_CHALLENGE_KIND_DAILY:
		words = "daily " + c.GetDate()
	case pb.ChallengeKind_CHALLENGE_KIND_RACE:
		words = "race of " + Limit(c.GetLimit().AsDuration())
	case pb.ChallengeKind_CHALLENGE_KIND_LINK:
		words += by
		if limit := c.GetLimit().AsDuration(); limit > 0 {
			words += ", " + Limit(limit) + " each"
		}
	case pb.ChallengeKind_CHALLENGE_KIND_REMATCH:
		words += goal
	}
	if v := c.GetVariant(); v != usualVariant {
		words += ", " + v
	}
	return words
}

// DayBefore returns the day before that of a daily game, such as "2026-11-20".
func DayBefore(daily *pb.Challenge) string {
	return daily.GetOpenTime().AsTime().AddDate(0, 0, -1).Format(time.DateOnly)
}

// Limit formats the exact time limit of an attempt or a race: "3 min", "90 s".
func Limit(d time.Duration) string {
	switch {
	case d >= time.Hour && d%time.Hour == 0:
		return fmt.Sprintf("%d h", int(d/time.Hour))
	case d >= time.Minute && d%time.Minute == 0:
		return fmt.Sprintf("%d min", int(d/time.Minute))
	default:
		return fmt.Sprintf("%d s", int(d/time.Second))
	}
}

// Kept describes what happens to an attempt with the given score if the player gives up.
func Kept(score int32) string { return fmt.Sprintf(words.Kept, Plural(score, "point")) }

// Margin compares a score with the goal of a rematch, which is the score of the player named who:
// "beat ada by 120", "level with ada", "8 points behind ada".
func Margin(score, goal int32, who string) string {
	switch {
	case score > goal:
		return fmt.Sprintf(words.Beat, who, Comma(score-goal))
	case score == goal:
		return fmt.Sprintf(words.Level, who)
	default:
		return fmt.Sprintf(words.Behind, Plural(goal-score, "point"), who)
	}
}

// Tie explains the place of a player with this score in the results of a race if the first two results have
// the same score. It returns "" otherwise, and without points: such a race has no winner.
func Tie(results []*pb.Standing, score int32) string {
	if score == 0 || len(results) < 2 || results[0].GetScore() != score || results[1].GetScore() != score {
		return ""
	}
	return words.Tie
}

// Place formats the rank of an attempt among all attempts: "3rd of 87". It returns "" if the
// attempt has no rank.
func Place(rank, total int32) string {
	if rank < 1 {
		return ""
	}
	ordinal := humanize.Ordinal(int(rank)) // without thousands separators
	return Comma(rank) + ordinal[len(ordinal)-2:] + " of " + Comma(max(total, rank))
}

// Percentile formats the share of the other players that rank lower, as a whole percentage:
// "better than 93%". It returns "" for the first place, for less than one percent, and if
// the share is unknown.
func Percentile(rank, total int32) string {
	if rank < 2 || total <= rank {
		return ""
	}
	percent := int64(total-rank) * 100 / int64(total-1)
	if percent == 0 {
		return ""
	}
	return fmt.Sprintf("better than %d%%", percent)
}

// Streak formats the number of consecutive days on which a player has played the daily game:
// "5 days in a row". It returns "" for the first day.
func Streak(days int32) string {
	if days < 2 {
		return ""
	}
	return Comma(days) + " days in a row"
}
