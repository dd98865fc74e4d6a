package main

import (
	"context"
	"fmt"
	"slices"
	"time"

	"github.com/gridstand/gridstand/game"
	"github.com/gridstand/gridstand/game/bot"
	"github.com/gridstand/gridstand/game/variants"
)

// budget is the time that the bots get for a move.
const budget = 5 * time.Millisecond

// thinkers are the bots that use what time they get, with options that would
// have them think for ever.
var thinkers = map[game.Kind][]struct {
	name    string
	options bot.Options
}{
	game.Twenty48: {
		{"montecarlo", bot.Options{Time: budget, Rollouts: 1 << 30}},
		{"expectimax", bot.Options{Time: budget, Depth: 100}},
	},
	game.Tribolo: {{"minimax", bot.Options{Time: budget, Depth: 1000}}},
}

// budgets measures whether bots keep to their time. On a machine that has other
// things to do everybody is late now and then, so what a loop makes of the same
// time that does nothing but look at the clock stands beside it.
func budgets(ctx context.Context, r *report) error {
	n := r.games(1000)
	r.begin(fmt.Sprintf("Keeping to the time: parts of %s for a move, %d positions of each variant", budget, n),
		"variant ", "bot       ", "median", "99 % ", "most ", "10 % late", "the clock alone", "expected           ", "      ")
	for _, v := range variants.All() {
		ps, err := positions(ctx, v, n)
		if err != nil {
			return err
		}
		for _, by := range thinkers[v.Kind] {
			took, idle, err := think(ctx, v, by.name, by.options, ps)
			if err != nil {
				return err
			}
			late, lateIdle := took.atLeast(1.1), idle.atLeast(1.1)
			at := func(part float64) string { return fmt.Sprintf("%.3f", took[int(part*float64(len(took)-1))]) }
			r.row("≤ 2 % more than it", late <= lateIdle+0.02,
				v.ID, by.name, at(0.5), at(0.99), at(1), percent(late), percent(lateIdle))
		}
	}
	return nil
}

// think returns how long decisions took, and loops that only watch the clock in
// between, as parts of the budget and in order.
func think(ctx context.Context, v game.Variant, name string, o bot.Options, ps []game.Position) (took, idle sample, err error) {
	b, err := bot.New(name, v, o)
	if err != nil {
		return nil, nil, err
	}
	for _, p := range ps {
		start := time.Now()
		if _, err := b.Choose(ctx, p); err != nil {
			return nil, nil, err
		}
		took = append(took, float64(time.Since(start))/float64(budget))
		start = time.Now()
		for time.Since(start) < budget {
			continue
		}
		idle = append(idle, float64(time.Since(start))/float64(budget))
	}
	slices.Sort(took)
	slices.Sort(idle)
	return took, idle, nil
}

// positions are every tenth of seeded games.
func positions(ctx context.Context, v game.Variant, n int) ([]game.Position, error) {
	// Bots that are quick, and come far enough.
	name, o := "greedy", bot.Options{}
	if v.Kind == game.Twenty48 && v.Rows <= 4 {
		name, o = "expectimax", bot.Options{Depth: 1}
	}
	b, err := bot.New(name, v, o)
	if err != nil {
		return nil, err
	}
	var ps []game.Position
	for g := 0; len(ps) < n; g++ {
		p := v.Rules.Start(seed(g).Draws(1))
		for version := int32(2); p.Turn() != game.NoSeat && len(ps) < n; version++ {
			if version%10 == 0 {
				ps = append(ps, p)
			}
			m, err := b.Choose(ctx, p)
			if err != nil {
				return nil, err
			}
			if p, _, err = v.Rules.Move(p, p.Turn(), m, seed(g).Draws(version)); err != nil {
				return nil, err
			}
		}
	}
	return ps, nil
}
