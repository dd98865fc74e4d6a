package match

import (
	"context"
	"sync/atomic"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/gridstand/gridstand/game"
	"github.com/gridstand/gridstand/game/replay"
	waittest "github.com/gridstand/gridstand/internal/testkit/wait"
	"github.com/gridstand/gridstand/server/internal/gamelog"
	"github.com/gridstand/gridstand/server/internal/store"
)

// pastAfter returns the events in the game's history after the given version, up to an error.
func (m *Match) pastAfter(t *testing.T, after int32) (events []*Event, err error) {
	t.Helper()
	for h := m.History(after); ; {
		read, err := h.Next(waittest.Context(t), func(e *Event) error {
			events = append(events, e)
			return nil
		})
		if err != nil || read == 0 {
			return events, err
		}
		assert.LessOrEqual(t, read, historyPage)
	}
}

// logged returns all events of the game, read directly from the log.
func (s *server) logged(t *testing.T, gameID string) []*replay.Event {
	t.Helper()
	var events []*replay.Event
	require.NoError(t, s.Log.Replay(t.Context(), gameID, gamelog.GenesisTip(gameID), func(_ gamelog.Tip, e *replay.Event) error {
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

// Ensure that every reader of a game's history gets the events after any given version, up to the
// version in memory, also if undos go back almost to the beginning of the game.
func TestHistory(t *testing.T) {
	t.Parallel()
	each(t, func(t *testing.T, env *env) {
		s := env.serve(env.addr)
		m := s.begin(name("a"), "6x6")
		for range 3 {
			m.play(t, historyPage+7)
			m.undo(t, m.State().Version-3)
			m.play(t, historyPage)
			m.undo(t, 2)
		}
		m.play(t, RingSize+1)
		growing := m.History(0)
		m.play(t, historyPage)
		m.undo(t, 3)
		grown, ignore := 0, func(*Event) error { return nil }
		ctx := waittest.Context(t)
		for read, err := growing.Next(ctx, ignore); read > 0; read, err = growing.Next(ctx, ignore) {
			require.NoError(t, err)
			grown += read
		}
		logged := s.logged(t, name("a"))
		assert.Len(t, logged, grown)
		for after := 0; after <= len(logged); after += 23 {
			got, err := m.pastAfter(t, int32(after))
			require.NoError(t, err)
			require.Len(t, got, len(logged)-after)
			for i, e := range got {
				want := logged[after+i]
				require.Equal(t, want.State.Version, e.Version())
				require.True(t, want.Entry.Same(e.Entry))
				require.Equal(t, want.State.Position, e.State.Position)
				if in := m.ring.at(e.Version()); in != nil {
					require.Same(t, in, e, "events in memory are shared")
				}
			}
		}
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
		played, behind := a.begin(name("a"), "6x6"), b.match(name("a"))
		played.play(t, 2*RingSize)
		behind.confirm(t)
		const undos = 20
		for range undos {
			played.undo(t, 2)
			played.play(t, 1)
		}
		counted := &countingGames{Games: b.Log.Games}
		b.Log.Games = counted
		state := behind.confirm(t)
		assert.Equal(t, played.State().Version, state.Version)
		assert.Equal(t, played.State().Position, state.Position)
		assert.EqualValues(t, 4, counted.reads.Load(), "the new entries, twice the log for the undos, the new entries again")
		for v := state.Version - 2*undos + 1; v <= state.Version; v++ {
			assert.Equal(t, played.ring.at(v).State.Position, behind.ring.at(v).State.Position)
		}
	})
}
