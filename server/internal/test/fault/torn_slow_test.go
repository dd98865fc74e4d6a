//go:build slow

package fault

import (
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	pb "github.com/gridstand/gridstand/proto/gridstand/v1"
	"github.com/gridstand/gridstand/server/internal/store/sqlite"
)

// frameSize is the size of a page in the write-ahead log, with its header.
const frameSize = 24 + 4096

// Ensure that a store whose write-ahead log was cut at half of any page, or at any part of its last page,
// opens in the state after an earlier transaction: each entry's game has its head, and the entries are
// those that were written first. SQLite's checksums detect any other damage of the log.
func TestSQLite_TornLog(t *testing.T) {
	t.Parallel()
	env := newSQLiteEnv(t)
	server := env.serveProcess()
	player := env.player(server)
	games := []*pb.Game{player.start(t, "6x6"), player.start(t, "6x6")}
	order := []string{games[0].GetId(), games[1].GetId()} // the game of each entry, in the order of writing
	for version := int32(2); version <= whole; version++ {
		for i, game := range games {
			games[i] = after(player.playTo(t, game, version))
			order = append(order, game.GetId())
		}
	}
	server.stop()
	left := readImage(t, env.path())
	var cuts []int
	for n := 0; n < len(left.wal); n += frameSize / 2 {
		cuts = append(cuts, n)
	}
	for n := len(left.wal) - frameSize; n < len(left.wal); n += 256 {
		cuts = append(cuts, n)
	}
	slices.Sort(cuts)
	before, states := 0, map[int]bool{}
	path := filepath.Join(t.TempDir(), "cut.db")
	for _, n := range append(cuts, len(left.wal)) {
		image{left.db, left.wal[:n]}.write(t, path)
		found := entriesIn(t, path, order)
		require.GreaterOrEqual(t, found, before, "a longer log has fewer entries, at byte %d", n)
		states[found], before = true, found
	}
	assert.Equal(t, len(order), before)
	assert.Len(t, states, len(order)+1, "not every transaction was cut off")
}

// entriesIn returns a store's number of entries. It requires that they are the first ones of the order in
// which they were written, and that the games' heads match them.
func entriesIn(t *testing.T, path string, order []string) (total int) {
	t.Helper()
	s, err := sqlite.Open(sqlite.Options{Path: path})
	require.NoError(t, err)
	defer func() { require.NoError(t, s.Close()) }()
	lengths, want := map[string]int{}, map[string]int{}
	for _, id := range order[:2] {
		tail, err := s.Games.Tail(t.Context(), id)
		require.NoError(t, err)
		require.Equal(t, tail.Last, tail.Head, "of %s", id)
		require.EqualValues(t, tail.Last.Version, tail.Length)
		if tail.Length > 0 {
			lengths[id] = int(tail.Length)
			total += int(tail.Length)
		}
	}
	for _, id := range order[:total] {
		want[id]++
	}
	require.Equal(t, want, lengths, "the store never had this state")
	return total
}

// image is the content of a store's file and of its write-ahead log.
type image struct{ db, wal []byte }

// readImage reads a store that this process must not have open: closing any file descriptor of
// a file releases all locks that the process has on that file.
func readImage(t *testing.T, path string) image {
	t.Helper()
	db, err := os.ReadFile(path)
	require.NoError(t, err)
	wal, err := os.ReadFile(path + "-wal")
	if !os.IsNotExist(err) {
		require.NoError(t, err)
	}
	return image{db, wal}
}

// write replaces a store, which no process may have open, with the image.
func (i image) write(t *testing.T, path string) {
	t.Helper()
	removeStore(t, path)
	// The lock file indicates that the write-ahead log belongs to the file that was just
	// removed.
	if err := os.Remove(path + ".lock"); !os.IsNotExist(err) {
		require.NoError(t, err)
	}
	require.NoError(t, os.WriteFile(path, i.db, 0o600))
	if len(i.wal) > 0 {
		require.NoError(t, os.WriteFile(path+"-wal", i.wal, 0o600))
	}
}

// removeStore removes the files of a store except the one that servers lock.
func removeStore(t *testing.T, path string) {
	t.Helper()
	for _, suffix := range []string{"", "-wal", "-shm"} {
		if err := os.Remove(path + suffix); !os.IsNotExist(err) {
			require.NoError(t, err)
		}
	}
}

// copyStore copies the files of a store, which processes may have open.
func copyStore(t *testing.T, from, to string) {
	t.Helper()
	for _, suffix := range []string{"", "-wal"} {
		out, err := exec.Command("cp", from+suffix, to+suffix).CombinedOutput()
		require.NoError(t, err, "%s", out)
	}
}
