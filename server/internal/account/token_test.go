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
)

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
