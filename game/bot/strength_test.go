package bot

import (
	"context"
	"encoding/binary"
	"flag"
	"fmt"
	"math/rand/v2"
	"slices"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/gridstand/gridstand/game"
	"github.com/gridstand/gridstand/game/twenty48"
)

var (
	xbot   = flag.String("xbot", "", "")
	xgames = flag.Int("xgames", 10, "")
	xdepth = flag.Int("xdepth", 0, "")
	xwork  = flag.Int64("xwork", 0, "")
	xroll  = flag.Int("xroll", 0, "")
	xvar   = flag.String("xvar", "classic", "")
	xcut   = flag.Float64("xcut", 0, "")
)

func seedOf(i int) game.Seed {
	b := make([]byte, 32)
	binary.BigEndian.PutUint64(b, uint64(i))
	s, _ := game.SeedFromBytes(b)
	return s
}

func TestX(t *testing.T) {
	if *xbot == "" {
		t.Skip()
	}
	cutoffX = float32(*xcut)
	v := variant(t, *xvar)
	var scores []float64
	tiles := map[int32]int{}
	moves := 0
	var work int64
	start := cpuNow()
	for g := range *xgames {
		bt, err := New(*xbot, v, Options{Source: rand.NewPCG(uint64(g), 0), Depth: *xdepth, Work: *xwork, Rollouts: *xroll})
		require.NoError(t, err)
		p := v.Rules.Start(seedOf(g).Draws(1))
		for p.Turn() != game.NoSeat {
			m, w, err := bt.(*bot).decide(context.Background(), p)
			require.NoError(t, err)
			work += w
			p, _, err = v.Rules.Move(p, 0, m, seedOf(g).Draws(p.MoveCount()+2))
			require.NoError(t, err)
		}
		moves += int(p.MoveCount())
		scores = append(scores, float64(p.Scores()[0]))
		tiles[slices.Max(p.(*twenty48.Position).Tiles())]++
	}
	spent := time.Duration(cpuNow() - start)
	sum := 0.0
	for _, s := range scores {
		sum += s
	}
	fmt.Println(*xbot, *xvar, "depth", *xdepth, "work", *xwork, "cut", *xcut, "mean", sum/float64(len(scores)), tiles, "moves", moves, "cpu/move", spent/time.Duration(moves), "work/move", work/int64(moves), "ns/work", float64(spent)/float64(work))
}
