package twenty48

import (
	"bytes"
	"encoding/binary"
	"errors"
	"fmt"
	"math"

	"github.com/gridstand/gridstand/game"
)

// The encoding of a position, with big-endian numbers:
//
//	0      format, 1
//	1      rows
//	2      columns
//	3–6    number of moves
//	7–10   score
//	11–    one byte per cell, row-major: 0 empty, n a tile of 2ⁿ
//
// Every field has a fixed place, so equal positions give equal bytes. Whether the goal was
// reached and whether the game has ended are not stored. The rules derive both, so damaged
// bytes cannot contradict the board.
const (
	formatV1   = 1
	headerSize = 11
)

// AppendBinary implements encoding.BinaryAppender. It never fails.
func (p *Position) AppendBinary(b []byte) ([]byte, error) {
	b = append(b, formatV1, byte(p.rows), byte(p.columns))
	b = binary.BigEndian.AppendUint32(b, uint32(p.moves))
	b = binary.BigEndian.AppendUint32(b, uint32(p.score))
	return append(b, p.cells...), nil
}

// Decode implements game.Rules. It returns an error for a board of another size, and for a board
// that obviously cannot occur under these rules.
func (r *Rules) Decode(b []byte) (game.Position, error) {
	c := r.config
	if len(b) < headerSize {
		return nil, fmt.Errorf("twenty48: %d bytes are too few for a position", len(b))
	}
	if b[0] != formatV1 {
		return nil, fmt.Errorf("twenty48: position in unknown format %d", b[0])
	}
	if int(b[1]) != c.Rows || int(b[2]) != c.Columns {
		return nil, fmt.Errorf("twenty48: a board of %d×%d in a game of %d×%d", b[1], b[2], c.Rows, c.Columns)
	}
	if want := headerSize + c.Rows*c.Columns; len(b) != want {
		return nil, fmt.Errorf("twenty48: position of %d bytes, not %d", len(b), want)
	}
	// A number above the limit becomes negative as an int32, which assemble rejects.
	moves := int32(binary.BigEndian.Uint32(b[3:]))
	score := int32(binary.BigEndian.Uint32(b[7:]))
	p, err := r.assemble(bytes.Clone(b[headerSize:]), score, moves)
	if err != nil {
		return nil, err
	}
	return p, nil
}

// Position creates a position from its score, its number of moves and the face values of its cells,
// row-major from the top left, with 0 for an empty cell. It is for tests, and for programs that
// receive boards from a server. It returns an error if the number of cells is wrong, or if Decode
// would return one.
func (r *Rules) Position(tiles []int32, score, moves int32) (*Position, error) {
	if want := r.config.Rows * r.config.Columns; len(tiles) != want {
		return nil, fmt.Errorf("twenty48: %d cells, not %d", len(tiles), want)
	}
	cells := make([]uint8, len(tiles))
	for i, face := range tiles {
		e, ok := exponentOf(face)
		if !ok {
			return nil, fmt.Errorf("twenty48: cell %d: %d is not a tile", i, face)
		}
		cells[i] = e
	}
	return r.assemble(cells, score, moves)
}

// assemble validates the parts of a position and creates it. It takes ownership of cells.
func (r *Rules) assemble(cells []uint8, score, moves int32) (*Position, error) {
	c := r.config
	if moves < 0 {
		return nil, fmt.Errorf("twenty48: number of moves out of range (0 to %d)", math.MaxInt32)
	}
	if score < 0 {
		return nil, fmt.Errorf("twenty48: score out of range (0 to %d)", math.MaxInt32)
	}
	tiles := 0
	for i, e := range cells {
		switch {
		case e > MaxExponent:
			return nil, fmt.Errorf("twenty48: cell %d: 2^%d is not a tile", i, e)
		case c.EndsAtGoal && faceOf(e) > c.Goal:
			return nil, fmt.Errorf("twenty48: cell %d: %d in a game that ends at %d", i, faceOf(e), c.Goal)
		case e != 0:
			tiles++
		}
	}
	if tiles == 0 {
		return nil, errors.New("twenty48: an empty board")
	}
	p := &Position{rows: c.Rows, columns: c.Columns, cells: cells, score: score, moves: moves}
	return p.derive(c), nil
}
