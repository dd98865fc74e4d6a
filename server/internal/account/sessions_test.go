package account_test

import (
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/gridstand/gridstand/internal/id"
	"github.com/gridstand/gridstand/server/internal/account"
	"github.com/gridstand/gridstand/server/internal/store"
	"github.com/gridstand/gridstand/server/internal/store/storetest"
)

// Ensure that a code opens a session for ten minutes, and that an unknown player has none.
func TestSessions(t *testing.T) {
	t.Parallel()
	storetest.EachClock(t, func(t *testing.T, s *store.Store, forward func(time.Duration)) {
		accounts, ctx := account.New(s.Accounts, keep), t.Context()
		sessions := account.NewSessions(s.Sessions, accounts)
		ann, _ := create(t, accounts, "Ann", secretA)
		require.ErrorIs(t, sessions.EndAll(ctx, id.New()), account.ErrNotFound)
		for after, want := range map[time.Duration]error{10*time.Minute - time.Second: nil, 10 * time.Minute: account.ErrLinkNotFound} {
			code, _, err := sessions.Offer(ctx, ann.ID)
			require.NoError(t, err)
			forward(after)
			_, _, err = sessions.Open(ctx, code, "", "")
			require.ErrorIs(t, err, want, "after %v", after)
		}
	})
}
