package challenge_test

import (
	"testing"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/gridstand/gridstand/game/replay"
	"github.com/gridstand/gridstand/server/internal/challenge"
	"github.com/gridstand/gridstand/server/internal/store"
)

// list creates n challenges of the given kind, one per millisecond, and returns their ids.
func (env *env) list(n int, kind replay.ChallengeKind, by replay.Player, from uint16) (ids []string) {
	env.t.Helper()
	for range n {
		env.forward(time.Millisecond)
		c := env.create(challenge.Challenge{Kind: kind, Creator: by, Limit: time.Minute, Source: from})
		ids = append(ids, c.ID)
	}
	return ids
}

// page returns the ids on a page of n challenges, and the place after which the next page begins.
func (env *env) page(after store.Place, n int) (ids []string, next store.Place) {
	env.t.Helper()
	all, _, next, err := env.server().List(env.t.Context(), 0, after, n)
	require.NoError(env.t, err)
	for _, c := range all {
		ids = append(ids, c.ID)
	}
	return ids, next
}

// first returns the ids on the first page of n challenges.
func (env *env) first(n int) []string {
	env.t.Helper()
	ids, _ := env.page(store.Place{}, n)
	return ids
}

// latest returns the last n of ids, latest first.
func latest(ids []string, n int) (reversed []string) {
	for i := range n {
		reversed = append(reversed, ids[len(ids)-1-i])
	}
	return reversed
}

// Ensure that a source has a tenth of the first page of a list if other sources need the rest, which
// their latest challenges get.
func TestList_Share(t *testing.T) {
	t.Parallel()
	each(t, func(t *testing.T, env *env) {
		old := env.list(30, replay.Link, ann, 1)
		assert.Equal(t, latest(old, 20), env.first(20), "the only source")
		races := env.list(2, replay.Race, player("dan"), 4)
		links := env.list(3, replay.Link, bob, 2)
		flood := env.list(40, replay.Race, eve, 3)
		got, next := env.page(store.Place{}, 20)
		assert.Equal(t, latest(flood, 14), got[:14], "the rest of the page")
		assert.Equal(t, latest(links, 2), got[14:16])
		assert.Equal(t, latest(races, 2), got[16:18])
		assert.Equal(t, latest(old, 2), got[18:])
		got, _ = env.page(next, 20)
		assert.Equal(t, latest(flood, 34)[14:], got)
		assert.Equal(t, []string{flood[39]}, env.first(1))
	})
}

// Ensure that other sources take no more places than one source has too many.
func TestList_Surplus(t *testing.T) {
	t.Parallel()
	each(t, func(t *testing.T, env *env) {
		env.list(1, replay.Race, bob, 2)
		links := env.list(1, replay.Link, player("dan"), 3)
		eves := env.list(2, replay.Link, eve, 4)
		assert.Equal(t, []string{eves[1], links[0]}, env.first(2))
	})
}

// Ensure that a source does not depend on the server, and that it is known for every address.
func TestSourceOf(t *testing.T) {
	t.Parallel()
	assert.EqualValues(t, 0x37fc, challenge.SourceOf("192.0.2.1"), "the same on every server")
	assert.NotEqual(t, challenge.SourceOf("192.0.2.1"), challenge.SourceOf("192.0.2.2"))
	assert.NotZero(t, challenge.SourceOf(""))
}
