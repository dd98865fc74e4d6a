package twenty48_test

import (
	"strconv"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/gridstand/gridstand/game"
	"github.com/gridstand/gridstand/game/internal/gametest"
	"github.com/gridstand/gridstand/game/twenty48"
)

var (
	seed    = gametest.Seed
	bytesOf = gametest.Bytes
)

// classic returns the base config that tests modify.
func classic(rows, columns int) twenty48.Config {
	return twenty48.Config{Rows: rows, Columns: columns, Start: twenty48.StartSpawned, FoursIn: 10, Goal: 2048}
}

// tiles parses a drawing of a board: cells separated by spaces, rows by slashes, and a dot for an
// empty cell.
func tiles(t require.TestingT, board string) []int32 {
	var faces []int32
	for _, field := range strings.Fields(strings.ReplaceAll(board, "/", " ")) {
		if field == "." {
			field = "0"
		}
		face, err := strconv.ParseInt(field, 10, 32)
		require.NoError(t, err)
		faces = append(faces, int32(face))
	}
	return faces
}

// position returns a position with score 0.
func position(t *testing.T, c twenty48.Config, board string) (*twenty48.Rules, *twenty48.Position) {
	t.Helper()
	r := twenty48.New(c)
	p, err := r.Position(tiles(t, board), 0, 0)
	require.NoError(t, err)
	return r, p
}

// beforeSpawn returns the board of p without the tile that spawned into it.
func beforeSpawn(p game.Position, change game.Change) []int32 {
	faces := p.(*twenty48.Position).Tiles()
	if change.Spawned != nil {
		faces[change.Spawned.Index] = 0
	}
	return faces
}
