package match

import (
	"testing"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/gridstand/gridstand/game/replay"
	"github.com/gridstand/gridstand/server/internal/store"
	"github.com/gridstand/gridstand/server/internal/store/storetest"
)

// Ensure that a store with transactions stores an entry together with its consequences, and
// stores neither if storing the consequences fails.
func TestDo_Within(t *testing.T) {
	t.Parallel()
	on := storetest.New(t)
	s := newServer(t, on, on.Games)
	s.Transactional = true
	s.create(name("a"), "classic")
	m := s.match(name("a"))
	state := m.play(t, 3)
	assert.Empty(t, s.work.within, "a move has no consequences")

	s.work.err = store.Failed(store.Full, "the disk is full")
	_, err := m.Do(t.Context(), resign(state.Version))
	require.ErrorIs(t, err, s.work.err)
	tail, err := on.Games.Tail(t.Context(), name("a"))
	require.NoError(t, err)
	assert.Equal(t, state.Version, tail.Last.Version)
	s.work.err = nil
	begin := time.Now().Truncate(time.Millisecond)
	event := m.do(t, resign(state.Version))
	require.Len(t, s.work.within, 2)
	stored := s.work.within[1]
	assert.Equal(t, replay.Finished, stored.Status)
	assert.Equal(t, event.State.Version, stored.Version)
	assert.WithinRange(t, stored.UpdateTime, begin, time.Now())
	soon, ended := s.work.counts()
	assert.Zero(t, soon, "the transaction replaces the job")
	assert.Equal(t, 1, ended)
	assert.Equal(t, 1, s.work.stored)
}
