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
	for _, move := range legal {
		m.LegalMoves = append(m.LegalMoves, &pb.TriboloMove{Cell: cell(move.Cell), Taken: cells(p.Taken(move))})
	}
	return m
}
