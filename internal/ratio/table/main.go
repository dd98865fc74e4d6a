// Command table turns the output of comparing benchmarks (see internal/ratio) into one
// Markdown table:
//
//	go test -run '^$' -bench . -benchtime 1x ./... | go run ./internal/ratio/table
//
// It copies its input to standard error, so that a long run can be followed. It fails if a
// benchmark failed or the input contains no comparison.
package main

import (
	"bufio"
	"errors"
	"fmt"
	"io"
	"os"
	"strconv"
	"strings"

	"github.com/dustin/go-humanize"

	"github.com/gridstand/gridstand/internal/ratio"
)

func main() {
	if err := run(io.TeeReader(os.Stdin, os.Stderr), os.Stdout); err != nil {
		fmt.Fprintln(os.Stderr, "table:", err)
		os.Exit(1)
	}
}

// row is one comparison.
type row struct {
	name, unit string
	metrics    map[string]float64
}

func run(in io.Reader, out io.Writer) error {
	var rows []row
	failed := false
	lines := bufio.NewScanner(in)
	for lines.Scan() {
		line := lines.Text()
		if r, ok := parse(line); ok {
			rows = append(rows, r)
		}
		failed = failed || strings.HasPrefix(line, "FAIL") || strings.HasPrefix(line, "--- FAIL")
	}
	if err := lines.Err(); err != nil {
		return err
	}
	if len(rows) > 0 {
		fmt.Fprintf(out, "\n| what | ours | bare | ratio (%d rounds) | goal | |\n|---|---|---|---|---|---|\n", ratio.Rounds)
	}
	for _, r := range rows {
		fmt.Fprintln(out, r)
	}
	switch {
	case failed:
		return errors.New("a benchmark failed")
	case len(rows) == 0:
		return errors.New("nothing was compared")
	}
	return nil
}

// parse parses a line of benchmark results: the name, the number of iterations, and pairs of
// a figure and its unit. ok reports whether the line belongs to a comparison.
func parse(line string) (r row, ok bool) {
	fields := strings.Fields(line)
	if len(fields) < 2 || !strings.HasPrefix(fields[0], "Benchmark") {
		return row{}, false
	}
	r = row{name: title(fields[0]), metrics: make(map[string]float64)}
	for i := 2; i+1 < len(fields); i += 2 {
		figure, err := strconv.ParseFloat(fields[i], 64)
		if err != nil {
			return row{}, false
		}
		r.metrics[fields[i+1]] = figure
		if unit, isBare := strings.CutPrefix(fields[i+1], ratio.Bare); isBare {
			r.unit = unit
		}
	}
	_, compared := r.metrics[ratio.Median]
	return r, compared && r.unit != ""
}

// title returns a benchmark's name without the prefix "Benchmark" and the GOMAXPROCS suffix.
func title(name string) string {
	name = strings.TrimPrefix(name, "Benchmark")
	if i := strings.LastIndexByte(name, '-'); i > 0 {
		if _, err := strconv.Atoi(name[i+1:]); err == nil {
			name = name[:i]
		}
	}
	return strings.NewReplacer("_", " ", "/", ": ").Replace(name)
}

func (r row) String() string {
	m := r.metrics
	goal, met := "", ""
	if least, ok := m[ratio.GoalLeast]; ok {
		goal, met = "≥ "+number(least), verdict(m[ratio.Median] >= least)
	}
	if most, ok := m[ratio.GoalMost]; ok {
		goal, met = "≤ "+number(most), verdict(m[ratio.Median] <= most)
	}
	return fmt.Sprintf("| %s | %s %s | %s %s | %.2f (%.2f–%.2f) | %s | %s |", r.name,
		number(m[r.unit]), r.unit, number(m[ratio.Bare+r.unit]), r.unit,
		m[ratio.Median], m[ratio.Lowest], m[ratio.Highest], goal, met)
}

func verdict(met bool) string {
	if met {
		return "met"
	}
	return "missed"
}

// number formats a figure: without decimals from 100 on, otherwise with at most two.
func number(figure float64) string {
	switch {
	case figure >= 100:
		return humanize.Comma(int64(figure + 0.5))
	default:
		return humanize.FtoaWithDigits(figure, 2)
	}
}
