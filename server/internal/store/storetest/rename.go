package storetest

import (
	"testing"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/gridstand/gridstand/internal/id"
	"github.com/gridstand/gridstand/server/internal/store"
)

// Renames tests the contract of Accounts.Rename.
func Renames(t *testing.T, open Open) {
	t.Run("an account keeps its earlier names", func(t *testing.T) {
		s := open(t)
		ann, bob := mustCreate(t, s, newAccount("Ann"), keepAccounts), mustCreate(t, s, newAccount("Bob"), keepAccounts)
		from := "Ann"
		for _, name := range []string{"Zoe", "z.oe", "ann", "Zoe"} {
			renamed, err := s.Accounts.Rename(t.Context(), ann.ID, from, name, 0)
			require.NoError(t, err)
			requireRecent(t, s, renamed.Renamed)
			want := ann
			want.Name, want.Renamed = name, renamed.Renamed
			require.Equal(t, want, renamed)
			requireAccounts(t, s, []string{ann.ID, bob.ID}, renamed, bob)
			from = name
		}
		for _, name := range []string{"Ann", "aNN", "Zoe", "z-0e"} {
			requireHolder(t, s, name, ann.ID)
		}
	})
	t.Run("a refused name stays free", func(t *testing.T) {
		s := open(t)
		ann := mustCreate(t, s, newAccount("Ann"), keepAccounts)
		ann, err := s.Accounts.Rename(t.Context(), ann.ID, "Ann", "Zoe", time.Hour)
		require.NoError(t, err)
		for _, from := range []string{"Zoe", "Ann"} { // too early, and no longer called so
			stored, err := s.Accounts.Rename(t.Context(), ann.ID, from, "Eve", time.Hour)
			require.NoError(t, err)
			assert.Equal(t, ann, stored)
		}
		unknown := id.New()
		_, err = s.Accounts.Rename(t.Context(), unknown, "Ann", "Eve", 0)
		require.ErrorIs(t, err, store.ErrNoAccount)
		requireHolder(t, s, "Eve", "")
		requireAccounts(t, s, []string{unknown})
	})
	t.Run("an account gets one of several names", func(t *testing.T) {
		s := open(t)
		ann, taken := mustCreate(t, s, newAccount("Ann"), keepAccounts), []string{"Kim", "Lee", "Pat", "Sam", "Kim"}
		told, errs := concurrently(len(taken), func(i int) (store.Account, error) {
			return s.Accounts.Rename(t.Context(), ann.ID, "Ann", taken[i], time.Hour)
		})
		stored, err := s.Accounts.Get(t.Context(), []string{ann.ID})
		require.NoError(t, err)
		require.Contains(t, taken, stored[ann.ID].Name)
		for i, err := range errs {
			require.NoError(t, err)
			assert.Equal(t, stored[ann.ID], told[i])
			holder := ""
			if taken[i] == stored[ann.ID].Name {
				holder = ann.ID
			}
			requireHolder(t, s, taken[i], holder)
		}
	})
}
