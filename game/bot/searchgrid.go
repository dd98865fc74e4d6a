package bot

import (
	"encoding/binary"
	"slices"
	"sync"

	"github.com/gridstand/gridstand/game"
	"github.com/gridstand/gridstand/game/twenty48"
)

// searchGrid performs the same search as search64 but with the plain engine, for boards that do
// not fit into one word.
type searchGrid struct {
	*odds
	meter *meter
	table table
	root  twenty48.Grid

	// boards holds scratch boards: with d spawns left to look ahead, moves are tried on boards[d].
	boards [maxDepth + 1][]uint8
}

// searchGrids is a pool of searches and their tables.
var searchGrids = sync.Pool{New: func() any { return &searchGrid{table: newTable()} }}

// begin prepares a search from root.
func (s *searchGrid) begin(root twenty48.Grid) {
	s.root = root
	for i := range s.boards {
		s.boards[i] = slices.Grow(s.boards[i][:0], len(root.Cells))[:len(root.Cells)]
	}
}

// try slides a copy of cells in direction d, on the scratch board for that depth.
func (s *searchGrid) try(cells []uint8, d game.Direction, depth int) twenty48.Grid {
	g := twenty48.Grid{Columns: s.Columns, Cells: s.boards[depth]}
	copy(g.Cells, cells)
	g.Slide(d)
	return g
}

// value implements search.
func (s *searchGrid) value(d game.Direction, depth int) float32 {
	return s.after(s.try(s.root.Cells, d, depth), depth)
}

// after returns the value of g after a move and before a tile spawns: the mean over all tiles
// that can spawn.
func (s *searchGrid) after(g twenty48.Grid, depth int) float32 {
	if s.end > 0 && slices.Contains(g.Cells, s.end) {
		return worthWon
	}
	if depth == 0 {
		return gridWorth(g)
	}
	key := hash(g.Cells)
	if value, ok := s.table.get(key, depth); ok {
		return value
	}
	empty := 0
	var twos, fours float32
	for i, e := range g.Cells {
		if e != 0 {
			continue
		}
		if s.meter.over {
			return 0
		}
		empty++
		g.Cells[i] = 1
		twos += s.before(g, depth-1)
		if s.FoursIn > 0 {
			g.Cells[i] = 2
			fours += s.before(g, depth-1)
		}
		g.Cells[i] = 0
	}
	value := (twos*(1-s.four) + fours*s.four) / float32(empty)
	s.table.put(key, depth, value)
	return value
}

// before returns the value of g with the player to move: the value of the best move, or of a
// lost game if no move is legal.
func (s *searchGrid) before(g twenty48.Grid, depth int) float32 {
	changing := g.Changing()
	idle := s.IdleMoves && slices.Contains(g.Cells, 0)
	value, tried := float32(worthLost), int64(0)
	for _, d := range directions {
		if changing.Has(d) || idle {
			value = max(value, s.after(s.try(g.Cells, d, depth), depth))
			tried++
		}
	}
	s.meter.spend(tried)
	return value
}

// hash returns a key for a board. With 2⁶⁴ keys, a collision is rare enough to ignore.
func hash(cells []uint8) uint64 {
	h := uint64(len(cells))
	for len(cells) > 0 {
		var chunk [8]byte
		cells = cells[copy(chunk[:], cells):]
		h = (h ^ binary.LittleEndian.Uint64(chunk[:])) * 0x9e3779b97f4a7c15
		h ^= h >> 32
	}
	return h
}
