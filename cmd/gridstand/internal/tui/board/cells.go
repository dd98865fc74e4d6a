package board

import (
	"fmt"
	"slices"
	"strings"

	pb "github.com/gridstand/gridstand/proto/gridstand/v1"
)

// The owners of cells, by seat: letters on the board, names beside it, and the
// characters of their bars without colors.
var (
	OwnerLetters = []string{"B", "R", "G"}
	OwnerNames   = []string{"BLUE", "RED", "GREEN"}
	OwnerBars    = []string{"█", "▓", "▒"}
)

// MoveTo returns the legal move to a cell, nil if no jump leads there.
func MoveTo(b *pb.TriboloBoard, to *pb.Cell) *pb.TriboloMove {
	for _, m := range b.GetLegalMoves() {
		if SameCell(m.GetCell(), to) {
			return m
		}
	}
	return nil
}

// SeatOf is the seat that owns a cell, -1 for none.
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

// column is a column as the board numbers it: 0–9, then letters.
func column(x int32) string {
	const digits = "0123456789abcdefghijklmnopqrstuvwxyz"
	if x < 0 || int(x) >= len(digits) {
		return "?"
	}
	return digits[x : x+1]
}

// CellName is a cell as the board numbers it: "c,4" is column 12, row 4.
func CellName(c *pb.Cell) string { return fmt.Sprintf("%s,%d", column(c.GetX()), c.GetY()) }

// plainTribolo is a board as lines of letters, with # for walls and dots for
// empty cells, numbered, for output that is not a terminal.
func plainTribolo(b *pb.TriboloBoard) string {
	head := "  "
	for x := range b.GetColumns() {
		head += " " + column(x)
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
