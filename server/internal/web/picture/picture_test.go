package picture_test

import (
	"bytes"
	"flag"
	"image"
	"image/png"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/gridstand/gridstand/game/replay"
	replaytest "github.com/gridstand/gridstand/internal/testkit/replay"
	pb "github.com/gridstand/gridstand/proto/gridstand/v1"
	"github.com/gridstand/gridstand/proto/translate"
	"github.com/gridstand/gridstand/server/internal/web/picture"
)

var update = flag.Bool("update", false, "write the pictures that the tests compare with")

// Ensure that pictures match the recorded ones, which a person has reviewed, and that they have different
// versions.
func TestDraw(t *testing.T) {
	t.Parallel()
	names := []string{"ada 22", "greedy 36", "the-night-watch-of-rust1 19", "41 moves"}
	versions := map[string]bool{}
	for name, p := range map[string]picture.Poster{
		"race": {
			Title: "the-night-watch-of-rust1 races", About: "2048 classic, 3 min", Foot: "5 of 8 are here",
			Lines: []string{"the-night-watch-of-rust1", "ada", "zoe", "grace_hopper", "greedy"},
		},
		"daily": {Title: "Daily game of 2026-11-21", About: "2048 classic", Foot: "How far can you get?", Live: true, Lines: []string{"The same tiles for everyone"}},
		"player": {
			Title: "ada", About: "2048 3x3", Foot: "Latest game", Lines: []string{"1,024 points", "tile 128, 99 moves"}, Scored: true,
			Position: twenty48(3, []int32{2, 4, 8, 16, 32, 64, 128, 0, 2}),
		},
		"won": {
			Title: "grace_hopper", About: "2048 classic", Foot: "No moves left", Lines: []string{"2,417,896 points", "tile 131072, 61,025 moves"}, Scored: true,
			Position: twenty48(4, []int32{131072, 16384, 4, 2, 1024, 2048, 32, 4, 512, 256, 128, 8, 2, 64, 16, 4096}),
		},
		"tribolo":      {Title: "ada, greedy, the-night-watch-of-rust1", About: "Tribolo", Lines: names, Foot: "Live", Live: true, Position: tribolo(t)},
		"tribolo-over": {Title: "ada, greedy, minimax", About: "Tribolo", Lines: names, Foot: "red wins", Position: tribolo(t)},
	} {
		var b bytes.Buffer
		require.NoError(t, picture.Draw(&b, p))
		assert.Less(t, b.Len(), 40_000, "a preview is loaded over slow networks")
		compare(t, name, b.Bytes())
		versions[p.Version()] = true
	}
	assert.Len(t, versions, 6)
}

// Ensure that an invalid or unknown board is drawn, and never crashes the server.
func TestDraw_OddBoards(t *testing.T) {
	t.Parallel()
	every := make([]int32, 36)
	for i := range every {
		every[i] = 2 << (i % 30)
	}
	for name, position := range map[string]*pb.Position{
		"every tile":    twenty48(6, every),
		"too few tiles": twenty48(4, []int32{2}),
		"a wide board": {Board: &pb.Position_Twenty48{Twenty48: &pb.Twenty48Board{
			Rows: 2, Columns: 9, Tiles: []int32{2, 4, 8, -2},
		}}},
		"an unknown cell": {Board: &pb.Position_Tribolo{Tribolo: &pb.TriboloBoard{
			Rows: 11, Columns: 16, Cells: []pb.CellState{9, 0, -4},
		}}},
		"no position": nil, "no board": {}, "no rows": twenty48(0, nil), "too large a board": twenty48(1_000_000, nil),
	} {
		var b bytes.Buffer
		require.NoError(t, picture.Draw(&b, picture.Poster{Title: strings.Repeat("W", 200), Lines: make([]string, 5), Position: position}))
		img, err := png.Decode(&b)
		require.NoError(t, err, name)
		assert.Equal(t, image.Rect(0, 0, picture.Width, picture.Height), img.Bounds(), name)
	}
}

// compare compares the pixels of a PNG with those of the recorded picture. It does not
// compare bytes, because another version of Go may compress the image differently. A few
// pixels at edges may differ, because processors round differently.
func compare(t *testing.T, name string, got []byte) {
	t.Helper()
	golden := filepath.Join("testdata", name+".png")
	if *update {
		require.NoError(t, os.WriteFile(golden, got, 0o600))
	}
	want, err := os.ReadFile(golden)
	require.NoError(t, err)
	a, b := decode(t, want), decode(t, got)
	require.Equal(t, a.Rect, b.Rect)
	different := 0
	for i, p := range a.Pix {
		if a.Palette[p] != b.Palette[b.Pix[i]] {
			different++
		}
	}
	assert.LessOrEqual(t, different, len(a.Pix)/5000, "pixels differ from %s; if they should: go test ./server/internal/web/picture -update", golden)
}

// decode decodes a paletted PNG.
func decode(t *testing.T, data []byte) *image.Paletted {
	t.Helper()
	img, err := png.Decode(bytes.NewReader(data))
	require.NoError(t, err)
	require.IsType(t, &image.Paletted{}, img)
	return img.(*image.Paletted)
}

// twenty48 returns a position of 2048 on a square board.
func twenty48(side int32, tiles []int32) *pb.Position {
	return &pb.Position{Board: &pb.Position_Twenty48{Twenty48: &pb.Twenty48Board{Rows: side, Columns: side, Tiles: tiles}}}
}

// tribolo returns a position of Tribolo.
func tribolo(t *testing.T) *pb.Position {
	t.Helper()
	ada := replay.Seat{Player: replay.Player{ID: "ada", Name: "ada"}}
	last := replaytest.Tribolo(t, "tribolo", 41, time.Unix(1e9, 0), ada, replay.Seat{Bot: "greedy"}, replay.Seat{Bot: "minimax"})
	return translate.Game(last.State, 0).GetPosition()
}
