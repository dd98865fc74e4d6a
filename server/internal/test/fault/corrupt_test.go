package fault

import (
	"bytes"
	"encoding/binary"
	"slices"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/gridstand/gridstand/internal/testkit/longtest"
	pb "github.com/gridstand/gridstand/proto/gridstand/v1"
	"github.com/gridstand/gridstand/server/internal/store"
)

// pageBytes is the size of a page in the file.
const pageBytes = 4096

// leafOfIndex is the first byte of a leaf page of an index. A table WITHOUT ROWID is stored in
// the same way as an index.
const leafOfIndex = 0x0a

// rows returns the rows in a leaf page of an index or of a table WITHOUT ROWID. The unused space
// between the rows may contain remnants of rows that were moved.
func rows(page []byte) (all [][]byte) {
	if page[0] != leafOfIndex {
		return nil
	}
	const header = 8
	for i := range int(binary.BigEndian.Uint16(page[3:])) {
		row := page[binary.BigEndian.Uint16(page[header+2*i:]):]
		size, n := int(row[0]), 1
		if size >= 0x80 { // no row is so large that its size takes three bytes
			size, n = size&0x7f<<7|int(row[1]&0x7f), 2
		}
		all = append(all, row[n:min(len(row), n+size)])
	}
	return all
}

// holds reports whether a page contains an entry. Only the entry itself and its game's head
// contain the entry's digest, and heads are in a different kind of table.
func holds(page []byte, entry store.Record) bool {
	digest := binary.BigEndian.AppendUint64(nil, entry.ID.Digest)
	return slices.ContainsFunc(rows(page), func(row []byte) bool { return bytes.Contains(row, digest) })
}

// corruptGames is the number of games. It is large enough for them to fill several pages,
// including pages that are not adjacent to the damaged one.
const corruptGames = 60

// Ensure that damage to one page of the file while no server is running affects only the games with
// entries on that page. The other games continue, and the lists work.
func TestSQLite_CorruptPage_long(t *testing.T) {
	longtest.Skip(t)
	t.Parallel()
	for name, spoil := range map[string]func(page []byte){
		"zeros":         func(page []byte) { clear(page) },
		"foreign bytes": func(page []byte) { copy(page, bytes.Repeat([]byte("elsewhere "), pageBytes/10)) },
		"a wrong header": func(page []byte) {
			page[3], page[4] = 0xff, 0xff // number of rows
		},
		"wrong rows": func(page []byte) {
			for i := 8 + 2*len(rows(page)); i < pageBytes; i += 4 {
				page[i] ^= 0x55
			}
		},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			env := newSQLiteEnv(t)
			server := env.serve()
			player := env.player(server)
			lasts := map[string]*pb.Event{}
			for range corruptGames {
				last := player.playTo(t, seeded(t), player.start(t, "6x6"), whole)
				lasts[last.GetGameId()] = last
			}
			logs := env.logs(t.Context(), t)
			env.closeFile(t)
			server.stop()

			stored := readImage(t, env.path())
			require.Empty(t, stored.wal, "a stopping server writes everything to the file")
			lost := spoilPage(t, stored.db, logs, spoil)
			stored.write(t, env.path())
			for gameID := range lost {
				env.markDamaged(gameID)
			}

			player = player.on(env.serve())
			for gameID, last := range lasts {
				if !lost[gameID] {
					player.requirePlayable(t, last)
					continue
				}
				for _, d := range last.GetPosition().GetTwenty48().GetLegalMoves() {
					_, err := player.move(t.Context(), gameID, last.GetVersion(), d)
					wantDamaged(t, err, anyVersion)
				}
				_, err := player.get(t.Context(), gameID)
				wantDamaged(t, err, anyVersion)
				wantDamaged(t, player.watch(t, gameID, watching{after: fromStart()}).awaitEnd(t), anyVersion)
			}
			mine, err := player.games.ListGames(player.authorized(t.Context()), &pb.ListGamesRequest{PlayerId: "me", PageSize: 100})
			require.NoError(t, err)
			assert.Len(t, mine.GetGames(), len(lasts))
			player.playScored(t)
		})
	}
}

// spoilPage damages one of the pages of the file that contain entries, and returns the games
// that have entries on that page.
func spoilPage(t *testing.T, db []byte, logs map[string][]store.Record, spoil func(page []byte)) map[string]bool {
	t.Helper()
	type candidate struct {
		page []byte
		lost map[string]bool
	}
	var pages []candidate
	for page := range slices.Chunk(db, pageBytes) {
		lost := map[string]bool{}
		for gameID, log := range logs {
			if slices.ContainsFunc(log, func(e store.Record) bool { return holds(page, e) }) {
				lost[gameID] = true
			}
		}
		if len(lost) > 0 {
			pages = append(pages, candidate{page, lost})
		}
	}
	require.Greater(t, len(pages), 4)
	middle := pages[len(pages)/2]
	t.Logf("damaged %d of %d games, on one of %d pages", len(middle.lost), len(logs), len(pages))
	spoil(middle.page)
	return middle.lost
}
