package storetest

import (
	"slices"
	"testing"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/gridstand/gridstand/server/internal/store"
)

// testChallenge returns a listed challenge with the given time of creation, in Unix
// milliseconds, that expires in an hour.
func testChallenge(t *testing.T, s *store.Store, id string, kind uint8, created int64) store.Challenge {
	t.Helper()
	now, err := s.Time(t.Context())
	require.NoError(t, err)
	return store.Challenge{
		ID: id, Encoded: []byte("what " + id + " is\x00"), Kind: kind, Listed: true,
		Created: time.UnixMilli(created).UTC(), Expires: now.Add(time.Hour).UTC().Truncate(time.Millisecond),
	}
}

// createChallenge stores a challenge, and returns it with its revision.
func createChallenge(t *testing.T, s *store.Store, c store.Challenge) store.Challenge {
	t.Helper()
	require.NoError(t, s.Challenges.Update(t.Context(), c))
	c.Revision = 1
	require.Equal(t, c, getChallenge(t, s, c.ID))
	return c
}

// getChallenge returns an existing challenge.
func getChallenge(t *testing.T, s *store.Store, id string) store.Challenge {
	t.Helper()
	found, _, err := s.Challenges.Get(t.Context(), id)
	require.NoError(t, err)
	require.Contains(t, found, id)
	return found[id]
}

// Challenges tests the contract of store.Challenges.
func Challenges(t *testing.T, open Open) {
	t.Run("created challenges exist", func(t *testing.T) {
		s := open(t)
		before, err := s.Time(t.Context())
		require.NoError(t, err)
		all := map[string]store.Challenge{}
		for n, c := range []store.Challenge{
			testChallenge(t, s, "daily", 1, 1), testChallenge(t, s, "race", 255, 1<<41), testChallenge(t, s, "empty", 3, 0),
		} {
			c.Listed = n%2 == 0
			if c.ID == "empty" {
				c.Encoded = []byte{}
			}
			all[c.ID] = createChallenge(t, s, c)
		}
		found, now, err := s.Challenges.Get(t.Context(), "empty", "unknown", "race", "daily", "race")
		require.NoError(t, err)
		assert.Equal(t, all, found)
		after, err := s.Background.Time(t.Context())
		require.NoError(t, err)
		assert.False(t, now.Before(before.Truncate(time.Millisecond)), "%v %v", before, now)
		assert.False(t, now.After(after), "%v %v", now, after)
	})
	t.Run("an existing challenge is not replaced", func(t *testing.T) {
		s := open(t)
		first := createChallenge(t, s, testChallenge(t, s, "a", 2, 1000))
		other := testChallenge(t, s, "a", 2, 2000)
		other.Encoded, other.Expires = []byte("other"), other.Expires.Add(time.Hour)
		require.ErrorIs(t, s.Challenges.Update(t.Context(), other), store.ErrMoved)
		assert.Equal(t, first, getChallenge(t, s, "a"))
		first.Encoded = []byte("changed")
		require.NoError(t, s.Challenges.Update(t.Context(), first))
		first.Revision = 2
		require.ErrorIs(t, s.Challenges.Update(t.Context(), other), store.ErrMoved)
		assert.Equal(t, first, getChallenge(t, s, "a"))
		places, err := s.Challenges.List(t.Context(), 2, store.Place{}, 10)
		require.NoError(t, err)
		assert.Equal(t, []store.Place{{Rank: 1000, GameID: "a"}}, places)
	})
	t.Run("an update replaces one revision", func(t *testing.T) {
		s := open(t)
		first := createChallenge(t, s, testChallenge(t, s, "a", 2, 1000))
		createChallenge(t, s, testChallenge(t, s, "b", 2, 2000))
		change := first
		change.Encoded, change.Expires = []byte("changed"), first.Expires.Add(time.Minute)
		require.NoError(t, s.Challenges.Update(t.Context(), change))
		want := change
		want.Revision = 2
		assert.Equal(t, want, getChallenge(t, s, "a"))
		assert.Equal(t, []string{"b", "a"}, listChallenges(t, s, 0, 10))
		assert.Equal(t, []string{"b", "a"}, listChallenges(t, s, 2, 10))
		assert.Empty(t, listChallenges(t, s, 1, 10))
		for _, revision := range []int64{-1, 0, 1, 3} {
			change.Revision, change.Encoded = revision, []byte("late")
			require.ErrorIs(t, s.Challenges.Update(t.Context(), change), store.ErrMoved)
		}
		change.ID, change.Revision = "unknown", 1
		require.ErrorIs(t, s.Challenges.Update(t.Context(), change), store.ErrMoved)
		found, _, err := s.Challenges.Get(t.Context(), "a", "unknown")
		require.NoError(t, err)
		assert.Equal(t, map[string]store.Challenge{"a": want}, found)
	})
	t.Run("no concurrent update is lost", func(t *testing.T) {
		s := open(t)
		c := testChallenge(t, s, "a", 2, 1000)
		c.Encoded = []byte{}
		createChallenge(t, s, c)
		allUpdate(t, func(n int) error {
			found, _, err := s.Challenges.Get(t.Context(), "a")
			if err != nil {
				return err
			}
			c := found["a"]
			c.Encoded = append(slices.Clone(c.Encoded), byte(n))
			return s.Challenges.Update(t.Context(), c)
		})
		end := getChallenge(t, s, "a")
		assert.EqualValues(t, 1+updates, end.Revision)
		slices.Sort(end.Encoded)
		assert.Len(t, slices.Compact(end.Encoded), updates)
	})
	t.Run("lists are ordered from newest to oldest", func(t *testing.T) { challengeLists(t, open(t)) })
}

