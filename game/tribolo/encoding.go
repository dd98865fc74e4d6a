package tribolo

import (
	"fmt"

	"github.com/gridstand/gridstand/game"
)

// The encoding of a position:
//
//	0      format, 1
//	1      seat to move, 3 for none
//	2      seats that have resigned: seat n is the bit 1<<n
//	3      number of moves
//	4–179  one byte per cell, row-major: the number of its Owner
//
// Every field has a fixed place, so equal positions give equal bytes. The number of moves
// follows from the cells, and whether any seat is to move follows from the rest. Both are
// stored to detect damage.
const (
	formatV1     = 1
	headerSize   = 4
	encodedSize  = headerSize + Size
	encodedNoone = Seats
)

// AppendBinary implements encoding.BinaryAppender. It never fails.
func (p *Position) AppendBinary(b []byte) ([]byte, error) {
	turn := byte(encodedNoone)
	if p.turn != game.NoSeat {
		turn = byte(p.turn)
	}
	b = append(b, formatV1, turn, byte(p.resigned), byte(p.MoveCount()))
	for _, owner := range p.Cells() {
		b = append(b, byte(owner))
	}
	return b, nil
}

// Decode implements game.Rules. It returns an error for positions that NewPosition refuses.
func (r *Rules) Decode(b []byte) (game.Position, error) {
	if len(b) < headerSize {
		return nil, fmt.Errorf("tribolo: %d bytes are too few for a position", len(b))
	}
	if b[0] != formatV1 {
		return nil, fmt.Errorf("tribolo: position in unknown format %d", b[0])
	}
	if len(b) != encodedSize {
		return nil, fmt.Errorf("tribolo: position of %d bytes, not %d", len(b), encodedSize)
	}
	cells := make([]Owner, Size)
	for i := range cells {
		cells[i] = Owner(b[headerSize+i])
	}
	board, err := NewBoard(cells)
	if err != nil {
		return nil, err
	}
	turn := int(b[1])
	if turn == encodedNoone {
		turn = game.NoSeat
	}
	p, err := NewPosition(board, turn, SeatSet(b[2]))
	if err != nil {
		return nil, err
	}
	if p.MoveCount() != int32(b[3]) {
		return nil, fmt.Errorf("tribolo: a board after %d moves, not after %d", p.MoveCount(), b[3])
	}
	return p, nil
}
