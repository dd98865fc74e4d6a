package main

import (
	"context"
	"fmt"

	"github.com/gridstand/gridstand/game/bot"
)

// triboloGames plays each bot against two of another; a third of the wins is
// par.
func triboloGames(ctx context.Context, r *report) error {
	v, err := variant("tribolo")
	if err != nil {
		return err
	}
	boards := r.games(100)
	r.begin(fmt.Sprintf("Strength: tribolo, %d start boards, each from all %d seats", boards, v.Seats),
		"bot               ", "against two", "wins   ", "a move   ", "expected", "      ")
	for _, row := range []struct {
		name     string
		bot      string
		options  bot.Options
		other    string
		expected float64
	}{
		{"greedy", "greedy", bot.Options{}, "random", 0.7},
		{"original", "original", bot.Options{}, "greedy", 0},
		{"minimax, 2 moves", "minimax", bot.Options{Depth: 2}, "greedy", 0},
		{"minimax, 3 moves", "minimax", bot.Options{Depth: 3}, "greedy", 0},
		{"minimax, 4 moves", "minimax", bot.Options{Depth: 4}, "greedy", 0},
		{"minimax as shipped", "minimax", bot.Options{}, "greedy", 0.7},
		{"minimax, 3 moves", "minimax", bot.Options{Depth: 3}, "original", 0},
		{"minimax as shipped", "minimax", bot.Options{}, "original", 0.4},
	} {
		won, perMove, err := contest(ctx, v, row.bot, row.other, row.options, boards)
		if err != nil {
			return err
		}
		expected := ""
		if row.expected > 0 {
			expected = fmt.Sprintf("≥ %.0f %%", 100*row.expected)
		}
		r.row(expected, won >= row.expected, row.name, row.other, percent(won), perMove.String())
	}
	return nil
}
