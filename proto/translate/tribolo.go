package translate

import (
	"github.com/gridstand/gridstand/game"
	"github.com/gridstand/gridstand/game/tribolo"
	pb "github.com/gridstand/gridstand/proto/gridstand/v1"
)

// cellStates are the contract's values for the states of a cell.
var cellStates = map[tribolo.Owner]pb.CellState{
	tribolo.Empty: pb.CellState_CELL_STATE_EMPTY,
	tribolo.Wall:  pb.CellState_CELL_STATE_WALL,
	tribolo.Blue:  pb.CellState_CELL_STATE_BLUE,
	tribolo.Red:   pb.CellState_CELL_STATE_RED,
	tribolo.Green: pb.CellState_CELL_STATE_GREEN,
}

func triboloBoard(p *tribolo.Position, legal []game.Move) *pb.TriboloBoard {
	m := &pb.TriboloBoard{
		Rows: tribolo.Rows, Columns: tribolo.Columns, Cells: make([]pb.CellState, 0, tribolo.Size),
	}
	for _, owner := range p.Cells() {
		m.Cells = append(m.Cells, cellStates[owner])
	}
	if len(legal) == 0 {
		return m
	}
	m.LegalMoves = make([]*pb.TriboloMove, len(legal))
	made := make([]struct {
		move pb.TriboloMove
		cell pb.Cell
	}, len(legal))
	for i, move := range legal {
		cell := &made[i].cell
		cell.X, cell.Y = move.Cell.X, move.Cell.Y
		m.LegalMoves[i] = &made[i].move
		m.LegalMoves[i].Cell, m.LegalMoves[i].Taken = cell, cells(p.Taken(move))
	}
	return m
}
