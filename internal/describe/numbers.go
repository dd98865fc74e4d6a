package describe

import (
	"fmt"
	"strconv"
	"time"

	"github.com/dustin/go-humanize"
	"github.com/dustin/go-humanize/english"

	pb "github.com/gridstand/gridstand/proto/gridstand/v1"
)

// integer is the constraint for the numbers that this package formats.
type integer interface{ int | int32 | int64 }

// Comma formats a number with thousands separators.
func Comma[N integer](n N) string { return humanize.Comma(int64(n)) }

// Plural formats a count and its noun, which is singular only for 1: "1 move", "1,025 moves".
func Plural[N integer](n N, thing string) string {
	return Comma(n) + " " + english.PluralWord(int(n), thing, "")
}

// bars are the levels of Bar.
var bars = []rune("▁▂▃▄▅▆▇█")

// Bar draws a score as a bar beside the highest one.
func Bar(score, highest int32) rune {
	return bars[int64(max(score, 0))*int64(len(bars)-1)/int64(max(highest, score, 1))]
}

// Watching formats the number of watchers of a game.
func Watching(n int32) string {
	if n > 0 {
		return fmt.Sprintf(words.Watching, Comma(n))
	}
	return words.NoWatchers
}

// Span formats an approximate duration: "13 min".
func Span(d time.Duration) string {
	switch {
	case d < time.Minute:
		return fmt.Sprintf("%d s", max(int(d.Seconds()), 0))
	case d < time.Hour:
		return fmt.Sprintf("%d min", int(d.Minutes()))
	case d < 48*time.Hour:
		return fmt.Sprintf("%d h", int(d.Hours()))
	default:
		return fmt.Sprintf("%d days", int(d.Hours()/24))
	}
}

// Until formats how long something will take, rounded up: "2 h 23 min", or "7 days" until the first
// of seven days has passed.
func Until(d time.Duration) string {
	unit := time.Second
	switch {
	case d >= 48*time.Hour:
		unit = 24 * time.Hour
	case d >= time.Minute:
		unit = time.Minute
	}
	up := (d + unit - 1).Truncate(unit)
	if minutes := up % time.Hour / time.Minute; up > time.Hour && minutes > 0 {
		return fmt.Sprintf("%s %d min", Span(up), minutes)
	}
	return Span(up)
}

// Ago formats roughly how long ago something happened.
func Ago(d time.Duration) string {
	if d < 2*time.Second {
		return words.JustNow
	}
	return fmt.Sprintf(words.Ago, Span(d))
}

// Column returns the label of a Tribolo column: 0–9, then letters.
func Column(x int32) string { return strconv.FormatInt(int64(x), 36) }

// Cell formats a cell as the Tribolo board labels it: "c,4" is column 12, row 4.
func Cell(c *pb.Cell) string { return fmt.Sprintf("%s,%d", Column(c.GetX()), c.GetY()) }
