package account_test

import (
	"context"
	"crypto/sha256"
	"encoding/hex"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/gridstand/gridstand/internal/id"
	"github.com/gridstand/gridstand/server/internal/account"
	"github.com/gridstand/gridstand/server/internal/store"
	"github.com/gridstand/gridstand/server/internal/store/storetest"
)

func TestStore_Verify(t *testing.T) {
	t.Parallel()
	storetest.Each(t, func(t *testing.T, s *store.Store) {
		accounts, ctx := account.New(s.Accounts, keep), t.Context()
		ann, token := create(t, accounts, "Ann", secretA)
		bob, _ := create(t, accounts, "Bob", secretB)

		got, err := accounts.Verify(ctx, token)
		require.NoError(t, err)
		assert.Equal(t, ann, got)

		stored, err := s.Accounts.Get(ctx, []string{ann.ID})
		require.NoError(t, err)
		for name, wrong := range map[string]string{
			"another secret":   ann.ID + "." + secretB,
			"another player":   bob.ID + "." + secretA,
			"longer":           token + "a",
			"unknown player":   id.New() + "." + secretA,
			"the digest":       ann.ID + "." + stored[ann.ID].Secret,
			"upper case":       strings.ToUpper(token),
			"Bearer and token": "Bearer " + token,
		} {
			_, err = accounts.Verify(ctx, wrong)
			require.ErrorIs(t, err, account.ErrBadToken, name)
		}
	})
}

// Ensure that a malformed token is refused without accessing the store.
func TestStore_Verify_Malformed(t *testing.T) {
	t.Parallel()
	accounts := account.New(nil, keep) // panics on any access to the store
	for _, token := range []string{
		"", ".", id.New(), id.New() + ".", "." + secretA, secretA, "x." + secretA, id.New() + "." + secretA[1:],
		id.New() + "." + secretA + "." + secretA, id.New() + "." + strings.Repeat("a", 129),
		"}:{" + id.New()[3:] + "." + secretA, strings.Repeat("a", 1<<20),
	} {
		_, err := accounts.Verify(t.Context(), token)
		require.ErrorIs(t, err, account.ErrBadToken)
	}
}

func TestStore_Rotate(t *testing.T) {
	t.Parallel()
	storetest.Each(t, func(t *testing.T, s *store.Store) {
		accounts, ctx := account.New(s.Accounts, keep), t.Context()
		ann, old := create(t, accounts, "Ann", secretA)

		token := ann.ID + "." + secretB
		for _, valid := range []string{old, old, token} { // The others are retries after a lost reply.
			rotated, err := accounts.Rotate(ctx, valid, secretB)
			require.NoError(t, err)
			assert.Equal(t, token, rotated)
			got, err := accounts.Verify(ctx, token)
			require.NoError(t, err)
			assert.Equal(t, ann, got)
		}
		_, err := accounts.Verify(ctx, old)
		require.ErrorIs(t, err, account.ErrBadToken)
		_, err = accounts.Rotate(ctx, old, "")
		require.ErrorIs(t, err, account.ErrBadToken, "only the latest token can be replaced")

		// Create returns the player only for the current secret.
		again, _ := create(t, accounts, "Ann", secretB)
		assert.Equal(t, ann, again)
		_, _, err = accounts.Create(ctx, "Ann", secretA, false)
		require.ErrorIs(t, err, account.ErrNameTaken)

		drawn, err := accounts.Rotate(ctx, token, "")
		require.NoError(t, err)
		_, err = accounts.Verify(ctx, drawn)
		require.NoError(t, err)

		unknown := id.New()
		_, err = accounts.Rotate(ctx, unknown+"."+secretA, "")
		require.ErrorIs(t, err, account.ErrBadToken)
		_, err = accounts.Get(ctx, unknown)
		require.ErrorIs(t, err, account.ErrNotFound)
		_, err = accounts.Rotate(ctx, "me", "")
		require.ErrorIs(t, err, account.ErrBadToken)
	})
}

// secrets is a store of accounts that only returns accounts.
type secrets struct {
	store.Accounts
	accounts map[string]store.Account
}

func (s secrets) Get(context.Context, []string) (map[string]store.Account, error) {
	return s.accounts, nil
}

type sessions = store.Sessions

// noSessions is a store without sessions.
type noSessions struct{ sessions }

func (noSessions) Sessions(context.Context, string) ([]store.Session, error) { return nil, nil }

// Ensure that a server that has read a player and verified a token notices within half a minute that
// another server renamed the player and rotated the token, and at once where it must verify anew.
func TestSessions_ChangedElsewhere(t *testing.T) {
	t.Parallel()
	digest := func(secret string) string {
		sum := sha256.Sum256([]byte(secret))
		return hex.EncodeToString(sum[:])
	}
	synctest.Test(t, func(t *testing.T) {
		ann, bob := store.Account{ID: id.New(), Name: "Ann"}, store.Account{ID: id.New(), Name: "Bob", Secret: digest(secretA)}
		held := secrets{accounts: map[string]store.Account{ann.ID: ann, bob.ID: bob}}
		accounts := account.New(held, 0)
		verifier := account.NewSessions(noSessions{}, accounts)
		name := func() string {
			p, err := accounts.Get(t.Context(), ann.ID)
			require.NoError(t, err)
			return p.Name
		}
		verify := func(secret string, anew bool) error {
			_, _, err := verifier.Verify(t.Context(), bob.ID+"."+secret, anew)
			return err
		}

		assert.Equal(t, "Ann", name())
		require.NoError(t, verify(secretA, false))
		ann.Name, bob.Secret = "Zoe", digest(secretB)
		held.accounts[ann.ID], held.accounts[bob.ID] = ann, bob
		require.ErrorIs(t, verify(secretA, true), account.ErrBadToken)
		require.NoError(t, verify(secretA, false))
		time.Sleep(30*time.Second - time.Millisecond) //nolint:forbidigo // The bubble's clock is fake.
		assert.Equal(t, "Ann", name(), "read once")
		time.Sleep(time.Millisecond) //nolint:forbidigo // The bubble's clock is fake.
		assert.Equal(t, "Zoe", name())
		require.ErrorIs(t, verify(secretA, false), account.ErrBadToken)
		require.NoError(t, verify(secretB, false))
	})
}
