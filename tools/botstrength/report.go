package main

import (
	"fmt"
	"io"
	"math"
	"slices"
	"strings"
)

// report prints rows as they are measured, and counts those that miss what was
// expected of them.
type report struct {
	out    io.Writer
	share  float64
	widths []int
	missed int
}

// games is the number of games to play where n are to be played in full.
func (r *report) games(n int) int { return max(1, int(math.Ceil(float64(n)*r.share))) }

// begin prints the head of a table: each column's title, its width given by
// blanks at its end.
func (r *report) begin(title string, columns ...string) {
	fmt.Fprintf(r.out, "\n%s\n\n", title)
	r.widths = nil
	for _, c := range columns {
		r.widths = append(r.widths, len([]rune(c)))
	}
	r.line(columns)
	r.line(make([]string, len(columns)), '-')
}

// row prints a row. What was expected and whether it holds come last.
func (r *report) row(expected string, holds bool, cells ...string) {
	verdict := "ok"
	switch {
	case expected == "":
		verdict = ""
	case !holds:
		verdict = "MISSED"
		r.missed++
	}
	r.line(append(cells, expected, verdict))
}

func (r *report) line(cells []string, fill ...rune) {
	var b strings.Builder
	for i, c := range cells {
		with := ' '
		if len(fill) > 0 {
			with = fill[0]
		}
		if i > 0 {
			b.WriteString(" | ")
		}
		b.WriteString(c)
		for n := len([]rune(c)); n < r.widths[i]; n++ {
			b.WriteRune(with)
		}
	}
	fmt.Fprintf(r.out, "| %s |\n", b.String())
}

// sample is a set of measured values.
type sample []float64

func (s sample) mean() float64 {
	var sum float64
	for _, x := range s {
		sum += x
	}
	return sum / float64(len(s))
}

// deviation is the standard deviation of the values.
func (s sample) deviation() float64 {
	if len(s) < 2 {
		return 0
	}
	mean, sum := s.mean(), 0.0
	for _, x := range s {
		sum += (x - mean) * (x - mean)
	}
	return math.Sqrt(sum / float64(len(s)-1))
}

// atLeast is the part of the values that are x or more.
func (s sample) atLeast(x float64) float64 {
	n := 0
	for _, y := range s {
		if y >= x {
			n++
		}
	}
	return float64(n) / float64(len(s))
}

func whole(x float64) string   { return fmt.Sprintf("%.0f", x) }
func percent(x float64) string { return fmt.Sprintf("%.1f %%", 100*x) }

// lowest is the least of the values.
func (s sample) lowest() float64 { return slices.Min(s) }
