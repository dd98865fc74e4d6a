package match

import (
	"context"
	"testing"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/gridstand/gridstand/game/replay"
	"github.com/gridstand/gridstand/server/internal/gamelog"
	"github.com/gridstand/gridstand/server/internal/store"
)

// transactional imitates the games of a store with transactions: an entry is appended only if
// Entry.Then returns nil.
type transactional struct{ store.Games }

func (g transactional) Append(ctx context.Context, gameID string, e store.Entry) (store.Appended, error) {
	if e.Then != nil {
		if err := e.Then(ctx, time.Now()); err != nil {
			return store.Appended{}, err
		}
	}
	appended, err := g.Games.Append(ctx, gameID, e)
	appended.Then = err == nil && e.Then != nil
	return appended, err
}

// Ensure that a store with transactions stores an entry together with its consequences, and
// stores neither if storing the consequences fails.
func TestDo_Within(t *testing.T) {
	t.Parallel()
	each(t, func(t *testing.T, env *env) {
		s := env.still(env.addr)
		s.Log, s.Transactional = gamelog.New(transactional{s.Log.Games}), true
		gameID := name("a")
		s.create(gameID, "classic")
		m := s.match(gameID)
		state := m.play(t, 3)
		assert.Empty(t, s.work.within, "a move has no consequences")

		s.work.err = store.Failed(store.Full, "the disk is full")
		env.unwritten(gameID, func() {
			_, err := m.Do(t.Context(), resign(state.Version))
			require.ErrorIs(t, err, s.work.err)
		})
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
		env.check(gameID, s)
	})
}
