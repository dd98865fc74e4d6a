package tribolo_test

import (
	"bytes"
	"encoding/hex"
	"slices"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/gridstand/gridstand/game"
	"github.com/gridstand/gridstand/game/tribolo"
)

// These bytes are in the stores of running servers, so a change needs a new format.
func TestPositionBytes(t *testing.T) {
	t.Parallel()
	rules := tribolo.New()
	p := rules.Resign(start(countingSeed()), 2)
	p, _, err := rules.Move(p, 0, to(10, 10), nil)
	require.NoError(t, err)
	want, err := hex.DecodeString("01010401" +
		"00000000030004000000040201000001" +
		"02000000000000000000000103040300" +
		"00000000000103000003000304000000" +
		"00000000010000040000000402000000" +
		"01000000020000000001000000000000" +
		"04020200000002000000000000010000" +
		"00000100000000000003030000040000" +
		"00030003000000000000000000000000" +
		"00000402000100000200000000000000" +
		"00000304000000020000000203000001" +
		"00000000000000020202020000000100")
	require.NoError(t, err)
	assert.Equal(t, want, bytesOf(t, p))

	prefixed, err := p.AppendBinary([]byte("kept"))
	require.NoError(t, err)
	assert.Equal(t, append([]byte("kept"), want...), prefixed)

	back, err := rules.Decode(want)
	require.NoError(t, err)
	assert.Equal(t, p, back)
	want[4] = 2
	assert.Equal(t, p, back, "a decoded position does not keep the bytes")

	over := bytesOf(t, position(t, lane(t, "B . . . . . . . . R", "BRG"), game.NoSeat))
	assert.Equal(t, []byte{1, 3, 0, 120}, over[:4])
}

func TestDecode_Damaged(t *testing.T) {
	t.Parallel()
	good := bytesOf(t, start(countingSeed()))
	moved, _, err := tribolo.New().Move(start(countingSeed()), 0, to(1, 8), nil)
	require.NoError(t, err)
	after := bytesOf(t, moved)
	over := bytesOf(t, position(t, lane(t, "B . . . . . . . . R", "BRG"), game.NoSeat))
	stuck := bytesOf(t, position(t, lane(t, "B R . . . . . . . .", "BRG"), 0))
	with := func(b []byte, changes ...int) []byte {
		b = bytes.Clone(b)
		for i := 0; i < len(changes); i += 2 {
			b[changes[i]] = byte(changes[i+1])
		}
		return b
	}
	// cells is the offset of the cells. In the start board of the counting seed, cell 0 is
	// empty, 4 is red, 6 is green and 12 is a wall.
	const cells = 4
	for want, b := range map[string][]byte{
		"tribolo: 0 bytes are too few for a position":                     nil,
		"tribolo: 3 bytes are too few for a position":                     good[:3],
		"tribolo: position in unknown format 0":                           with(good, 0, 0),
		"tribolo: position in unknown format 2":                           with(good, 0, 2),
		"tribolo: position of 179 bytes, not 180":                         good[:179],
		"tribolo: position of 181 bytes, not 180":                         append(bytes.Clone(good), 0),
		"tribolo: cell 0: 5 is not an owner":                              with(good, cells, 5),
		"tribolo: 13 walls, not 12":                                       with(good, cells, int(tribolo.Wall)),
		"tribolo: 11 walls, not 12":                                       with(good, cells+12, int(tribolo.Empty)),
		"tribolo: the seats own 35 cells, fewer than the 36 at the start": with(good, cells+4, int(tribolo.Empty)),
		"tribolo: red owns 11 cells before the first move, not 12":        with(good, cells+4, int(tribolo.Green)),
		"tribolo: blue owns 13 cells before the first move, not 12":       with(good, cells+4, int(tribolo.Blue)),
		"tribolo: a board after 0 moves, not after 1":                     with(good, 3, 1),
		"tribolo: a board after 1 moves, not after 0":                     with(after, 3, 0),
		"tribolo: unknown seats have resigned (0b1000)":                   with(good, 2, 8),
		"tribolo: turn of unknown seat 4":                                 with(good, 1, 4),
		"tribolo: turn of blue, who has resigned":                         with(good, 2, 1),
		"tribolo: turn of red, who has no move":                           with(stuck, 1, 1),
		"tribolo: turn of green, who has no move":                         with(over, 1, 2),
		"tribolo: no turn, though red can move":                           with(good, 1, 3),
		"tribolo: no turn, though green can move":                         with(good, 1, 3, 2, 0b011),
	} {
		p, err := tribolo.New().Decode(b)
		require.EqualError(t, err, want)
		assert.Nil(t, p)
	}
}

func TestNewBoard_Checked(t *testing.T) {
	t.Parallel()
	cells := start(countingSeed()).Cells()
	_, err := tribolo.NewBoard(cells[1:])
	require.EqualError(t, err, "tribolo: 175 cells, not 176")
	_, err = tribolo.NewBoard(append(cells, tribolo.Empty))
	require.EqualError(t, err, "tribolo: 177 cells, not 176")
	// A position's turn is an int, so it may not fit into the byte that encodes it.
	_, err = tribolo.NewPosition(start(countingSeed()).Board(), -2, 0)
	require.EqualError(t, err, "tribolo: turn of unknown seat -2")
	_, err = tribolo.NewPosition(tribolo.Board{}, game.NoSeat, 0)
	require.EqualError(t, err, "tribolo: 176 walls, not 12")
}

// FuzzDecode decodes data that a damaged store might contain. If Decode accepts the data, the
// result must be a valid position that is encoded to the same bytes.
func FuzzDecode(f *testing.F) {
	rules := tribolo.New()
	p := game.Position(start(countingSeed()))
	for p.Turn() != game.NoSeat {
		b := bytesOf(f, p)
		if p.MoveCount()%16 == 0 {
			f.Add(b)
			f.Add(b[:len(b)-1])
			f.Add(bytesOf(f, rules.Resign(p, p.Turn())))
		}
		var err error
		p, _, err = rules.Move(p, p.Turn(), p.LegalMoves()[0], nil)
		require.NoError(f, err)
	}
	f.Add(bytesOf(f, p))
	f.Fuzz(func(t *testing.T, b []byte) {
		p, err := rules.Decode(b)
		if err != nil {
			return
		}
		assert.Equal(t, b, bytesOf(t, p))
		legal := p.LegalMoves()
		assert.Equal(t, len(legal) == 0, p.Turn() == game.NoSeat)
		assert.Equal(t, len(legal) == 0, p.Ended() == game.NoMoves)
		assert.LessOrEqual(t, p.MoveCount(), int32(tribolo.MaxMoves))
		for _, m := range legal {
			next, change, err := rules.Move(p, p.Turn(), m, nil)
			require.NoError(t, err)
			assert.NotEmpty(t, change.Taken)
			assert.Equal(t, p.MoveCount()+1, next.MoveCount())
		}
		for seat := range tribolo.Seats {
			resigned := rules.Resign(p, seat)
			assert.False(t, slices.Contains(resigned.Winners(game.NoMoves), seat))
			back, err := rules.Decode(bytesOf(t, resigned))
			require.NoError(t, err)
			assert.Equal(t, resigned, back)
		}
	})
}
