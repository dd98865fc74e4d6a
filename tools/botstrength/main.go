// Command botstrength measures over seeded games how well the bots play, and
// whether they keep to their time, and prints Markdown tables:
//
//	go run ./tools/botstrength [-share 1] [weak] [classic] [large] [tribolo] [budget]
//
// Without arguments it prints all of them, which takes the better part of an
// hour. Each row says what was expected of it; the exit status is 1 if a row
// misses that. Scores depend on nothing but the code, times on the machine.
package main

import (
	"context"
	"flag"
	"fmt"
	"math"
	"os"
	"os/signal"
	"slices"
	"strings"
	"time"

	"github.com/gridstand/gridstand/game/bot"
)

// row is a player's games, and what is expected of them. A row without holds is
// there to compare with.
type row struct {
	player   player
	rival    string // the bot in all other seats
	boards   int    // start boards, each played from every seat
	expected string
	// holds compares the results with what is expected; first are those of the
	// table's first row.
	holds func(got, first *results) bool
	// A game ends early with a score of this many times the mean of the table's
	// first row, if it is not 0.
	enough float64
}

// weak is a bot that plays badly but exactly as described, so that its mean score
// is known: a miss is a fault in the rules, the draws, or how ties are decided.
func weak(name string, known float64) row {
	return row{
		player: player{bot: name}, boards: 10_000, expected: fmt.Sprintf("%.0f ± 2 %%", known),
		holds: func(got, _ *results) bool { return math.Abs(got.scores.mean()/known-1) <= 0.02 },
	}
}

func classic(p player, boards int, mean, tile, often float64) row {
	return row{
		player: p, boards: boards, expected: fmt.Sprintf("≥ %.0f, %.0f in ≥ %.0f %%", mean, tile, 100*often),
		holds: func(got, _ *results) bool { return got.scores.mean() >= mean && got.tiles.atLeast(tile) >= often },
	}
}

// random is a row to compare with.
func random(boards int) row { return row{player: player{bot: "random"}, boards: boards} }

// large is what random games that are cut short are good for.
func large(boards int) row {
	return row{
		player: player{"montecarlo", bot.Options{Rollouts: 20}}, boards: boards, expected: "each ≥ 5 × random", enough: 5,
		holds: func(got, first *results) bool { return slices.Min(got.scores) >= 5*first.scores.mean() },
	}
}

// tribolo plays against two of the same rival: a third of the wins is par. No
// wins expected is a row to compare with.
func tribolo(p player, rival string, wins float64) row {
	r := row{player: p, rival: rival, boards: 100}
	if wins > 0 {
		r.expected = fmt.Sprintf("wins ≥ %.0f %%", 100*wins)
		r.holds = func(got, _ *results) bool { return got.wins.mean() >= wins }
	}
	return r
}

// budget is the time for a move that timed bots get.
const budget = 5 * time.Millisecond

// timed is a bot that keeps to its time, with options that would have it think for
// ever. On a busy machine every program is late now and then.
func timed(name, rival string, enough float64) row {
	return row{
		player: player{name, bot.Options{Time: budget, Depth: 1000, Rollouts: 1 << 30}}, rival: rival, boards: 1,
		enough: enough, expected: fmt.Sprintf("99 %% within 1.1 × %s", budget),
		holds: func(got, _ *results) bool { return got.took.most() <= 1.1*budget.Seconds()*1000 },
	}
}

