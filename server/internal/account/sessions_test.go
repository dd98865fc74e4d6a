package account_test

import (
	"strings"
	"testing"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/gridstand/gridstand/internal/id"
	"github.com/gridstand/gridstand/server/internal/account"
	"github.com/gridstand/gridstand/server/internal/invalid"
	"github.com/gridstand/gridstand/server/internal/store"
	"github.com/gridstand/gridstand/server/internal/store/storetest"
)

// Ensure that a code opens one session, also if the reply is lost, that its token authenticates the
// player and names the session, and that nobody can use a malformed code or the token of an ended session.
func TestSessions(t *testing.T) {
	t.Parallel()
	storetest.EachClock(t, func(t *testing.T, s *store.Store, forward func(time.Duration)) {
		accounts, ctx := account.New(s.Accounts, keep), t.Context()
		on := func() *account.Sessions { return account.NewSessions(s.Sessions, account.New(s.Accounts, keep)) }
		sessions := account.NewSessions(s.Sessions, accounts)
		ann, own := create(t, accounts, "Ann", secretA)
		_, _, err := sessions.Offer(ctx, id.New())
		require.ErrorIs(t, err, account.ErrNotFound)

		code, _, err := sessions.Offer(ctx, ann.ID)
		require.NoError(t, err)
		forward(10*time.Minute - time.Second)
		for _, bad := range [][3]string{{"code", secretB, ""}, {code, "short", ""}, {code, secretB, "a\nb"}, {code, secretB, strings.Repeat("x", 1000)}} {
			_, _, err = sessions.Open(ctx, bad[0], bad[1], bad[2])
			var malformed *invalid.Error
			require.ErrorAs(t, err, &malformed, bad)
		}
		_, _, err = sessions.Open(ctx, id.New(), secretB, "")
		require.ErrorIs(t, err, account.ErrLinkNotFound)

		var token string
		for range 2 { // The second iteration is a retry after a lost reply.
			player, opened, err := sessions.Open(ctx, code, secretB, "Firefox")
			require.NoError(t, err)
			assert.Equal(t, ann, player)
			token = opened
		}
		_, _, err = sessions.Open(ctx, code, "", "")
		require.ErrorIs(t, err, account.ErrLinkNotFound, "a code works once")
		listed, err := sessions.List(ctx, ann.ID)
		require.NoError(t, err)
		require.Len(t, listed, 1)
		assert.Equal(t, "Firefox", listed[0].Comment)

		for _, verifier := range []*account.Sessions{sessions, sessions, on()} { // once from the cache
			player, session, err := verifier.Verify(ctx, token, false)
			require.NoError(t, err)
			assert.Equal(t, ann, player)
			assert.Equal(t, listed[0].ID, session)
			player, session, err = verifier.Verify(ctx, own, false)
			require.NoError(t, err)
			assert.Equal(t, ann, player)
			assert.Empty(t, session)
			for _, bad := range []string{"", ann.ID, ann.ID + "." + strings.Repeat("c", 26), id.New() + "." + secretB, "x." + secretB} {
				_, _, err = verifier.Verify(ctx, bad, false)
				require.ErrorIs(t, err, account.ErrBadToken, bad)
			}
		}

		require.NoError(t, sessions.End(ctx, ann.ID, listed[0].ID))
		require.ErrorIs(t, sessions.End(ctx, ann.ID, listed[0].ID), account.ErrSessionNotFound)
		for _, verifier := range []*account.Sessions{sessions, on()} {
			_, _, err = verifier.Verify(ctx, token, false)
			require.ErrorIs(t, err, account.ErrBadToken)
		}

		code, _, err = sessions.Offer(ctx, ann.ID)
		require.NoError(t, err)
		forward(10 * time.Minute)
		_, _, err = sessions.Open(ctx, code, "", "")
		require.ErrorIs(t, err, account.ErrLinkNotFound, "a code is valid for ten minutes")
	})
}

// Ensure that an account has at most eight sessions, and that EndAll ends them and the open link.
func TestSessions_EndAll(t *testing.T) {
	t.Parallel()
	storetest.Each(t, func(t *testing.T, s *store.Store) {
		accounts, ctx := account.New(s.Accounts, keep), t.Context()
		sessions := account.NewSessions(s.Sessions, accounts)
		ann, own := create(t, accounts, "Ann", secretA)
		bob, _ := create(t, accounts, "Bob", secretB)
		open := func(playerID string) (token string, err error) {
			code, _, err := sessions.Offer(ctx, playerID)
			require.NoError(t, err)
			_, token, err = sessions.Open(ctx, code, "", "")
			return token, err
		}
		var tokens []string
		for range 8 {
			token, err := open(ann.ID)
			require.NoError(t, err)
			tokens = append(tokens, token)
		}
		_, err := open(ann.ID)
		require.ErrorIs(t, err, account.ErrTooManySessions)
		others, err := open(bob.ID)
		require.NoError(t, err)

		link, _, err := sessions.Offer(ctx, ann.ID)
		require.NoError(t, err)
		require.NoError(t, sessions.EndAll(ctx, ann.ID))
		listed, err := sessions.List(ctx, ann.ID)
		require.NoError(t, err)
		assert.Empty(t, listed)
		for _, token := range tokens {
			_, _, err = sessions.Verify(ctx, token, false)
			require.ErrorIs(t, err, account.ErrBadToken)
		}
		_, _, err = sessions.Open(ctx, link, "", "")
		require.ErrorIs(t, err, account.ErrLinkNotFound)
		for _, token := range []string{own, others} {
			_, _, err = sessions.Verify(ctx, token, false)
			require.NoError(t, err)
		}
		require.ErrorIs(t, sessions.EndAll(ctx, id.New()), account.ErrNotFound)
	})
}
