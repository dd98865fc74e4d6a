package main

import (
	"context"
	"fmt"
	"math"

	"github.com/gridstand/gridstand/game/bot"
)

// weak checks the rules by bots that play badly but exactly as described: each
// is known to average a certain score, and a miss is a fault in the rules, in
// the draws, or in how ties are decided.
func weak(ctx context.Context, r *report) error {
	v, err := variant("classic")
	if err != nil {
		return err
	}
	games := r.games(10_000)
	r.begin(fmt.Sprintf("The rules, by weak bots: %d games of classic", games),
		"bot   ", "mean  ", "deviation", "known ", "off    ", "expected    ", "      ")
	for _, row := range []struct {
		bot   string
		known float64
	}{{"random", 1095}, {"rote", 2548}, {"greedy", 3099}} {
		got, err := play(ctx, v, row.bot, bot.Options{}, games, 0)
		if err != nil {
			return err
		}
		mean := got.scores.mean()
		off := mean/row.known - 1
		r.row("within 2.0 %", math.Abs(off) <= 0.02,
			row.bot, whole(mean), whole(got.scores.deviation()), whole(row.known), fmt.Sprintf("%+.1f %%", 100*off))
	}
	return nil
}

// classic measures the strong bots.
func classic(ctx context.Context, r *report) error {
	v, err := variant("classic")
	if err != nil {
		return err
	}
	r.begin("Strength: classic",
		"bot                           ", "games", "mean  ", "deviation", "lowest", "2048   ", "4096   ", "8192   ", "16384  ", "a move   ",
		"expected                      ", "      ")
	var rollouts *results
	for _, row := range []struct {
		name    string
		bot     string
		options bot.Options
		games   int
		mean    float64
		tile    float64
		often   float64
	}{
		{"montecarlo, 200 for each move", "montecarlo", bot.Options{}, 60, 36_000, 2048, 0.8},
		{"expectimax, depth 2", "expectimax", bot.Options{Depth: 2}, 100, 60_000, 2048, 0.9},
		{"expectimax, depth 3", "expectimax", bot.Options{Depth: 3}, 20, 110_000, 4096, 0.9},
		{"expectimax as shipped", "expectimax", bot.Options{}, 20, 0, 2048, 0.9},
	} {
		got, err := play(ctx, v, row.bot, row.options, r.games(row.games), 0)
		if err != nil {
			return err
		}
		mean := got.scores.mean()
		expected := fmt.Sprintf("≥ %.0f, %.0f in ≥ %.0f %%", row.mean, row.tile, 100*row.often)
		holds := mean >= row.mean && got.tiles.atLeast(row.tile) >= row.often
		switch {
		case row.bot == "montecarlo":
			rollouts = got
		case row.mean == 0:
			expected = "≥ 2 × montecarlo in less time"
			holds = mean >= 2*rollouts.scores.mean() && got.perMove() < rollouts.perMove()
		}
		cells := []string{row.name, fmt.Sprint(len(got.scores)), whole(mean), whole(got.scores.deviation()), whole(got.scores.lowest())}
		for _, tile := range []float64{2048, 4096, 8192, 16384} {
			cells = append(cells, percent(got.tiles.atLeast(tile)))
		}
		r.row(expected, holds, append(cells, got.perMove().String())...)
	}
	return nil
}

// largeRollouts are fewer than montecarlo plays by default, so that the games
// end today.
const largeRollouts = 20

// large measures what random games that are cut short are good for. A game of
// montecarlo ends when it has shown enough.
func large(ctx context.Context, r *report) error {
	const enough = 5
	r.begin(fmt.Sprintf("Random games cut short: montecarlo, %d for each move, until %d × random's mean", largeRollouts, enough),
		"variant", "random, games", "mean  ", "montecarlo, games", "lowest ", "to random's", "moves ", "a move   ", "expected  ", "      ")
	for _, row := range []struct {
		variant string
		random  int
		games   int
	}{{"5x5", 500, 5}, {"6x6", 200, 3}} {
		v, err := variant(row.variant)
		if err != nil {
			return err
		}
		random, err := play(ctx, v, "random", bot.Options{}, r.games(row.random), 0)
		if err != nil {
			return err
		}
		mean := random.scores.mean()
		got, err := play(ctx, v, "montecarlo", bot.Options{Rollouts: largeRollouts}, r.games(row.games), enough*mean)
		if err != nil {
			return err
		}
		ratio := got.scores.lowest() / mean
		r.row(fmt.Sprintf("≥ %d ×", enough), ratio >= enough,
			row.variant, fmt.Sprint(len(random.scores)), whole(mean), fmt.Sprint(len(got.scores)), whole(got.scores.lowest()),
			fmt.Sprintf("%.2f ×", ratio), fmt.Sprint(got.moves/len(got.scores)), got.perMove().String())
	}
	return nil
}
