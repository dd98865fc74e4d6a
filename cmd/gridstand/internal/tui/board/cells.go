package board

import (
	"fmt"
	"slices"
	"strings"

	"github.com/gridstand/gridstand/internal/describe"
	pb "github.com/gridstand/gridstand/proto/gridstand/v1"
)

// The letters for the owners of cells, by seat, and the characters that fill their score
// bars on terminals without colors.
var (
	OwnerLetters = []string{"B", "R", "G"}
	OwnerBars    = []string{"█", "▓", "▒"}
)

// MoveTo returns the legal move to a cell, or nil.
func MoveTo(b *pb.TriboloBoard, to *pb.Cell) *pb.TriboloMove {
	for _, m := range b.GetLegalMoves() {
		if SameCell(m.GetCell(), to) {
			return m
		}
	}
	return nil
}

// SeatOf returns the seat that owns a cell, or -1.
func SeatOf(s pb.CellState) int {
	switch s {
	case pb.CellState_CELL_STATE_BLUE:
		return 0
	case pb.CellState_CELL_STATE_RED:
		return 1
	case pb.CellState_CELL_STATE_GREEN:
		return 2
	default:
		return -1
	}
}

// SameCell reports whether two cells are the same.
func SameCell(a, b *pb.Cell) bool {
	return a != nil && b != nil && a.GetX() == b.GetX() && a.GetY() == b.GetY()
}

func containsCell(cells []*pb.Cell, c *pb.Cell) bool {
	return slices.ContainsFunc(cells, func(o *pb.Cell) bool { return SameCell(o, c) })
}

// plainTribolo returns a board as text with labeled rows and columns: letters for owners, #
// for walls and dots for empty cells.
func plainTribolo(b *pb.TriboloBoard) string {
	head := "  "
	for x := range b.GetColumns() {
		head += " " + describe.Column(x)
	}
	lines := []string{head}
	for y := range int(b.GetRows()) {
		line := fmt.Sprintf("%2d", y)
		for x := range int(b.GetColumns()) {
			text := "."
			state := b.GetCells()[y*int(b.GetColumns())+x]
			if seat := SeatOf(state); seat >= 0 {
				text = OwnerLetters[seat]
			} else if state == pb.CellState_CELL_STATE_WALL {
				text = "#"
			}
			line += " " + text
		}
		lines = append(lines, line)
	}
	return strings.Join(lines, "\n")
}
