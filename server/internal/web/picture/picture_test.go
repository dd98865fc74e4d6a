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

// Ensure that pictures match the recorded ones, which a person has reviewed.
func TestDraw(t *testing.T) {
	t.Parallel()
	for name, g := range samples(t) {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			var b bytes.Buffer
			require.NoError(t, picture.Draw(&b, g))
			assert.Less(t, b.Len(), 40_000, "a preview is loaded over slow networks")
			compare(t, name, b.Bytes())
		})
	}
}

// Ensure that posters match the recorded pictures, and that they have different versions.
func TestDrawPoster(t *testing.T) {
	t.Parallel()
	versions := map[string]bool{}
	for name, p := range map[string]picture.Poster{
		"race": {
			Title: "the-night-watch-of-rust1 races", About: "2048 classic, 3 min", Foot: "5 of 8 are here",
			Lines: []string{"the-night-watch-of-rust1", "ada", "zoe", "grace_hopper", "greedy"},
		},
		"daily": {Title: "Daily game of 2026-11-21", About: "2048 classic", Foot: "How far can you get?", Live: true, Lines: []string{"The same tiles for everyone"}},
		"player": {
			Title: "ada", About: "2048 3x3", Foot: "Latest game", Lines: []string{"1,024 points", "tile 128, 99 moves"},
			Board: &pb.Twenty48Board{Rows: 3, Columns: 3, Tiles: []int32{2, 4, 8, 16, 32, 64, 128, 0, 2}},
		},
	} {
		var b bytes.Buffer
		require.NoError(t, picture.DrawPoster(&b, p))
		assert.Less(t, b.Len(), 40_000, "a preview is loaded over slow networks")
		compare(t, name, b.Bytes())
		versions[p.Version()] = true
	}
	assert.Len(t, versions, 3)
}

// Ensure that the home screen icon matches the recorded one.
func TestIcon(t *testing.T) {
	t.Parallel()
	compare(t, "icon", picture.Icon(180))
}

// Ensure that a game with an invalid or unknown board is either drawn or rejected, but
// never crashes the server.
func TestDraw_OddGames(t *testing.T) {
	t.Parallel()
	every := make([]int32, 36)
	for i := range every {
		every[i] = 2 << (i % 30)
	}
	for name, g := range map[string]*pb.Game{
		"every tile":    twenty48(6, every),
		"too few tiles": twenty48(4, []int32{2}),
		"a wide board": {Position: &pb.Position{Board: &pb.Position_Twenty48{Twenty48: &pb.Twenty48Board{
			Rows: 2, Columns: 9, Tiles: []int32{2, 4, 8, -2},
		}}}},
		"an unknown cell": {
			Seats: make([]*pb.Seat, 5),
			Position: &pb.Position{Board: &pb.Position_Tribolo{Tribolo: &pb.TriboloBoard{
				Rows: 11, Columns: 16, Cells: []pb.CellState{9, 0, -4},
			}}},
		},
		"a long name": {Seats: seats(strings.Repeat("W", 200)), Position: twenty48(3, nil).Position},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			var b bytes.Buffer
			require.NoError(t, picture.Draw(&b, g))
			img, err := png.Decode(&b)
			require.NoError(t, err)
			assert.Equal(t, image.Rect(0, 0, picture.Width, picture.Height), img.Bounds())
		})
	}
	for name, g := range map[string]*pb.Game{
		"no game": nil, "no position": {}, "no rows": twenty48(0, nil), "too large a board": twenty48(1_000_000, nil),
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			var b bytes.Buffer
			require.ErrorIs(t, picture.Draw(&b, g), picture.ErrNoBoard)
			assert.Zero(t, b.Len())
		})
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

// samples returns games that differ in their rules, board size and status, by picture
// name.
func samples(t *testing.T) map[string]*pb.Game {
	t.Helper()
	won := twenty48(4, []int32{131072, 16384, 4, 2, 1024, 2048, 32, 4, 512, 256, 128, 8, 2, 64, 16, 4096})
	won.Variant, won.Seats, won.Status = "classic", seats("grace_hopper"), pb.GameStatus_GAME_STATUS_FINISHED
	won.Position.MoveCount, won.Position.Scores = 61025, []int32{2_417_896}
	won.Result = &pb.Result{Reason: pb.Result_REASON_NO_MOVES}

	return map[string]*pb.Game{"won": won, "tribolo": tribolo(t), "tribolo-over": triboloOver(t)}
}

// twenty48 returns a game of 2048 on a square board.
func twenty48(side int32, tiles []int32) *pb.Game {
	return &pb.Game{Position: &pb.Position{Board: &pb.Position_Twenty48{
		Twenty48: &pb.Twenty48Board{Rows: side, Columns: side, Tiles: tiles},
	}}}
}

// seats returns a list with one seat, taken by the named player.
func seats(name string) []*pb.Seat {
	return []*pb.Seat{{Occupant: &pb.Seat_Player{Player: &pb.Player{Name: name}}}}
}

// tribolo returns an active game of Tribolo.
func tribolo(t *testing.T) *pb.Game {
	t.Helper()
	ada := replay.Seat{Player: replay.Player{ID: "ada", Name: "ada"}}
	last := replaytest.Tribolo(t, "tribolo", 41, time.Unix(1e9, 0), ada, replay.Seat{Bot: "greedy"}, replay.Seat{Bot: "minimax"})
	return translate.Game(last.State, 0)
}

// triboloOver returns the game from tribolo after a player with a long name has won it.
func triboloOver(t *testing.T) *pb.Game {
	t.Helper()
	g := tribolo(t)
	g.Status = pb.GameStatus_GAME_STATUS_FINISHED
	g.Seats[1] = seats("the-night-watch-of-rust1")[0]
	g.Position.Turn = nil
	g.Result = &pb.Result{Reason: pb.Result_REASON_NO_MOVES, Winners: []int32{1}}
	return g
}
