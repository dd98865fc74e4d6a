package tui

import (
	"slices"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/gridstand/gridstand/game"
	"github.com/gridstand/gridstand/game/twenty48"
	"github.com/gridstand/gridstand/game/variants"
	pb "github.com/gridstand/gridstand/proto/gridstand/v1"
)

// TestMarkedMerges plays games and finds that the marked cells hold just what
// each move gained.
func TestMarkedMerges(t *testing.T) {
	t.Parallel()
	v, ok := variants.Current("classic")
	require.True(t, ok)
	seed, err := game.SeedFromBytes(make([]byte, game.SeedSize))
	require.NoError(t, err)
	p := v.Rules.Start(seed.Draws(1))
	moved := 0
	for version := int32(2); len(p.LegalMoves()) > 0; version++ {
		legal := p.LegalMoves()
		m := legal[int(version)%len(legal)]
		before := &pb.Twenty48Board{Rows: 4, Columns: 4, Tiles: p.(*twenty48.Position).Tiles()}
		next, change, err := v.Rules.Move(p, 0, m, seed.Draws(version))
		require.NoError(t, err)
		sum := int32(0)
		cells := mergedBy(before, pb.Direction(m.Direction))
		for _, cell := range cells {
			sum += next.(*twenty48.Position).Tiles()[cell]
		}
		require.Equal(t, change.Gained, sum, "%v of %v marks %v", m, before.GetTiles(), cells)
		p, moved = next, moved+1
	}
	assert.Greater(t, moved, 50)
}

// TestMerge_Once lists what the rules give for lines that tempt to merge more.
func TestMerge_Once(t *testing.T) {
	t.Parallel()
	for _, c := range []struct {
		line []int32
		d    pb.Direction
		want []int
	}{
		{[]int32{2, 2, 2, 0}, left, []int{0}},
		{[]int32{2, 2, 2, 2}, left, []int{0, 1}},
		{[]int32{4, 2, 2, 0}, left, []int{1}},
		{[]int32{0, 2, 2, 2}, right, []int{3}},
		{[]int32{2, 0, 0, 2}, right, []int{3}},
		{[]int32{2, 4, 2, 4}, right, nil},
	} {
		row := &pb.Twenty48Board{Rows: 1, Columns: 4, Tiles: c.line}
		assert.Equal(t, c.want, mergedBy(row, c.d), "%v", c.line)
		column := &pb.Twenty48Board{Rows: 4, Columns: 1, Tiles: c.line}
		turned := up
		if c.d == right {
			turned = down
		}
		assert.Equal(t, c.want, mergedBy(column, turned), "%v", c.line)
	}
}

// TestLargeNames draws everything that a name may contain.
func TestLargeNames(t *testing.T) {
	t.Parallel()
	for _, name := range []string{"abcdefghij", "klmnopqrst", "uvwxyz0123", "456789-_. "} {
		text, ok := large(name, panelWidth)
		require.True(t, ok, name)
		width, height := blockSize(text)
		assert.Equal(t, len(name)*4-1, width)
		assert.Equal(t, largeHeight, height)
	}
	_, ok := large("too long for the panel", panelWidth)
	assert.False(t, ok)
	_, ok = large("ü", panelWidth)
	assert.False(t, ok)
}

func TestPlainBoard(t *testing.T) {
	t.Parallel()
	assert.Equal(t, "   2    .    .    4\n  16    .    2    8\n  32   64    4   16\n1024  256  128    8",
		PlainBoard(someBoard(4, 4)))
	assert.Equal(t, "2 .\n. 4", PlainBoard(&pb.Twenty48Board{Rows: 2, Columns: 2, Tiles: []int32{2, 0, 0, 4}}))
	assert.True(t, slices.IsSorted([]int32{largest(nil), largest(someBoard(2, 2))}))
}