// tables are in the order in which they are printed.
var tables = []struct {
	name, variant string
	rows          []row
}{
	{"weak", "classic", []row{weak("random", 1095), weak("rote", 2548), weak("greedy", 3099)}},
	{"classic", "classic", []row{
		classic(player{bot: "montecarlo"}, 60, 36_000, 2048, 0.8),
		classic(player{"expectimax", bot.Options{Depth: 2}}, 100, 60_000, 2048, 0.9),
		classic(player{"expectimax", bot.Options{Depth: 3}}, 20, 110_000, 4096, 0.9),
		{
			player: player{bot: "expectimax"}, boards: 20, expected: "≥ 2 × montecarlo in less time",
			holds: func(got, montecarlo *results) bool {
				return got.scores.mean() >= 2*montecarlo.scores.mean() && got.took.mean() < montecarlo.took.mean()
			},
		},
	}},
	{"large", "5x5", []row{random(500), large(5)}},
	{"large", "6x6", []row{random(200), large(3)}},
	{"tribolo", "tribolo", []row{
		tribolo(player{bot: "greedy"}, "random", 0.7),
		tribolo(player{bot: "original"}, "greedy", 0),
		tribolo(player{"minimax", bot.Options{Depth: 2}}, "greedy", 0),
		tribolo(player{"minimax", bot.Options{Depth: 3}}, "greedy", 0),
		tribolo(player{"minimax", bot.Options{Depth: 4}}, "greedy", 0),
		tribolo(player{bot: "minimax"}, "greedy", 0.7),
		tribolo(player{"minimax", bot.Options{Depth: 3}}, "original", 0),
		tribolo(player{bot: "minimax"}, "original", 0.4),
	}},
	{"budget", "3x3", []row{random(100), timed("montecarlo", "", 1), timed("expectimax", "", 1)}},
	{"budget", "classic", []row{random(100), timed("montecarlo", "", 1), timed("expectimax", "", 1)}},
	{"budget", "6x6", []row{random(5), timed("montecarlo", "", 0.1), timed("expectimax", "", 0.1)}},
	{"budget", "tribolo", []row{timed("minimax", "greedy", 0)}},
}

func main() {
	share := flag.Float64("share", 1, "part of the games to play, for a quicker and rougher look")
	flag.Parse()
	ctx, stop := signal.NotifyContext(context.Background(), os.Interrupt)
	defer stop()
	missed, err := run(ctx, *share, flag.Args())
	if err != nil {
		fmt.Fprintln(os.Stderr, "botstrength:", err)
		os.Exit(2)
	}
	if missed {
		os.Exit(1)
	}
}

var columns = []any{
	"bot", "games", "mean", "deviation", "lowest", "wins", "2048", "4096", "8192", "16384",
	"a move, ms", "99 %", "expected", "",
}

// run prints the named tables, all if none is named, and reports whether a row
// missed what was expected of it.
func run(ctx context.Context, share float64, names []string) (missed bool, err error) {
	for _, t := range tables {
		if len(names) > 0 && !slices.Contains(names, t.name) {
			continue
		}
		fmt.Printf("\n%s: %s\n\n", t.name, t.variant)
		line(columns...)
		fmt.Println("|" + strings.Repeat("---|", len(columns)))
		var first *results
		for _, row := range t.rows {
			enough := 0.0
			if first != nil {
				enough = row.enough * first.scores.mean()
			}
			boards := max(1, int(math.Ceil(float64(row.boards)*share)))
			got, err := compete(ctx, t.variant, row.player, row.rival, boards, enough)
			if err != nil {
				return missed, err
			}
			if first == nil {
				first = got
			}
			met := row.holds == nil || row.holds(got, first)
			line(row.player.name(row.rival), len(got.scores), whole(got.scores.mean()), whole(got.scores.deviation()),
				whole(slices.Min(got.scores)), percent(got.wins.mean()), percent(got.tiles.atLeast(2048)), percent(got.tiles.atLeast(4096)),
				percent(got.tiles.atLeast(8192)), percent(got.tiles.atLeast(16384)), precise(got.took.mean()), precise(got.took.most()), row.expected, verdict(met))
			missed = missed || !met
		}
	}
	return missed, nil
}

func line(cells ...any) { fmt.Printf(strings.Repeat("| %v ", len(cells))+"|\n", cells...) }

func verdict(met bool) string {
	if met {
		return "met"
	}
	return "MISSED"
}
