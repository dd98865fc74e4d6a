package twenty48_test

import (
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/gridstand/gridstand/game"
	"github.com/gridstand/gridstand/game/twenty48"
)

// These bytes are in the stores of running servers, so a change needs a new format.
func TestPositionBytes(t *testing.T) {
	t.Parallel()
	r := twenty48.New(classic(2, 3))
	p, err := r.Position(tiles(t, "2 . 2048 / 4 1073741824 ."), 0x01020304, 0x0a0b0c0d)
	require.NoError(t, err)
	want := []byte{1, 2, 3, 0x0a, 0x0b, 0x0c, 0x0d, 1, 2, 3, 4, 1, 0, 11, 2, 30, 0}
	assert.Equal(t, want, bytesOf(t, p))

	prefixed, err := p.AppendBinary([]byte("kept"))
	require.NoError(t, err)
	assert.Equal(t, append([]byte("kept"), want...), prefixed)

	back, err := r.Decode(want)
	require.NoError(t, err)
	assert.Equal(t, p, back)
	want[11] = 9
	assert.Equal(t, p, back, "a decoded position does not keep the bytes")
}

func TestDecode_Damaged(t *testing.T) {
	t.Parallel()
	ending := classic(2, 2)
	ending.EndsAtGoal = true
	r := twenty48.New(ending)
	good := []byte{1, 2, 2, 0, 0, 0, 1, 0, 0, 0, 0, 1, 0, 0, 11}
	_, err := r.Decode(good)
	require.NoError(t, err)
	set := func(i int, v byte) []byte {
		b := append([]byte(nil), good...)
		b[i] = v
		return b
	}
	for want, b := range map[string][]byte{
		"twenty48: 0 bytes are too few for a position":             nil,
		"twenty48: 10 bytes are too few for a position":            good[:10],
		"twenty48: position in unknown format 0":                   set(0, 0),
		"twenty48: position in unknown format 2":                   set(0, 2),
		"twenty48: a board of 3×2 in a game of 2×2":                set(1, 3),
		"twenty48: a board of 2×4 in a game of 2×2":                set(2, 4),
		"twenty48: position of 14 bytes, not 15":                   good[:14],
		"twenty48: position of 16 bytes, not 15":                   append(set(0, 1), 0),
		"twenty48: number of moves out of range (0 to 2147483647)": set(3, 0x80),
		"twenty48: score out of range (0 to 2147483647)":           set(7, 0xff),
		"twenty48: cell 1: 2^31 is not a tile":                     set(12, 31),
		"twenty48: cell 2: 4096 in a game that ends at 2048":       set(13, 12),
		"twenty48: an empty board":                                 append(set(0, 1)[:11], 0, 0, 0, 0),
	} {
		p, err := r.Decode(b)
		require.EqualError(t, err, want)
		assert.Nil(t, p)
	}
}

func TestPositionFromTiles_Checked(t *testing.T) {
	t.Parallel()
	r := twenty48.New(classic(2, 2))
	for _, tc := range []struct {
		tiles        []int32
		score, moves int32
		want         string
	}{
		{[]int32{2, 2, 2}, 0, 0, "twenty48: 3 cells, not 4"},
		{[]int32{0, 0, 0, 0}, 0, 0, "twenty48: an empty board"},
		{[]int32{2, 1, 0, 0}, 0, 0, "twenty48: cell 1: 1 is not a tile"},
		{[]int32{2, 2, 6, 0}, 0, 0, "twenty48: cell 2: 6 is not a tile"},
		{[]int32{-2, 2, 6, 0}, 0, 0, "twenty48: cell 0: -2 is not a tile"},
		{[]int32{2, 2, 0, 0}, -1, 0, "twenty48: score out of range (0 to 2147483647)"},
		{[]int32{2, 2, 0, 0}, 0, -1, "twenty48: number of moves out of range (0 to 2147483647)"},
	} {
		_, err := r.Position(tc.tiles, tc.score, tc.moves)
		require.EqualError(t, err, tc.want)
	}
}

// FuzzDecode decodes data that a damaged store might contain. If Decode accepts the data, the
// result must be a valid position that is encoded to the same bytes.
func FuzzDecode(f *testing.F) {
	ending := classic(2, 3)
	ending.EndsAtGoal, ending.IdleMoves = true, true
	rules := []*twenty48.Rules{twenty48.New(classic(2, 2)), twenty48.New(ending), twenty48.New(classic(4, 4))}
	for _, r := range rules {
		b, err := r.Start(seed(1).Draws(1)).AppendBinary(nil)
		require.NoError(f, err)
		f.Add(b)
		f.Add(b[:len(b)-1])
	}
	f.Add([]byte{1, 2, 2, 0x7f, 0xff, 0xff, 0xff, 0x7f, 0xff, 0xff, 0xff, 30, 30, 1, 1})
	f.Fuzz(func(t *testing.T, b []byte) {
		for _, r := range rules {
			p, err := r.Decode(b)
			if err != nil {
				continue
			}
			assert.Equal(t, b, bytesOf(t, p))
			legal := p.LegalMoves()
			assert.Equal(t, len(legal) == 0, p.Turn() == game.NoSeat)
			assert.Equal(t, len(legal) == 0, p.Ended() != game.ReasonNone)
			for _, m := range legal {
				next, change, err := r.Move(p, 0, m, seed(1).Draws(2))
				require.NoError(t, err)
				assert.GreaterOrEqual(t, change.Gained, int32(0))
				assert.GreaterOrEqual(t, next.Scores()[0], p.Scores()[0])
			}
		}
	})
}
