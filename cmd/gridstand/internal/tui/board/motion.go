package board

import (
	"image"
	"math"
	"slices"

	pb "github.com/gridstand/gridstand/proto/gridstand/v1"
)

// slidePart is the fraction of the animation during which tiles slide. After that, merged
// tiles are drawn larger and the new tile appears.
const slidePart = 0.6

// Moving returns the board to draw while its last move is animated. progress runs from 0 to
// 1. It returns the board itself if there is nothing to animate: before is nil, the
// animation is complete, or the game has no sliding tiles.
func Moving(b Board, before *pb.Twenty48Board, progress float64) Board {
	t, ok := b.(Twenty48)
	if !ok || before == nil || progress >= 1 || len(before.GetTiles()) != len(t.Board.GetTiles()) ||
		t.Marks.Direction == pb.Direction_DIRECTION_UNSPECIFIED {
		return b
	}
	t.before, t.progress = before, max(progress, 0)
	return t
}

// tiles returns the tiles to draw: the board's tiles or, in the first part of an animation,
// the sliding tiles.
func (p Twenty48) tiles() []tile {
	if p.before != nil && p.progress < slidePart {
		way := p.progress / slidePart
		way = 1 - (1-way)*(1-way) // ease out: fast at first
		tiles := slides(p.before, p.Marks.Direction)
		for i := range tiles {
			tiles[i].way, tiles[i].merged = way, false
		}
		return tiles
	}
	var tiles []tile
	for i, face := range p.Board.GetTiles() {
		if face == 0 {
			continue
		}
		t := tile{face: face, from: i, to: i, size: 1, marked: i == p.Marks.Spawned}
		t.merged = slices.Contains(p.Marks.Merged, i)
		if p.before != nil && t.marked {
			t.size = (p.progress - slidePart) / (1 - slidePart)
		}
		tiles = append(tiles, t)
	}
	return tiles
}

// tile is a tile to draw. During an animation it can be between two cells, or smaller than
// usual.
type tile struct {
	face     int32
	from, to int     // cells
	way      float64 // 0 at from, 1 at to
	size     float64 // 1 is full size
	marked   bool    // it just spawned
	merged   bool    // it just merged
}

// place returns the position of the tile on the canvas, in columns and pixels.
func (t tile) place(p Twenty48, c Size) image.Rectangle {
	a, b := p.cell(c, t.from), p.cell(c, t.to)
	between := func(a, b int) int { return a + int(math.Round(float64(b-a)*t.way)) }
	inset := func(length int) int { return int(float64(length) * (1 - t.size) / 2) }
	x, y, dx, dy := between(a.Min.X, b.Min.X), between(a.Min.Y, b.Min.Y), inset(a.Dx()), inset(a.Dy())
	return image.Rect(x+dx, y+dy, x+a.Dx()-dx, y+a.Dy()-dy)
}

// slides returns every tile of a board with the cell to which a move takes it, and whether it
// merges with the tile that arrived there before it. This is the same in all variants of 2048.
func slides(before *pb.Twenty48Board, d pb.Direction) []tile {
	rows, columns := int(before.GetRows()), int(before.GetColumns())
	// In each line, cells are numbered from the edge that the tiles move toward.
	lines, length := rows, columns
	if d == pb.Direction_DIRECTION_UP || d == pb.Direction_DIRECTION_DOWN {
		lines, length = columns, rows
	}
	cell := func(line, i int) int {
		switch d {
		case pb.Direction_DIRECTION_UP:
			return i*columns + line
		case pb.Direction_DIRECTION_DOWN:
			return (rows-1-i)*columns + line
		case pb.Direction_DIRECTION_RIGHT:
			return line*columns + columns - 1 - i
		default:
			return line*columns + i
		}
	}
	var all []tile
	for line := range lines {
		// filled is the number of cells filled so far. waiting is the last tile if it can
		// still merge, otherwise 0.
		filled, waiting := 0, int32(0)
		for i := range length {
			face := before.GetTiles()[cell(line, i)]
			switch {
			case face == 0:
			case face == waiting:
				all = append(all, tile{face: face, from: cell(line, i), to: cell(line, filled-1), size: 1, merged: true})
				waiting = 0
			default:
				all = append(all, tile{face: face, from: cell(line, i), to: cell(line, filled), size: 1})
				filled++
				waiting = face
			}
		}
	}
	return all
}

// MergedBy returns the cells where a move merges two tiles.
func MergedBy(before *pb.Twenty48Board, d pb.Direction) []int {
	var merged []int
	for _, s := range slides(before, d) {
		if s.merged {
			merged = append(merged, s.to)
		}
	}
	return merged
}
