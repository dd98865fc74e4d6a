package storetest

import (
	"errors"
	"fmt"
	"slices"
	"testing"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/gridstand/gridstand/server/internal/store"
)

// linkFor is how long links are valid in these tests.
const linkFor = 10 * time.Minute

// offer makes a link for an account, and returns the time at which it expires.
func offer(t *testing.T, s *store.Store, playerID, link string) time.Time {
	t.Helper()
	expires, err := s.Sessions.Offer(t.Context(), playerID, link, linkFor)
	require.NoError(t, err)
	return expires
}

// openSession opens a session that expires as accounts do.
func openSession(t *testing.T, s *store.Store, link, id string) (store.Session, error) {
	t.Helper()
	return s.Sessions.Open(t.Context(), link, store.Session{ID: id, Comment: "Comment of " + id}, 3, keepAccounts)
}

// requireSessions checks that an account has exactly the given sessions.
func requireSessions(t *testing.T, s *store.Store, playerID string, want ...store.Session) {
	t.Helper()
	all, err := s.Sessions.Sessions(t.Context(), playerID)
	require.NoError(t, err)
	require.Equal(t, want, all)
}

// Sessions tests the contract of store.Sessions.
func Sessions(t *testing.T, open Open) {
	t.Run("a link opens one session of its account", func(t *testing.T) {
		s := open(t)
		ann, bob := mustCreate(t, s, newAccount("Ann"), keepAccounts), mustCreate(t, s, newAccount("Bob"), 0)
		requireSessions(t, s, ann.ID)
		expires := offer(t, s, ann.ID, "first")
		assert.WithinRange(t, expires, testsBegan.Add(linkFor), now().Add(linkFor+time.Minute))
		offer(t, s, ann.ID, "second")
		offer(t, s, bob.ID, "bob's")
		for _, link := range []string{"first", "none", ""} {
			_, err := openSession(t, s, link, "a")
			require.ErrorIs(t, err, store.ErrNoLink, link)
		}
		var first store.Session
		for range 2 { // The second iteration is a retry after a lost reply.
			opened, err := openSession(t, s, "second", "a")
			require.NoError(t, err)
			requireRecent(t, s, opened.Opened)
			first = store.Session{ID: "a", PlayerID: ann.ID, Comment: "Comment of a", Opened: opened.Opened}
			require.Equal(t, first, opened)
			requireSessions(t, s, ann.ID, first)
		}
		_, err := openSession(t, s, "second", "b")
		require.ErrorIs(t, err, store.ErrNoLink, "the link has opened another session")
		theirs, err := openSession(t, s, "bob's", "a")
		require.NoError(t, err)
		requireSessions(t, s, bob.ID, theirs)

		found, err := s.Sessions.End(t.Context(), ann.ID, "a")
		require.NoError(t, err)
		assert.True(t, found)
		requireSessions(t, s, ann.ID)
		requireSessions(t, s, bob.ID, theirs)
		_, err = openSession(t, s, "second", "a")
		require.ErrorIs(t, err, store.ErrNoLink, "an ended session is not opened again")
		require.NoError(t, s.Sessions.Renew(t.Context(), ann.ID, "a", keepAccounts))
		requireSessions(t, s, ann.ID)
	})
	t.Run("concurrent calls keep to the limit", func(t *testing.T) {
		s := open(t)
		ann := mustCreate(t, s, newAccount("Ann"), keepAccounts)
		for n := range 3 {
			offer(t, s, ann.ID, fmt.Sprint("link ", n))
			_, errs := concurrently(6, func(i int) (store.Session, error) {
				return openSession(t, s, fmt.Sprint("link ", n), fmt.Sprintf("%d.%d", n, i))
			})
			refused := func(err error) bool { return errors.Is(err, store.ErrNoLink) }
			assert.Equal(t, []error{nil}, slices.DeleteFunc(errs, refused), "one call opens a session")
		}
		offer(t, s, ann.ID, "one too many")
		_, err := openSession(t, s, "one too many", "x")
		require.ErrorIs(t, err, store.ErrTooManySessions)
		all, err := s.Sessions.Sessions(t.Context(), ann.ID)
		require.NoError(t, err)
		require.Len(t, all, 3)
		_, err = s.Sessions.End(t.Context(), ann.ID, all[1].ID)
		require.NoError(t, err)
		_, err = openSession(t, s, "one too many", "x")
		require.NoError(t, err, "a refusal leaves the link unused")
	})
}

// SessionsExpire tests the part of the contract of store.Sessions that depends on the clock.
func SessionsExpire(t *testing.T, open OpenClock) {
	t.Run("a session expires unless it is renewed", func(t *testing.T) {
		s, forward := open(t)
		ann := mustCreate(t, s, newAccount("Ann"), keepAccounts)
		var all []store.Session
		for _, id := range []string{"a", "b", "c"} {
			offer(t, s, ann.ID, id)
			opened, err := openSession(t, s, id, id)
			require.NoError(t, err)
			all = append(all, opened)
			forward(time.Minute)
		}
		forward(keepAccounts - time.Hour)
		require.NoError(t, s.Accounts.Renew(t.Context(), keepAccounts, ann.ID))
		require.NoError(t, s.Sessions.Renew(t.Context(), ann.ID, "b", keepAccounts))
		requireSessions(t, s, ann.ID, all...)
		forward(time.Hour)
		require.NoError(t, s.Sessions.Renew(t.Context(), ann.ID, "a", keepAccounts))
		requireSessions(t, s, ann.ID, all[1])
		offer(t, s, ann.ID, "d")
		opened, err := openSession(t, s, "d", "d")
		require.NoError(t, err, "expired sessions do not count")
		requireSessions(t, s, ann.ID, all[1], opened)
		forward(keepAccounts)
		requireSessions(t, s, ann.ID)
	})
	t.Run("links and sessions end with the account", func(t *testing.T) {
		s, forward := open(t)
		ann := mustCreate(t, s, newAccount("Ann"), time.Hour)
		offer(t, s, ann.ID, "a")
		_, err := openSession(t, s, "a", "a")
		require.NoError(t, err)
		forward(time.Hour - time.Minute)
		offer(t, s, ann.ID, "b")
		forward(time.Minute)
		_, err = openSession(t, s, "b", "b")
		require.ErrorIs(t, err, store.ErrNoLink)
		requireSessions(t, s, ann.ID)
		_, err = s.Sessions.Offer(t.Context(), ann.ID, "c", linkFor)
		require.ErrorIs(t, err, store.ErrNoAccount)
	})
	t.Run("a restored session outlasts the others of its account", func(t *testing.T) {
		s, forward := open(t)
		ann := mustCreate(t, s, newAccount("Ann"), 0)
		lasting := store.Session{ID: "a", PlayerID: ann.ID, Opened: now().UTC()}
		brief := store.Session{ID: "b", PlayerID: ann.ID, Opened: lasting.Opened}
		require.NoError(t, s.Dumper.Restore(t.Context(), []store.Item{
			{Session: &store.DumpedSession{Session: lasting}},
			{Session: &store.DumpedSession{Session: brief, Expires: now().Add(time.Hour)}},
		}))
		requireSessions(t, s, ann.ID, lasting, brief)
		forward(2 * time.Hour)
		requireSessions(t, s, ann.ID, lasting)
	})
}
