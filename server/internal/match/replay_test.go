package match

import (
	"context"
	"errors"
	"slices"
	"sync"
	"sync/atomic"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/gridstand/gridstand/game"
	"github.com/gridstand/gridstand/game/replay"
	"github.com/gridstand/gridstand/server/internal/gamelog"
	"github.com/gridstand/gridstand/server/internal/store"
)

// pastAfter returns the events that Replay reads after the given version.
func (m *Match) pastAfter(t *testing.T, after int32) []*Event {
	t.Helper()
	var events []*Event
	assert.NoError(t, m.Replay(t.Context(), after, free, func(e *Event) error {
		events = append(events, e)
		return nil
	}))
	return events
}

// logged returns all events of the game, read directly from the log.
func (s *server) logged(t *testing.T, gameID string) []*replay.Event {
	t.Helper()
	var events []*replay.Event
	require.NoError(t, s.Log.Replay(t.Context(), gameID, 0, func(_ gamelog.Tip, e *replay.Event) error {
		events = append(events, e)
		return nil
	}))
	return events
}

// undo returns the game to the position that it had at the given version.
func (m *Match) undo(t *testing.T, to int32) {
	t.Helper()
	m.do(t, Call{PlayerID: ann.ID, Version: m.State().Version, Seat: game.NoSeat, Action: replay.Undone{To: to}})
}

// Ensure that every reader of a game's history gets the events after any given version, that
// concurrent readers share what they read, and that readers also get events that are added
// later.
func TestReplay_Shared(t *testing.T) {
	t.Parallel()
	each(t, func(t *testing.T, env *env) {
		s := env.serve(env.addr)
		s.create(name("a"), "6x6")
		m := s.match(name("a"))
		m.play(t, chunkSize/2)
		m.pastAfter(t, 0) // reads a chunk that is not full
		m.play(t, chunkSize)
		m.undo(t, m.State().Version-3)
		m.play(t, chunkSize+7)
		logged := s.logged(t, name("a"))
		var group sync.WaitGroup
		for n := range 16 {
			group.Go(func() {
				after := int32(n*23) % int32(len(logged))
				got := m.pastAfter(t, after)
				if !assert.Len(t, got, len(logged)-int(after)) {
					return
				}
				for i, e := range got {
					want := logged[int(after)+i]
					if !assert.Equal(t, want.State.Version, e.Version()) || !assert.True(t, want.Entry.Same(e.Entry)) ||
						!assert.Equal(t, want.State.Position, e.State.Position) {
						return
					}
				}
			})
		}
		group.Wait()
		first := m.pastAfter(t, 0)
		assert.True(t, slices.Equal(first, m.pastAfter(t, 0)), "readers do not share events")
		m.play(t, chunkSize)
		longer := m.pastAfter(t, 0)
		require.Len(t, longer, len(first)+chunkSize)
		assert.True(t, slices.Equal(first[:chunkSize], longer[:chunkSize]))
		assert.Empty(t, m.pastAfter(t, m.State().Version))
	})
}

// Ensure that a history is read completely if it contains undos that go back almost to the
// beginning of the game.
func TestReplay_FarBack(t *testing.T) {
	t.Parallel()
	each(t, func(t *testing.T, env *env) {
		s := env.serve(env.addr)
		s.create(name("a"), "6x6")
		m := s.match(name("a"))
		for range 3 {
			m.play(t, chunkSize)
			m.undo(t, 2)
		}
		m.play(t, ringSize+1)
		logged := s.logged(t, name("a"))
		for _, after := range []int32{0, chunkSize, 2*chunkSize + 1} {
			got := m.pastAfter(t, after)
			require.Len(t, got, len(logged)-int(after))
			for i, e := range got {
				require.Equal(t, logged[int(after)+i].State.Position, e.State.Position)
			}
		}
	})
}

// Ensure that evicted chunks are reread, and that a reader that stops or fails does not
// keep others from reading.
func TestReplay_Forgotten(t *testing.T) {
	t.Parallel()
	each(t, func(t *testing.T, env *env) {
		s := env.serve(env.addr)
		s.create(name("a"), "6x6")
		m := s.match(name("a"))
		m.play(t, 3*chunkSize)
		enough := errors.New("enough")
		require.ErrorIs(t, m.Replay(t.Context(), 3, free, func(*Event) error { return enough }), enough)
		refusing := free
		refusing.Turn = func(_, _ func() error) error { return enough }
		require.ErrorIs(t, m.Replay(t.Context(), 3, refusing, nil), enough)
		before := m.pastAfter(t, 0)
		require.Len(t, before, 3*chunkSize+1)
		s.chunks.Purge()
		again := m.pastAfter(t, 2*chunkSize+5)
		require.Len(t, again, chunkSize-4)
		assert.Equal(t, before[2*chunkSize+5].State.Position, again[0].State.Position)

		// One chunk is read in each turn, even on the way to a later version.
		s.chunks.Purge()
		reads := 0
		counting := free
		counting.Turn = func(read, send func() error) error {
			held := s.chunks.Len()
			err := read()
			require.Equal(t, held+1, s.chunks.Len())
			reads++
			return errors.Join(err, send())
		}
		require.NoError(t, m.Replay(t.Context(), 3*chunkSize, counting, func(*Event) error { return nil }))
		require.Equal(t, 4, reads)
		s.chunks.Remove(chunkKey{m, 0})
		require.Len(t, m.pastAfter(t, 0), 3*chunkSize+1)
	})
}

// countingGames counts the reads of entries.
type countingGames struct {
	store.Games
	reads atomic.Int32
}

func (g *countingGames) Entries(ctx context.Context, gameID string, from int32, n int) ([]store.Record, error) {
	g.reads.Add(1)
	return g.Games.Entries(ctx, gameID, from, n)
}

// Ensure that a server that learns of many undos far back, which were made on another one, replays
// the log once for all of them.
func TestConfirm_UndosFarBack(t *testing.T) {
	t.Parallel()
	each(t, func(t *testing.T, env *env) {
		a, b := env.serve(env.addr), env.still(env.addr)
		a.create(name("a"), "6x6")
		played, behind := a.match(name("a")), b.match(name("a"))
		played.play(t, 2*ringSize)
		_, err := behind.Confirm(t.Context())
		require.NoError(t, err)
		const undos = 20
		for range undos {
			played.undo(t, 2)
			played.play(t, 1)
		}
		counted := &countingGames{Games: b.Log.Games}
		b.Log.Games = counted
		state, err := behind.Confirm(t.Context())
		require.NoError(t, err)
		assert.Equal(t, played.State().Version, state.Version)
		assert.Equal(t, played.State().Position, state.Position)
		assert.Less(t, counted.reads.Load(), int32(undos/2))
		for v := state.Version - 2*undos + 1; v <= state.Version; v++ {
			assert.Equal(t, played.ring.at(v).State.Position, behind.ring.at(v).State.Position)
		}
	})
}