// ChallengesExpire tests the clock-dependent part of the contract of store.Challenges.
func ChallengesExpire(t *testing.T, open OpenClock) {
	t.Run("a challenge exists until it expires", func(t *testing.T) {
		s, forward := open(t)
		brief, long := testChallenge(t, s, "brief", 2, 2000), testChallenge(t, s, "long", 2, 1000)
		long.Expires = long.Expires.Add(time.Hour)
		brief, long = createChallenge(t, s, brief), createChallenge(t, s, long)
		brief.Encoded = []byte("changed")
		require.NoError(t, s.Challenges.Update(t.Context(), brief))
		brief.Revision = 2
		forward(59 * time.Minute)
		assert.Equal(t, brief, getChallenge(t, s, "brief"))
		assert.Equal(t, []string{"brief", "long"}, listChallenges(t, s, 0, 10))
		forward(2 * time.Minute)
		found, now, err := s.Challenges.Get(t.Context(), "brief", "long")
		require.NoError(t, err)
		assert.Equal(t, map[string]store.Challenge{"long": long}, found)
		assert.True(t, now.After(brief.Expires))
		for n := 1; n < 3; n++ {
			assert.Equal(t, []string{"long"}, listChallenges(t, s, 0, n))
			assert.Equal(t, []string{"long"}, listChallenges(t, s, 2, n))
		}
		require.ErrorIs(t, s.Challenges.Update(t.Context(), brief), store.ErrMoved)
		again := testChallenge(t, s, "brief", 3, 3000)
		again.Encoded = []byte("again")
		again = createChallenge(t, s, again)
		assert.Equal(t, again, getChallenge(t, s, "brief"), "its id can be reused")
		assert.Equal(t, []string{"brief"}, listChallenges(t, s, 3, 10))
		assert.Equal(t, []string{"brief", "long"}, listChallenges(t, s, 0, 10))
	})
	t.Run("an update changes the expiry", func(t *testing.T) {
		s, forward := open(t)
		a, b := createChallenge(t, s, testChallenge(t, s, "a", 2, 2000)), createChallenge(t, s, testChallenge(t, s, "b", 2, 1000))
		a.Expires, b.Expires = a.Expires.Add(time.Hour), b.Expires.Add(-30*time.Minute)
		require.NoError(t, s.Challenges.Update(t.Context(), a))
		require.NoError(t, s.Challenges.Update(t.Context(), b))
		forward(31 * time.Minute)
		assert.Equal(t, []string{"a"}, listChallenges(t, s, 0, 10))
		forward(time.Hour)
		a.Revision = 2
		assert.Equal(t, a, getChallenge(t, s, "a"))
		forward(time.Hour)
		assert.Empty(t, listChallenges(t, s, 2, 10))
	})
}
