// Command strength measures how well the bots play, over seeded games, and
// prints a table for each kind of measurement:
//
//	go run ./tools/botstrength [-share 1] [weak] [classic] [large] [tribolo] [budget]
//
// Without arguments it prints all of them, which takes the better part of an
// hour. Each row says what was expected of it; the exit status is 1 when a row
// misses that. Scores depend on nothing but the code, times on the machine.
package main

import (
	"context"
	"flag"
	"fmt"
	"os"
	"os/signal"
	"slices"
	"strings"
)

// table is a kind of measurement.
type table struct {
	name  string
	print func(context.Context, *report) error
}

// tables are in the order in which they are printed.
var tables = []table{
	{"weak", weak},
	{"classic", classic},
	{"large", large},
	{"tribolo", triboloGames},
	{"budget", budgets},
}

func main() {
	share := flag.Float64("share", 1, "part of the games to play, for a quicker and rougher look")
	flag.Usage = func() {
		names := make([]string, len(tables))
		for i, t := range tables {
			names[i] = t.name
		}
		fmt.Fprintf(flag.CommandLine.Output(), "usage: strength [flags] [table…]\ntables: %s\n", strings.Join(names, ", "))
		flag.PrintDefaults()
	}
	flag.Parse()
	ctx, stop := signal.NotifyContext(context.Background(), os.Interrupt)
	defer stop()
	missed, err := run(ctx, *share, flag.Args())
	if err != nil {
		fmt.Fprintln(os.Stderr, "strength:", err)
		os.Exit(2)
	}
	if missed > 0 {
		fmt.Fprintf(os.Stderr, "strength: %d rows miss what was expected\n", missed)
		os.Exit(1)
	}
}

// run prints the named tables, all if there are none, and returns how many rows
// miss what was expected of them.
func run(ctx context.Context, share float64, names []string) (missed int, err error) {
	if share <= 0 || share > 1 {
		return 0, fmt.Errorf("share: %v is not above 0 and up to 1", share)
	}
	for _, name := range names {
		if !slices.ContainsFunc(tables, func(t table) bool { return t.name == name }) {
			return 0, fmt.Errorf("no table %q", name)
		}
	}
	r := &report{out: os.Stdout, share: share}
	for _, t := range tables {
		if len(names) > 0 && !slices.Contains(names, t.name) {
			continue
		}
		if err := t.print(ctx, r); err != nil {
			return r.missed, fmt.Errorf("%s: %w", t.name, err)
		}
	}
	return r.missed, nil
}
