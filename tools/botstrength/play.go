package main

import (
	"context"
	"encoding/binary"
	"fmt"
	"math"
	"math/rand/v2"
	"slices"
	"time"

	"github.com/gridstand/gridstand/game"
	"github.com/gridstand/gridstand/game/bot"
	"github.com/gridstand/gridstand/game/twenty48"
	"github.com/gridstand/gridstand/game/variants"
)

// sample is a list of measured values.
type sample []float64

func (s sample) mean() float64 {
	var sum float64
	for _, x := range s {
		sum += x
	}
	return sum / float64(len(s))
}

// deviation returns the standard deviation of the values.
func (s sample) deviation() float64 {
	mean, sum := s.mean(), 0.0
	for _, x := range s {
		sum += (x - mean) * (x - mean)
	}
	return math.Sqrt(sum / float64(max(1, len(s)-1)))
}

// atLeast returns the share of the values that are at least x.
func (s sample) atLeast(x float64) float64 {
	n := 0
	for _, y := range s {
		if y >= x {
			n++
		}
	}
	return float64(n) / float64(max(1, len(s)))
}

// most returns the 99th percentile of the values.
func (s sample) most() float64 { return slices.Sorted(slices.Values(s))[99*(len(s)-1)/100] }

func whole(x float64) string   { return fmt.Sprintf("%.0f", x) }
func precise(x float64) string { return fmt.Sprintf("%.4f", x) }
func percent(x float64) string { return fmt.Sprintf("%.1f%%", 100*x) }

// player is a bot and its options.
type player struct {
	bot     string
	options bot.Options
}

// results holds the results of one player's games.
type results struct {
	scores sample
	wins   sample // 1 for a win, including a shared one, 0 for a loss
	tiles  sample // the highest tile of each game of 2048
	took   sample // milliseconds for each move
}

// compete plays the games of a row on the given number of start boards.
func compete(ctx context.Context, row row, boards int) (*results, error) {
	v, ok := variants.Current(row.variant)
	if !ok {
		return nil, fmt.Errorf("no variant %s", row.variant)
	}
	r := new(results)
	for n := range boards * v.Seats {
		mine := n % v.Seats
		players := slices.Repeat([]player{{bot: row.rival}}, v.Seats)
		players[mine] = row.player
		end, err := play(ctx, v, n/v.Seats, n, players, func(p game.Position, seat int, took time.Duration) bool {
			if seat == mine {
				r.took = append(r.took, took.Seconds()*1000)
			}
			return row.enough > 0 && float64(p.Scores()[mine]) >= row.enough
		})
		if err != nil {
			return nil, err
		}
		r.scores = append(r.scores, float64(end.Scores()[mine]))
		won := 0.0
		if slices.Contains(end.Winners(end.Ended()), mine) {
			won = 1
		}
		r.wins = append(r.wins, won)
		if board, ok := end.(*twenty48.Position); ok {
			r.tiles = append(r.tiles, float64(slices.Max(board.Tiles())))
		}
	}
	return r, nil
}

// play plays a game by the service's rules and returns its last position. After each move it calls
// the function after with the new position, the seat and the time that the seat's bot took. If
// after returns true, the game ends early.
func play(ctx context.Context, v game.Variant, board, chance int, players []player,
	after func(p game.Position, seat int, took time.Duration) bool,
) (game.Position, error) {
	var b [game.SeedSize]byte
	binary.BigEndian.PutUint64(b[:], uint64(board))
	seed, err := game.SeedFromBytes(b[:])
	if err != nil {
		return nil, err
	}
	bots := make([]bot.Bot, len(players))
	for seat, player := range players {
		player.options.Source = rand.NewPCG(uint64(chance), uint64(seat))
		if bots[seat], err = bot.New(player.bot, v, player.options); err != nil {
			return nil, err
		}
	}
	p := v.Rules.Start(seed.Draws(1))
	for version := int32(2); p.Turn() != game.NoSeat; version++ {
		seat, start := p.Turn(), time.Now()
		m, err := bots[seat].Choose(ctx, p)
		if err != nil {
			return nil, err
		}
		took := time.Since(start)
		if p, _, err = v.Rules.Move(p, seat, m, seed.Draws(version)); err != nil {
			return nil, err
		}
		if after(p, seat, took) {
			break
		}
	}
	return p, nil
}
