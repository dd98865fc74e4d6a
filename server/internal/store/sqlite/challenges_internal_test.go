package sqlite

import (
	"fmt"
	"testing"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/gridstand/gridstand/server/internal/store"
)

// Ensure that challenges are found by their ID, and that pages of lists are read in index
// order.
func TestChallenges_Plans(t *testing.T) {
	t.Parallel()
	d := openDB(t, Options{Memory: true})
	assert.Equal(t, "SEARCH challenges USING PRIMARY KEY (id=?)", planOf(t, d, challengeByID))
	assert.Equal(t, "SEARCH challenges USING INDEX challenges_recent ((created,id)<(?,?))", planOf(t, d, challengesPage))
	assert.Equal(t, "SEARCH challenges USING INDEX challenges_kind (kind=? AND (created,id)<(?,?))", planOf(t, d, challengesOfKindPage))
}

// Ensure that the sweep removes expired challenges, listed or not, and no others.
func TestChallenges_Sweep(t *testing.T) {
	t.Parallel()
	now, ctx := time.Now(), t.Context()
	d := openDB(t, Options{Memory: true, Now: func() time.Time { return now }})
	s := challenges{d}
	const expired = 2*sweepRows + 1
	for n := range expired + 1 {
		c := store.Challenge{ID: fmt.Sprint(n), Kind: 2, Listed: n%2 == 0, Created: now, Expires: now.Add(time.Hour)}
		if n == expired {
			c.Expires = c.Expires.Add(time.Millisecond)
		}
		_, err := s.Create(ctx, c)
		require.NoError(t, err)
	}
	require.NoError(t, d.sweep(ctx))
	assert.Equal(t, []int{expired + 1}, counted(t, d, "SELECT count(*) FROM challenges"))
	now = now.Add(time.Hour)
	require.NoError(t, d.sweep(ctx))
	assert.Equal(t, []int{expired}, counted(t, d, "SELECT id FROM challenges"))
}

// Ensure that a challenge and its changes survive a restart.
func TestChallenges_Restart(t *testing.T) {
	t.Parallel()
	at, ctx := time.Now().UTC().Truncate(time.Millisecond), t.Context()
	want := store.Challenge{ID: "a", Encoded: []byte("first"), Kind: 2, Listed: true, Created: at, Expires: at.Add(time.Hour)}
	s := reopen(t, func(s *store.Store) {
		var err error
		want, err = s.Challenges.Create(ctx, want)
		require.NoError(t, err)
		want.Encoded = []byte("second")
		require.NoError(t, s.Challenges.Update(ctx, want))
	})
	want.Revision = 2
	found, _, err := s.Challenges.Get(ctx, "a")
	require.NoError(t, err)
	assert.Equal(t, map[string]store.Challenge{"a": want}, found)
	places, err := s.Challenges.List(ctx, 2, store.Place{}, 10)
	require.NoError(t, err)
	assert.Equal(t, []store.Place{{Rank: at.UnixMilli(), GameID: "a"}}, places)
}
