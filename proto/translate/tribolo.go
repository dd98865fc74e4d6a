package translate

import (
	"github.com/gridstand/gridstand/game"
	"github.com/gridstand/gridstand/game/tribolo"
	pb "github.com/gridstand/gridstand/proto/gridstand/v1"
)

// The contract numbers the states of a cell as package tribolo numbers its owners, from EMPTY.
func triboloBoard(p *tribolo.Position, legal []game.Move) *pb.TriboloBoard {
	m := &pb.TriboloBoard{
		Rows: tribolo.Rows, Columns: tribolo.Columns, Cells: make([]pb.CellState, 0, tribolo.Size),
	}
	for _, owner := range p.Cells() {
		m.Cells = append(m.Cells, pb.CellState_CELL_STATE_EMPTY+pb.CellState(owner))
	}
	for _, move := range legal {
		m.LegalMoves = append(m.LegalMoves, &pb.TriboloMove{Cell: cell(move.Cell), Taken: cells(p.Taken(move))})
	}
	return m
}
