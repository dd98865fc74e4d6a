package sqlite

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
	sqlite3 "zombiezen.com/go/sqlite"

	"github.com/gridstand/gridstand/server/internal/store"
)

// openStore opens a store that is closed after the test.
func openStore(t testing.TB, o Options) *store.Store {
	t.Helper()
	s, err := Open(o)
	require.NoError(t, err)
	t.Cleanup(func() { assert.NoError(t, s.Close()) })
	return s
}

// entry returns the nth entry of a test game.
func entry(game string, n int32) store.Entry {
	e := store.Entry{Next: entryID(game, n), Raw: fmt.Appendf(nil, "entry %d of %s, %60d", n, game, n), Head: bytes.Repeat([]byte{'h'}, 160)}
	if n == 1 {
		e.Seed = []byte("a seed")
	} else {
		e.Prev = entryID(game, n-1)
	}
	return e
}

func entryID(game string, n int32) store.ID {
	return store.ID{Version: n, Digest: uint64(len(game)) << 60 * uint64(n)}
}

// play appends the entries of a game up to and including a version.
func play(t testing.TB, s *store.Store, game string, from, through int32) {
	t.Helper()
	for n := from; n <= through; n++ {
		_, err := s.Games.Append(t.Context(), game, entry(game, n))
		require.NoError(t, err)
	}
}

// Ensure that the writes of Then are committed with the entry or not at all.
func TestAppend_Then(t *testing.T) {
	t.Parallel()
	d := openDB(t, Options{Memory: true})
	s := ports(&engine{db: d, audience: newAudience(), feed: newFeed()}, d)
	mine := errors.New("mine")
	e := entry("a", 1)
	e.Then = func(ctx context.Context, _ time.Time) error {
		assert.NoError(t, insert(ctx, d, 1))
		return mine
	}
	_, err := s.Games.Append(t.Context(), "a", e)
	require.ErrorIs(t, err, mine)
	assert.Empty(t, rows(t, d))
	tail, err := s.Games.Tail(t.Context(), "a")
	require.NoError(t, err)
	assert.Zero(t, tail)

	var at time.Time
	e.Then = func(ctx context.Context, t time.Time) error {
		at = t
		return insert(ctx, d, 1)
	}
	for range 2 {
		done, err := s.Games.Append(t.Context(), "a", e)
		require.NoError(t, err)
		assert.True(t, done.Then)
		assert.Equal(t, at, done.Time)
	}
	assert.Equal(t, []int{1}, rows(t, d))
}

// Ensure that readers no longer see games once they have expired, that the sweep removes
// them from the file, and that their IDs can be reused.
func TestGames_Sweep(t *testing.T) {
	t.Parallel()
	var ahead atomic.Int64
	s := openStore(t, Options{Memory: true, Now: func() time.Time { return time.Now().Add(time.Duration(ahead.Load())) }})
	d := s.Engine.(engineOn).db
	for _, game := range []string{"a", "b", "c"} {
		play(t, s, game, 1, 3*sweepRows/2)
	}
	now, err := s.Time(t.Context())
	require.NoError(t, err)
	require.NoError(t, s.Games.Expire(t.Context(), now.Add(time.Hour), "a", "b"))
	ahead.Add(int64(time.Hour + time.Second))
	tail, err := s.Games.Tail(t.Context(), "a")
	require.NoError(t, err)
	assert.Zero(t, tail)
	play(t, s, "b", 1, 2)
	require.NoError(t, d.sweep(t.Context()))
	count := func(table string) (n int64) {
		require.NoError(t, d.read(t.Context(), func(c *sqlite3.Conn) error {
			n, err = number(c, "SELECT count(*) FROM "+table)
			return err
		}))
		return n
	}
	assert.EqualValues(t, 2, count("games"))
	assert.EqualValues(t, 3*sweepRows/2+2, count("entries"))
}

// listener counts its calls, and keeps the last version.
type listener struct {
	mu                   sync.Mutex
	listening, published int
	last                 int32
	free                 chan struct{} // if not nil, Published waits for it
}

func (l *listener) Listening() {
	l.mu.Lock()
	defer l.mu.Unlock()
	l.listening++
}

func (l *listener) Published(r store.Record) {
	if l.free != nil {
		<-l.free
	}
	l.mu.Lock()
	defer l.mu.Unlock()
	l.published++
	l.last = r.ID.Version
}

func (l *listener) Audience(int) {}

// Ensure that a listener that missed entries because the queue was full is later told to
// read the log.
func TestFeed_Overflow(t *testing.T) {
	t.Parallel()
	f := newFeed()
	l := &listener{free: make(chan struct{})}
	f.Follow("a", l)
	ctx, cancel := context.WithCancel(t.Context())
	var group sync.WaitGroup
	group.Go(func() { assert.NoError(t, f.Run(ctx)) })
	heard := func(listening int) {
		require.Eventually(t, func() bool {
			l.mu.Lock()
			defer l.mu.Unlock()
			return l.listening >= listening
		}, 5*time.Minute, time.Millisecond)
	}
	heard(1)
	for n := range int32(3 * maxEvents) {
		f.published("a", store.Record{ID: store.ID{Version: n}})
	}
	close(l.free)
	heard(2)
	cancel()
	group.Wait()
	assert.Less(t, l.published, 3*maxEvents)
}
