package account_test

import (
	"cmp"
	"context"
	"strings"
	"testing"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/gridstand/gridstand/internal/id"
	"github.com/gridstand/gridstand/server/internal/account"
	"github.com/gridstand/gridstand/server/internal/store"
	"github.com/gridstand/gridstand/server/internal/store/storetest"
)

// sessionRenewals is a store that counts renewals of sessions.
type sessionRenewals struct {
	storedSessions
	calls int
}

type storedSessions store.Sessions // under another name than its method Sessions

func (r *sessionRenewals) Renew(ctx context.Context, playerID, id string, keep time.Duration) error {
	r.calls++
	return r.storedSessions.Renew(ctx, playerID, id, keep)
}

// Ensure that a code opens a session for ten minutes, that an unknown player has none, and that a session
// is not renewed too often. Secret and comment are as long as they may be.
func TestSessions(t *testing.T) {
	t.Parallel()
	storetest.EachClock(t, func(t *testing.T, s *store.Store, forward func(time.Duration)) {
		accounts, ctx := account.New(s.Accounts, keep), t.Context()
		renewing := &sessionRenewals{storedSessions: s.Sessions}
		sessions, token := account.NewSessions(renewing, accounts), ""
		ann, _ := create(t, accounts, "Ann", strings.Repeat("a", 128))
		require.ErrorIs(t, sessions.EndAll(ctx, id.New()), account.ErrNotFound)
		for after, want := range map[time.Duration]error{10*time.Minute - time.Second: nil, 10 * time.Minute: account.ErrLinkNotFound} {
			code, _, err := sessions.Offer(ctx, ann.ID)
			require.NoError(t, err)
			forward(after)
			_, opened, err := sessions.Open(ctx, code, "", strings.Repeat("c", 64))
			require.ErrorIs(t, err, want, "after %v", after)
			token = cmp.Or(opened, token)
		}
		for range 2 {
			_, _, err := sessions.Verify(ctx, token, true)
			require.NoError(t, err)
			assert.Equal(t, 1, renewing.calls)
		}
	})
}
