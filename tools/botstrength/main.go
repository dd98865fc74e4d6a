// Command botstrength measures the strength of the bots over seeded games, and whether they
// stay within their time limits. It prints Markdown tables:
//
//	go run ./tools/botstrength [-share 1] [weak] [classic] [large] [tribolo] [budget]
//
// Without arguments it prints all tables, which takes most of an hour. Each row shows the expected
// result; the exit status is 1 if any row misses its own. Scores depend only on the code, while
// times also depend on the machine.
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

// row describes a player's games and the expected results. A zero field sets no expectation.
type row struct {
	table, variant string
	player         player
	rival          string  // the bot in all other seats
	boards         int     // start boards, each played once from every seat
	enough         float64 // score at which a game stops early

	known       float64 // expected mean score, within 2%
	mean        float64 // minimum mean score
	tile, often float64 // tile to reach, and the minimum share of games that reach it
	wins        float64 // minimum share of games won
	ms          float64 // maximum 99th percentile of the time per move, in ms
}

// budget is the time per move in the table "budget". The bots' other limits are too high to matter
// there. On a busy machine any program occasionally exceeds its budget.
const budget = 5 * time.Millisecond

var (
	timed = bot.Options{Time: budget, Depth: 1000, Rollouts: 1 << 30}
	quick = bot.Options{Rollouts: 20} // kept low because games on large boards are long
)

var rows = []row{
	// These bots play badly but exactly as described: a deviation is a bug in the rules, in
	// the draws, or in how ties are broken.
	{table: "weak", variant: "classic", player: player{bot: "random"}, boards: 10_000, known: 1095},
	{table: "weak", variant: "classic", player: player{bot: "rote"}, boards: 10_000, known: 2548},
	{table: "weak", variant: "classic", player: player{bot: "greedy"}, boards: 10_000, known: 3099},

	{table: "classic", variant: "classic", player: player{bot: "montecarlo"}, boards: 60, mean: 36_000, tile: 2048, often: 0.8},
	{table: "classic", variant: "classic", player: player{"expectimax", bot.Options{Depth: 2}}, boards: 100, mean: 60_000, tile: 2048, often: 0.9},
	{table: "classic", variant: "classic", player: player{"expectimax", bot.Options{Depth: 3}}, boards: 20, mean: 110_000, tile: 4096, often: 0.9},
	{table: "classic", variant: "classic", player: player{bot: "expectimax"}, boards: 20, mean: 2 * 36_000, tile: 2048, often: 0.9},

	// Even with shortened random games, montecarlo scores five times as much as random.
	{table: "large", variant: "5x5", player: player{"montecarlo", quick}, boards: 5, enough: 5 * 7_844, mean: 5 * 7_844},
	{table: "large", variant: "6x6", player: player{"montecarlo", quick}, boards: 3, enough: 5 * 103_312, mean: 5 * 103_312},

	// With three equal players, each wins a third of the games.
	{table: "tribolo", variant: "tribolo", player: player{bot: "greedy"}, rival: "random", boards: 100, wins: 0.7},
	{table: "tribolo", variant: "tribolo", player: player{bot: "original"}, rival: "greedy", boards: 100},
	{table: "tribolo", variant: "tribolo", player: player{"minimax", bot.Options{Depth: 2}}, rival: "greedy", boards: 100},
	{table: "tribolo", variant: "tribolo", player: player{"minimax", bot.Options{Depth: 3}}, rival: "greedy", boards: 100},
	{table: "tribolo", variant: "tribolo", player: player{"minimax", bot.Options{Depth: 4}}, rival: "greedy", boards: 100},
	{table: "tribolo", variant: "tribolo", player: player{bot: "minimax"}, rival: "greedy", boards: 100, wins: 0.7},
	{table: "tribolo", variant: "tribolo", player: player{"minimax", bot.Options{Depth: 3}}, rival: "original", boards: 100},
	{table: "tribolo", variant: "tribolo", player: player{bot: "minimax"}, rival: "original", boards: 100, wins: 0.4},

	{table: "budget", variant: "classic", player: player{"montecarlo", timed}, boards: 1, enough: 1000, ms: 5.5},
	{table: "budget", variant: "classic", player: player{"expectimax", timed}, boards: 1, enough: 1000, ms: 5.5},
	{table: "budget", variant: "6x6", player: player{"montecarlo", timed}, boards: 1, enough: 10_000, ms: 5.5},
	{table: "budget", variant: "6x6", player: player{"expectimax", timed}, boards: 1, enough: 10_000, ms: 5.5},
	{table: "budget", variant: "tribolo", player: player{"minimax", timed}, rival: "greedy", boards: 1, ms: 5.5},
}

func main() {
	share := flag.Float64("share", 1, "share of the games to play, for faster but rougher results")
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

// run prints the named tables, or all tables if no name is given. It reports whether a row
// missed its expected result.
func run(ctx context.Context, share float64, names []string) (missed bool, err error) {
	table := ""
	for _, row := range rows {
		if len(names) > 0 && !slices.Contains(names, row.table) {
			continue
		}
		if row.table != table {
			table = row.table
			fmt.Printf("\n%s\n\n", table)
			columns := []any{
				"variant", "bot", "depth", "time", "rival", "games", "mean", "deviation", "lowest", "wins", "2048", "4096", "8192", "16384",
				"a move, ms", "99%", "expected", "",
			}
			printLine(columns...)
			fmt.Println("|" + strings.Repeat("---|", len(columns)))
		}
		got, err := compete(ctx, row, max(1, int(math.Ceil(float64(row.boards)*share))))
		if err != nil {
			return missed, err
		}
		expected, met := row.check(got)
		printLine(row.variant, row.player.bot, row.player.options.Depth, row.player.options.Time, row.rival, len(got.scores),
			whole(got.scores.mean()), whole(got.scores.deviation()), whole(slices.Min(got.scores)),
			percent(got.wins.mean()), percent(got.tiles.atLeast(2048)), percent(got.tiles.atLeast(4096)),
			percent(got.tiles.atLeast(8192)), percent(got.tiles.atLeast(16384)), precise(got.took.mean()), precise(got.took.most()), expected, met)
		missed = missed || met == "MISSED"
	}
	if table == "" {
		return false, fmt.Errorf("no table %s", strings.Join(names, " or "))
	}
	return missed, nil
}

func printLine(cells ...any) { fmt.Printf(strings.Repeat("| %v ", len(cells))+"|\n", cells...) }

// check compares results with the expected results.
func (r row) check(got *results) (expected, met string) {
	for _, e := range []struct {
		bound float64
		holds bool
		text  string
	}{
		{r.known, math.Abs(got.scores.mean()/r.known-1) <= 0.02, whole(r.known) + " ± 2%"},
		{r.mean, got.scores.mean() >= r.mean, "≥ " + whole(r.mean)},
		{r.tile, got.tiles.atLeast(r.tile) >= r.often, whole(r.tile) + " in ≥ " + percent(r.often)},
		{r.wins, got.wins.mean() >= r.wins, "wins ≥ " + percent(r.wins)},
		{r.ms, got.took.most() <= r.ms, "99% within " + precise(r.ms) + " ms"},
	} {
		switch {
		case e.bound == 0:
			continue
		case !e.holds:
			met = "MISSED"
		case met == "":
			met = "met"
		}
		expected += e.text + " "
	}
	return expected, met
}
