package contract

import (
	"cmp"
	"slices"
	"testing"

	"github.com/stretchr/testify/assert"

	pb "github.com/gridstand/gridstand/proto/gridstand/v1"
)

// This is a second implementation of the rules of Tribolo, kept as simple as possible.

const (
	boardRows, boardColumns = 11, 16
	startCells, startWalls  = 12, 12
	startEmpty              = boardRows*boardColumns - 3*startCells - startWalls
)

// owner returns the state of a cell. Cells outside the board are walls.
func owner(b *pb.TriboloBoard, x, y int32) pb.CellState {
	if x < 0 || x >= boardColumns || y < 0 || y >= boardRows {
		return pb.CellState_CELL_STATE_WALL
	}
	return b.GetCells()[y*boardColumns+x]
}

// own returns the state of a seat's cells.
func own(seat int32) pb.CellState { return pb.CellState_CELL_STATE_BLUE + pb.CellState(seat) }

// jumps returns the cells that a seat would take by moving to a cell, or nil if the move is
// illegal.
func jumps(b *pb.TriboloBoard, seat, x, y int32) []*pb.Cell {
	if owner(b, x, y) != pb.CellState_CELL_STATE_EMPTY {
		return nil
	}
	var taken []*pb.Cell
	for _, d := range [][2]int32{{-1, -1}, {-1, 0}, {-1, 1}, {0, -1}, {0, 1}, {1, -1}, {1, 0}, {1, 1}} {
		over := owner(b, x+d[0], y+d[1])
		if over < pb.CellState_CELL_STATE_BLUE || over == own(seat) {
			continue
		}
		var line []*pb.Cell
		cx, cy := x+d[0], y+d[1]
		for ; owner(b, cx, cy) == over; cx, cy = cx+d[0], cy+d[1] {
			line = append(line, &pb.Cell{X: cx, Y: cy})
		}
		if owner(b, cx, cy) == own(seat) {
			taken = append(taken, line...)
		}
	}
	return taken
}

// destinations returns the legal moves of a seat.
func destinations(b *pb.TriboloBoard, seat int32) []*pb.TriboloMove {
	var moves []*pb.TriboloMove
	for x := range int32(boardColumns) {
		for y := range int32(boardRows) {
			if taken := jumps(b, seat, x, y); len(taken) > 0 {
				moves = append(moves, &pb.TriboloMove{Cell: &pb.Cell{X: x, Y: y}, Taken: taken})
			}
		}
	}
	return moves
}

func byCell(a, b *pb.Cell) int {
	return cmp.Or(cmp.Compare(a.GetX(), b.GetX()), cmp.Compare(a.GetY(), b.GetY()))
}

// spell returns moves in a form that does not depend on their order, for comparison.
func spell(moves []*pb.TriboloMove) map[[2]int32][][2]int32 {
	spelled := map[[2]int32][][2]int32{}
	for _, m := range moves {
		taken := slices.SortedFunc(slices.Values(m.GetTaken()), byCell)
		var cells [][2]int32
		for _, c := range taken {
			cells = append(cells, [2]int32{c.GetX(), c.GetY()})
		}
		spelled[[2]int32{m.GetCell().GetX(), m.GetCell().GetY()}] = cells
	}
	return spelled
}

func checkTribolo(t testing.TB, p *pb.Position) {
	b := p.GetTribolo()
	assert.EqualValues(t, boardRows, b.GetRows())
	assert.EqualValues(t, boardColumns, b.GetColumns())
	if !assert.Len(t, b.GetCells(), boardRows*boardColumns) || !assert.Len(t, p.GetScores(), 3) {
		return
	}
	count := map[pb.CellState]int32{}
	for _, c := range b.GetCells() {
		count[c]++
	}
	assert.EqualValues(t, startWalls, count[pb.CellState_CELL_STATE_WALL], "walls never change")
	assert.Equal(t, startEmpty-p.GetMoveCount(), count[pb.CellState_CELL_STATE_EMPTY], "each move fills a cell")
	for seat, score := range p.GetScores() {
		assert.Equal(t, count[own(int32(seat))], score)
	}
	if p.Turn == nil {
		assert.Empty(t, b.GetLegalMoves(), "legal moves although it is no seat's turn")
		return
	}
	assert.NotEmpty(t, b.GetLegalMoves(), "a seat without a move must be skipped")
	assert.Len(t, spell(b.GetLegalMoves()), len(b.GetLegalMoves()), "a legal move is listed twice")
	assert.Equal(t, spell(destinations(b, p.GetTurn())), spell(b.GetLegalMoves()))
}

// checkJump checks a move against the board after it.
func checkJump(t testing.TB, m *pb.Moved, seat int32, b *pb.TriboloBoard) {
	assert.NotNil(t, m.GetCell())
	assert.Zero(t, m.GetGained(), "only moves of 2048 have a gain")
	assert.Nil(t, m.GetSpawned())
	assert.NotEmpty(t, m.GetTaken())
	for _, c := range append([]*pb.Cell{m.GetCell()}, m.GetTaken()...) {
		assert.Equal(t, own(seat), owner(b, c.GetX(), c.GetY()))
	}
}

// checkJumped checks a move against the position before it.
func checkJumped(t testing.TB, before *pb.Position, e *pb.Event) {
	seat, moved, after := e.GetSeat(), e.GetMoved(), e.GetPosition()
	assert.Equal(t, before.GetTurn(), seat, "another seat moved")
	assert.Equal(t, before.GetMoveCount()+1, after.GetMoveCount())
	to := moved.GetCell()
	want := []*pb.TriboloMove{{Cell: to, Taken: jumps(before.GetTribolo(), seat, to.GetX(), to.GetY())}}
	assert.Equal(t, spell(want), spell([]*pb.TriboloMove{{Cell: to, Taken: moved.GetTaken()}}))
	cells := slices.Clone(before.GetTribolo().GetCells())
	for _, c := range append([]*pb.Cell{to}, moved.GetTaken()...) {
		cells[c.GetY()*boardColumns+c.GetX()] = own(seat)
	}
	assert.Equal(t, cells, after.GetTribolo().GetCells())
}
