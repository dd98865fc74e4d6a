package fault

import (
	"fmt"
	"maps"
	"math/rand/v2"
	"path/filepath"
	"slices"
	"sync"
	"sync/atomic"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
	"google.golang.org/grpc/codes"
	"google.golang.org/protobuf/proto"

	"github.com/gridstand/gridstand/internal/testkit/longtest"
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
	rng := seeded(t)
	for version := int32(2); version <= whole; version++ {
		for _, id := range ids {
			p.lasts[id] = p.player.playTo(t, rng, after(p.lasts[id]), version)
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

// Ensure that a power cut changes nothing, no matter what data it leaves after the last
// transaction in the write-ahead log, because that data was never synced.
func TestSQLite_TornTail_long(t *testing.T) {
	longtest.Skip(t)
	t.Parallel()
	p := playInOrder(t, 3)
	rng := seeded(t)
	var images []image
	for range 40 {
		tail := make([]byte, 1+rng.IntN(2*frameSize))
		for i := range tail {
			tail[i] = byte(rng.Uint32())
		}
		if rng.IntN(2) == 0 { // make the tail start like a page of the same log
			copy(tail, p.image.wal[len(p.image.wal)-frameSize:][:16])
		}
		images = append(images, image{p.image.db, slices.Concat(p.image.wal, tail)})
	}
	for _, found := range p.entriesInEach(t, images) {
		assert.Equal(t, len(p.order), found)
	}
}

// Ensure that a store whose write-ahead log was cut at any byte of its last page, at half of any
// page, or damaged in any bit opens in the state after an earlier transaction.
func TestSQLite_LogCut_long(t *testing.T) {
	longtest.Skip(t)
	t.Parallel()
	p := playInOrder(t, 3)
	wal := p.image.wal
	cuts := map[int]bool{len(wal): true}
	for n := len(wal) - frameSize; n < len(wal); n++ {
		cuts[n] = true
	}
	for n := 0; n < len(wal); n += frameSize / 2 {
		cuts[n] = true
	}
	before := 0
	states := map[int]bool{}
	lengths := slices.Sorted(maps.Keys(cuts))
	var images []image
	for _, n := range lengths {
		images = append(images, image{p.image.db, wal[:n]})
	}
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
}

// Ensure that clients get an error if they have seen more than the store contains, because its
// write-ahead log lost synced bytes or an older copy was restored. No watcher or player may
// mistake a different history for the one that they know.
func TestSQLite_RolledBack_long(t *testing.T) {
	longtest.Skip(t)
	t.Parallel()
	for name, lose := range map[string]func(t *testing.T, p *played) image{
		"a truncated log": func(t *testing.T, p *played) image {
			t.Helper()
			for n := len(p.image.wal); ; n -= frameSize {
				lost := image{p.image.db, p.image.wal[:n]}
				if p.entriesIn(t, lost) <= len(p.order)-2*len(p.lasts) {
					return lost
				}
			}
		},
		"an older copy": func(t *testing.T, p *played) image {
			t.Helper()
			server := p.env.serveProcess()
			player := p.player.on(server)
			for id, last := range p.lasts {
				p.lasts[id] = player.playTo(t, seeded(t), after(last), whole+3)
			}
			server.stop()
			return p.image
		},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			p := playInOrder(t, 3)
			lost := lose(t, p)
			for id := range p.lasts {
				p.env.markDamaged(id)
			}
			lost.write(t, p.env.path())
			fresh := p.player.on(p.env.serveProcess()).withOwnObservations(t)
			for id, last := range p.lasts {
				p.requireBehind(t, fresh, id, last)
			}
			fresh.playScored(t)
		})
	}
}

// requireBehind requires that a server refuses the requests of a client that knows a later
// version of a game, both before and after the game is continued to just below that version.
func (p *played) requireBehind(t *testing.T, fresh *caller, gameID string, last *pb.Event) {
	t.Helper()
	conflict := func(err error) {
		t.Helper()
		require.Error(t, err)
		r := refusalOf(err)
		assert.Equal(t, codes.Aborted, r.code, "%v", err)
		assert.Equal(t, pb.ReasonVersionConflict, r.reason)
	}
	legal := last.GetPosition().GetTwenty48().GetLegalMoves()
	_, err := fresh.move(t.Context(), gameID, last.GetVersion(), legal[0])
	conflict(err)
	for _, every := range []bool{false, true} {
		conflict(fresh.watch(t, gameID, watching{after: proto.Int32(last.GetVersion()), every: every}).awaitEnd(t))
	}
	game, err := fresh.get(t.Context(), gameID)
	require.NoError(t, err)
	require.Less(t, game.GetVersion(), last.GetVersion())
	other := fresh.playTo(t, rand.New(rand.NewPCG(1, 2)), game, last.GetVersion()-1)
	conflict(fresh.watch(t, gameID, watching{after: proto.Int32(last.GetVersion())}).awaitEnd(t))
	fresh.requirePlayable(t, other)
}
