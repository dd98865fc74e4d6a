package translate

import (
	"github.com/gridstand/gridstand/game"
	"github.com/gridstand/gridstand/game/tribolo"
	"github.com/gridstand/gridstand/internal/convert"
	pb "github.com/gridstand/gridstand/proto/gridstand/v1"
)

// The contract numbers the states of a cell as package tribolo numbers its owners, from EMPTY.
func triboloBoard(p *tribolo.Position, legal []game.Move) *pb.TriboloBoard {
	state := func(owner tribolo.Owner) pb.CellState { return pb.CellState_CELL_STATE_EMPTY + pb.CellState(owner) }
	return &pb.TriboloBoard{
		Rows: tribolo.Rows, Columns: tribolo.Columns, Cells: convert.All(p.Cells(), state),
		LegalMoves: convert.All(legal, func(move game.Move) *pb.TriboloMove {
			return &pb.TriboloMove{Cell: cell(move.Cell), Taken: convert.All(p.Taken(move), cell)}
		}),
	}
}
