//go:build slow

package fault

import (
	"fmt"
	"maps"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"sync"
	"sync/atomic"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	pb "github.com/gridstand/gridstand/proto/gridstand/v1"
	"github.com/gridstand/gridstand/server/internal/store/sqlite"
)

// played is a set of games whose entries were written one after another by a server that was
// then killed.
type played struct {
	env *env
	// image is the store as the server left it.
	image image
	// order holds, for each entry, the game that it belongs to, in the order in which the
	// entries were written.
	order []string
	lasts map[string]*pb.Event
	// player owns the games.
	player *caller
	// dir is the directory in which entriesIn creates stores, and opened is the number of stores
	// created so far.
	dir    string
	opened atomic.Int32
}

// playInOrder plays the given number of games in turn, each up to the version whole.
func playInOrder(t *testing.T, games int) *played {
	t.Helper()
	p := &played{env: newSQLiteEnv(t), lasts: map[string]*pb.Event{}, dir: t.TempDir()}
	server := p.env.serveProcess()
	p.player = p.env.player(server)
	var ids []string
	for range games {
		game := p.player.start(t, "6x6")
		p.order, ids = append(p.order, game.GetId()), append(ids, game.GetId())
		p.lasts[game.GetId()] = &pb.Event{GameId: game.GetId(), Version: game.GetVersion(), Position: game.GetPosition()}
	}
	for version := int32(2); version <= whole; version++ {
		for _, id := range ids {
			p.lasts[id] = p.player.playTo(t, after(p.lasts[id]), version)
			p.order = append(p.order, id)
		}
	}
	server.stop()
	p.image = readImage(t, p.env.path())
	return p
}

// opensAtOnce is the number of stores that entriesInEach opens at the same time. On a slow disk,
// opening a store takes seconds, and waits nearly all the time.
const opensAtOnce = 16

// entriesInEach is like entriesIn, for several images.
func (p *played) entriesInEach(t *testing.T, images []image) []int {
	t.Helper()
	found := make([]int, len(images))
	places := make(chan struct{}, opensAtOnce)
	var group sync.WaitGroup
	for n, i := range images {
		places <- struct{}{}
		group.Go(func() {
			defer func() { <-places }()
			found[n] = p.entriesIn(t, i)
		})
	}
	group.Wait()
	if t.Failed() {
		t.FailNow()
	}
	return found
}

// entriesIn opens a store with the image's content and returns its number of entries. It
// requires that these are the entries that were written first, and that the heads match them.
func (p *played) entriesIn(t *testing.T, i image) int {
	t.Helper()
	path := filepath.Join(p.dir, fmt.Sprintf("%d.db", p.opened.Add(1))) // each store gets its own name
	i.write(t, path)
	s, err := sqlite.Open(sqlite.Options{Path: path})
	require.NoError(t, err)
	defer func() {
		require.NoError(t, s.Close())
		removeStore(t, path)
	}()
	lengths, total := map[string]int{}, 0
	for id := range p.lasts {
		tail, err := s.Games.Tail(t.Context(), id)
		require.NoError(t, err)
		require.Equal(t, tail.Last, tail.Head, "of %s", id)
		require.EqualValues(t, tail.Last.Version, tail.Length)
		if tail.Length > 0 {
			lengths[id] = int(tail.Length)
			total += int(tail.Length)
		}
	}
	want := map[string]int{}
	for _, id := range p.order[:total] {
		want[id]++
	}
	require.Equal(t, want, lengths, "the store never had this state")
	return total
}

// frameSize is the size of a page in the write-ahead log, with its header.
const frameSize = 24 + 4096

// Ensure that a store whose write-ahead log was cut at any byte of its last page or at half of any
// page, was damaged in any bit, or has an unsynced tail of any bytes opens in the state after an
// earlier transaction: with such a tail, after the last one.
func TestSQLite_TornLog(t *testing.T) {
	t.Parallel()
	p := playInOrder(t, 3)
	wal := p.image.wal
	cuts := map[int]bool{len(wal): true}
	for n := len(wal) - frameSize; n < len(wal); n += 16 {
		cuts[n] = true
	}
	for n := 0; n < len(wal); n += frameSize / 2 {
		cuts[n] = true
	}
	lengths := slices.Sorted(maps.Keys(cuts))
	var images []image
	for _, n := range lengths {
		images = append(images, image{p.image.db, wal[:n]})
	}
	before, states := 0, map[int]bool{}
	for i, found := range p.entriesInEach(t, images) {
		require.GreaterOrEqual(t, found, before, "a longer log has fewer entries, at byte %d", lengths[i])
		states[found], before = true, found
	}
	assert.Equal(t, len(p.order), before)
	assert.Len(t, states, len(p.order)+1, "not every transaction was cut off")

	rng := seeded(t)
	images = nil
	for range 100 {
		damaged := slices.Clone(wal)
		damaged[rng.IntN(len(damaged))] ^= 1 << rng.IntN(8)
		images = append(images, image{p.image.db, damaged})
	}
	p.entriesInEach(t, images)

	images = nil
	for range 40 {
		tail := make([]byte, 1+rng.IntN(2*frameSize))
		for i := range tail {
			tail[i] = byte(rng.Uint32())
		}
		if rng.IntN(2) == 0 { // make the tail start like a page of the same log
			copy(tail, wal[len(wal)-frameSize:][:16])
		}
		images = append(images, image{p.image.db, slices.Concat(wal, tail)})
	}
	for _, found := range p.entriesInEach(t, images) {
		assert.Equal(t, len(p.order), found)
	}
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
