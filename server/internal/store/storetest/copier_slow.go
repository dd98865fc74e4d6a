//go:build slow

package storetest

import (
	"slices"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/gridstand/gridstand/server/internal/store"
)

// CopierPieces checks that Export visits a large store in pieces that are bounded.
func CopierPieces(t *testing.T, open Open) {
	s := open(t)
	const most = 8000
	at := now()
	long := exportedGame(0, 9000, at)
	for part := range slices.Chunk(long.Entries, 3000) {
		require.NoError(t, s.Copier.Import(t.Context(), store.Piece{Games: []store.GamePiece{{GameID: long.GameID, Entries: part}}}))
	}
	require.NoError(t, s.Copier.Import(t.Context(), store.Piece{Games: []store.GamePiece{{GameID: long.GameID, Head: long.Head}}}))
	var others []store.GamePiece
	var board []store.BoardEntry
	for n := range 1100 {
		others = append(others, exportedGame(n+1, 10, at))
		board = append(board, store.BoardEntry{PlayerID: playerID(n), Score: int32(n), Member: "1:" + playerID(n) + ":g"})
	}
	require.NoError(t, s.Copier.Import(t.Context(), store.Piece{Games: others, Boards: []store.BoardPiece{{Board: store.Board{Variant: "v", Window: "w"}, Entries: board}}}))
	var copied store.Copied
	require.NoError(t, s.Copier.Export(t.Context(), func(p store.Piece) error {
		entries := 0
		for _, g := range p.Games {
			entries += len(g.Entries)
			if g.Head != nil {
				copied.Games++
			}
		}
		for _, b := range p.Boards {
			copied.Scores += len(b.Entries)
			entries += len(b.Entries)
		}
		assert.LessOrEqual(t, entries, most)
		copied.Entries += entries
		return nil
	}))
	assert.Equal(t, 1101, copied.Games)
	assert.Equal(t, 1100, copied.Scores)
	assert.Equal(t, 9000+1100*10+1100, copied.Entries)
	assert.Equal(t, long.Entries[8999].ID, Kept(t, s)["game "+long.GameID].(store.GamePiece).Entries[8999].ID)
}
