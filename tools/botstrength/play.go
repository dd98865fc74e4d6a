package main

import (
	"context"
	"encoding/binary"
	"fmt"
	"math/rand/v2"
	"slices"
	"time"

	"github.com/gridstand/gridstand/game"
	"github.com/gridstand/gridstand/game/bot"
	"github.com/gridstand/gridstand/game/twenty48"
	"github.com/gridstand/gridstand/game/variants"
)

// seed is that of the n-th game.
func seed(n int) game.Seed {
	b := binary.BigEndian.AppendUint64(make([]byte, 0, game.SeedSize), uint64(n))
	s, err := game.SeedFromBytes(b[:game.SeedSize])
	if err != nil {
		panic(err) // it has the right size
	}
	return s
}

// source is the chance of the bot in a seat of the n-th game.
func source(n, seat int) rand.Source { return rand.NewPCG(uint64(n), uint64(seat)) }

func variant(id string) (game.Variant, error) {
	v, ok := variants.Current(id)
	if !ok {
		return v, fmt.Errorf("no variant %s", id)
	}
	return v, nil
}

// results are those of games of 2048 with one bot.
type results struct {
	scores, tiles sample
	moves         int
	thinking      time.Duration
}

// perMove is the mean time for a move.
func (r *results) perMove() time.Duration {
	return (r.thinking / time.Duration(max(1, r.moves))).Round(100 * time.Nanosecond)
}

// play plays games of 2048 by the service's own rules. A game ends early with
// a score of enough, if that is not 0.
func play(ctx context.Context, v game.Variant, name string, o bot.Options, games int, enough float64) (*results, error) {
	r := new(results)
	for n := range games {
		o.Source = source(n, 0)
		b, err := bot.New(name, v, o)
		if err != nil {
			return nil, err
		}
		p := v.Rules.Start(seed(n).Draws(1))
		for version := int32(2); p.Turn() != game.NoSeat; version++ {
			start := time.Now()
			m, err := b.Choose(ctx, p)
			if err != nil {
				return nil, err
			}
			r.thinking += time.Since(start)
			r.moves++
			if p, _, err = v.Rules.Move(p, 0, m, seed(n).Draws(version)); err != nil {
				return nil, err
			}
			if enough > 0 && float64(p.Scores()[0]) >= enough {
				break
			}
		}
		r.scores = append(r.scores, float64(p.Scores()[0]))
		r.tiles = append(r.tiles, float64(slices.Max(p.(*twenty48.Position).Tiles())))
	}
	return r, nil
}

// contest plays games of several seats and returns the part that one bot wins,
// in each seat once for every start board, with another bot in all other
// seats. A shared win counts as a win.
func contest(ctx context.Context, v game.Variant, name, other string, o bot.Options, boards int) (won float64, perMove time.Duration, err error) {
	var thinking time.Duration
	moves, wins := 0, 0
	for n := range boards * v.Seats {
		mine := n % v.Seats
		bots := make([]bot.Bot, v.Seats)
		for seat := range bots {
			by, with := other, bot.Options{}
			if seat == mine {
				by, with = name, o
			}
			with.Source = source(n, seat)
			if bots[seat], err = bot.New(by, v, with); err != nil {
				return 0, 0, err
			}
		}
		p := v.Rules.Start(seed(n / v.Seats).Draws(1))
		for p.Turn() != game.NoSeat {
			seat, start := p.Turn(), time.Now()
			m, err := bots[seat].Choose(ctx, p)
			if err != nil {
				return 0, 0, err
			}
			if seat == mine {
				thinking += time.Since(start)
				moves++
			}
			if p, _, err = v.Rules.Move(p, seat, m, nil); err != nil {
				return 0, 0, err
			}
		}
		if slices.Contains(p.Winners(p.Ended()), mine) {
			wins++
		}
	}
	return float64(wins) / float64(boards*v.Seats), (thinking / time.Duration(moves)).Round(100 * time.Nanosecond), nil
}
