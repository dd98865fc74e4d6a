package storetest

import (
	"slices"
	"testing"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/gridstand/gridstand/server/internal/store"
)

// getProfile returns a player's profile.
func getProfile(t *testing.T, s *store.Store, playerID string) store.Profile {
	t.Helper()
	p, now, err := s.Profiles.Get(t.Context(), playerID)
	require.NoError(t, err)
	requireRecent(t, s, now)
	return p
}

// Profiles tests the contract of store.Profiles.
func Profiles(t *testing.T, open Open) {
	t.Run("only the current revision can be replaced", func(t *testing.T) {
		s := open(t)
		ann, bob := mustCreate(t, s, newAccount("Ann"), 0), mustCreate(t, s, newAccount("Bob"), 0)
		assert.Zero(t, getProfile(t, s, ann.ID))
		require.ErrorIs(t, s.Profiles.Update(t.Context(), ann.ID, store.Profile{Revision: 1, Encoded: []byte("early")}), store.ErrMoved)
		for n := range int64(3) {
			require.NoError(t, s.Profiles.Update(t.Context(), ann.ID, store.Profile{Revision: n, Encoded: []byte{0, byte(n), 0xff}}))
			want := store.Profile{Revision: n + 1, Encoded: []byte{0, byte(n), 0xff}}
			assert.Equal(t, want, getProfile(t, s, ann.ID))
			for _, revision := range []int64{0, n, n + 2} {
				require.ErrorIs(t, s.Profiles.Update(t.Context(), ann.ID, store.Profile{Revision: revision, Encoded: []byte("late")}), store.ErrMoved)
			}
			assert.Equal(t, want, getProfile(t, s, ann.ID))
		}
		assert.Zero(t, getProfile(t, s, bob.ID))
		requireAccounts(t, s, []string{ann.ID, bob.ID}, ann, bob)
	})
	t.Run("no concurrent update is lost", func(t *testing.T) {
		s := open(t)
		ann := mustCreate(t, s, newAccount("Ann"), 0)
		allUpdate(t, func(n int) error {
			p, _, err := s.Profiles.Get(t.Context(), ann.ID)
			if err != nil {
				return err
			}
			p.Encoded = append(p.Encoded, byte(n))
			return s.Profiles.Update(t.Context(), ann.ID, p)
		})
		end := getProfile(t, s, ann.ID)
		assert.EqualValues(t, updates, end.Revision)
		slices.Sort(end.Encoded)
		assert.Len(t, slices.Compact(end.Encoded), updates)
	})
}

// ProfilesExpire tests that a profile lasts as long as its account.
func ProfilesExpire(t *testing.T, open OpenClock) {
	s, forward := open(t)
	ann, bob := mustCreate(t, s, newAccount("Ann"), keepAccounts), mustCreate(t, s, newAccount("Bob"), keepAccounts)
	for _, a := range []store.Account{ann, bob} {
		require.NoError(t, s.Profiles.Update(t.Context(), a.ID, store.Profile{Encoded: []byte(a.Name)}))
	}
	forward(keepAccounts - time.Hour)
	require.NoError(t, s.Accounts.Renew(t.Context(), keepAccounts, bob.ID))
	forward(2 * time.Hour)
	assert.Equal(t, store.Profile{Revision: 1, Encoded: []byte("Bob")}, getProfile(t, s, bob.ID))
	assert.Zero(t, getProfile(t, s, ann.ID))
	require.NoError(t, s.Profiles.Update(t.Context(), ann.ID, store.Profile{Encoded: []byte("again")}))
	assert.Zero(t, getProfile(t, s, ann.ID))
	requireAccounts(t, s, []string{ann.ID, bob.ID}, bob)
}
