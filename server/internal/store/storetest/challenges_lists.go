package storetest

import (
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/gridstand/gridstand/server/internal/store"
)

// listChallenges returns those of the IDs in the list for the given kind that exist, reading n
// at a time.
func listChallenges(t *testing.T, s *store.Store, kind uint8, n int) (ids []string) {
	t.Helper()
	for after := (store.Place{}); ; {
		places, err := s.Challenges.List(t.Context(), kind, after, n)
		require.NoError(t, err)
		require.LessOrEqual(t, len(places), n)
		for _, place := range places {
			found, _, err := s.Challenges.Get(t.Context(), place.GameID)
			require.NoError(t, err)
			for id := range found {
				ids = append(ids, id)
			}
		}
		if len(places) < n {
			return ids
		}
		after = places[n-1]
	}
}

// challengeLists tests List, as part of the contract of store.Challenges.
func challengeLists(t *testing.T, s *store.Store) {
	assert.Empty(t, listChallenges(t, s, 0, 10))
	for i, c := range []store.Challenge{
		testChallenge(t, s, "b", 1, 1000), testChallenge(t, s, "c", 2, 999), testChallenge(t, s, "B", 2, 1000),
		testChallenge(t, s, "a", 1, 1<<41), testChallenge(t, s, "hidden", 1, 1001), testChallenge(t, s, "d", 255, 1000),
	} {
		c.Listed = c.ID != "hidden"
		createChallenge(t, s, c)
		if i%2 == 0 {
			require.ErrorIs(t, s.Challenges.Update(t.Context(), c), store.ErrMoved)
		}
	}
	for n := 1; n < 8; n++ {
		assert.Equal(t, []string{"a", "d", "b", "B", "c"}, listChallenges(t, s, 0, n))
		assert.Equal(t, []string{"a", "b"}, listChallenges(t, s, 1, n))
		assert.Equal(t, []string{"B", "c"}, listChallenges(t, s, 2, n))
		assert.Equal(t, []string{"d"}, listChallenges(t, s, 255, n))
		assert.Empty(t, listChallenges(t, s, 3, n))
	}
	places, err := s.Background.Challenges.List(t.Context(), 0, store.Place{}, 2)
	require.NoError(t, err)
	assert.Equal(t, []store.Place{{Rank: 1 << 41, GameID: "a"}, {Rank: 1000, GameID: "d"}}, places)
}
