package sqlite

import (
	"fmt"
	"path/filepath"
	"testing"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
	sqlite3 "zombiezen.com/go/sqlite"

	"github.com/gridstand/gridstand/server/internal/store"
)

const keepAccounts = 90 * 24 * time.Hour

// reopen opens a store, passes it to use, closes it, and opens its file again.
func reopen(t *testing.T, use func(s *store.Store)) *store.Store {
	t.Helper()
	o := Options{Path: filepath.Join(t.TempDir(), "store.db")}
	s, err := Open(o)
	require.NoError(t, err)
	use(s)
	require.NoError(t, s.Close())
	s, err = Open(o)
	require.NoError(t, err)
	t.Cleanup(func() { assert.NoError(t, s.Close()) })
	return s
}

// Ensure that accounts, open games and secrets survive a restart.
func TestAccounts_Restart(t *testing.T) {
	t.Parallel()
	ctx, secret := t.Context(), []byte{0, 1, 2}
	ann, err := store.Account{ID: "a", Name: "Ann", Secret: "digest", Bot: true}, error(nil)
	s := reopen(t, func(s *store.Store) {
		ann, err = s.Accounts.Create(ctx, ann, keepAccounts)
		require.NoError(t, err)
		_, err = s.Accounts.Reserve(ctx, ann.ID, "game", 1, keepAccounts)
		require.NoError(t, err)
		_, err = s.Secrets.Secret(ctx, "page", secret)
		require.NoError(t, err)
	})
	found, err := s.Accounts.Get(ctx, []string{ann.ID})
	require.NoError(t, err)
	assert.Equal(t, ann, found[ann.ID])
	counts, err := s.Accounts.Reserve(ctx, ann.ID, "another", 1, keepAccounts)
	require.NoError(t, err)
	assert.False(t, counts)
	stored, err := s.Secrets.Secret(ctx, "page", []byte("other"))
	require.NoError(t, err)
	assert.Equal(t, secret, stored)
}

// Ensure that after a restart every client has its whole quota and all games with only bots are
// paused.
func TestQuotas_Restart(t *testing.T) {
	t.Parallel()
	ctx, game := t.Context(), store.Exhibition{GameIDs: []string{"a"}}
	s := reopen(t, func(s *store.Store) {
		for _, s := range []*store.Store{s, s.Background} { // both stores share the quotas
			_, err := s.Quotas.Take(ctx, "games", "ann", 2)
			require.NoError(t, err)
		}
		wait, err := s.Quotas.Take(ctx, "games", "ann", 2)
		require.NoError(t, err)
		assert.Positive(t, wait)
		_, err = s.Exhibitions.Run(ctx, game, time.Hour, store.ExhibitionLimits{})
		require.NoError(t, err)
		left, err := s.Background.Exhibitions.Left(ctx, game.GameIDs[0])
		require.NoError(t, err)
		assert.Positive(t, left)
	})
	wait, err := s.Quotas.Take(ctx, "games", "ann", 2)
	require.NoError(t, err)
	assert.Zero(t, wait)
	left, err := s.Exhibitions.Left(ctx, game.GameIDs[0])
	require.NoError(t, err)
	assert.Zero(t, left)
}

// Ensure that expired data is removed from the file, except names.
func TestAccounts_Sweep(t *testing.T) {
	t.Parallel()
	now, ctx := time.Now(), t.Context()
	s, err := Open(Options{Memory: true, Now: func() time.Time { return now }})
	require.NoError(t, err)
	defer s.Close()
	const players = 2*sweepRows + 1
	for i := range players {
		id := fmt.Sprint(i)
		_, err := s.Accounts.Create(ctx, store.Account{ID: id, Name: id}, keepAccounts)
		require.NoError(t, err)
		_, err = s.Accounts.Reserve(ctx, id, "game", 0, keepAccounts)
		require.NoError(t, err)
	}
	_, err = s.Accounts.Create(ctx, store.Account{ID: "lasting", Name: "lasting"}, 0)
	require.NoError(t, err)
	_, err = s.Accounts.Reserve(ctx, "lasting", "game", 0, 0)
	require.NoError(t, err)
	d := s.Engine.(engineOn).background
	count := func(table string) (n int64) {
		require.NoError(t, d.read(ctx, func(c *sqlite3.Conn) (err error) {
			n, err = number(c, "SELECT count(*) FROM "+table)
			return err
		}))
		return n
	}
	require.NoError(t, d.sweep(ctx))
	assert.EqualValues(t, players+1, count("accounts"))
	assert.EqualValues(t, players+1, count("open_games"))
	now = now.Add(keepAccounts)
	require.NoError(t, d.sweep(ctx))
	assert.EqualValues(t, 1, count("accounts"))
	assert.EqualValues(t, 1, count("open_games"))
	assert.EqualValues(t, players+1, count("names"))
}

// Ensure that RenewLasting handles more accounts than fit in one transaction.
func TestAccounts_RenewLasting_Many(t *testing.T) {
	t.Parallel()
	now, ctx := time.Now(), t.Context()
	s, err := Open(Options{Memory: true, Now: func() time.Time { return now }})
	require.NoError(t, err)
	defer s.Close()
	var ids []string
	for i := range 2 * sweepRows {
		ids = append(ids, fmt.Sprint(i))
		_, err := s.Accounts.Create(ctx, store.Account{ID: ids[i], Name: ids[i]}, 0)
		require.NoError(t, err)
	}
	require.NoError(t, s.Accounts.RenewLasting(ctx, keepAccounts))
	now = now.Add(keepAccounts)
	found, err := s.Accounts.Get(ctx, ids)
	require.NoError(t, err)
	assert.Empty(t, found)
}

// Ensure that quotas and games with only bots use bounded memory.
func TestQuotas_Bounded(t *testing.T) {
	t.Parallel()
	ctx := t.Context()
	q := newQuotas(time.Now)
	for i := range rememberedQuotas + 10 {
		_, err := q.Take(ctx, "games", fmt.Sprint(i), 1)
		require.NoError(t, err)
	}
	assert.Equal(t, rememberedQuotas, q.full.Len())
	wait, err := q.Take(ctx, "games", fmt.Sprint(rememberedQuotas), 1)
	require.NoError(t, err)
	assert.Positive(t, wait, "a recent quota was forgotten")

	now := time.Now()
	e := newExhibitions(func() time.Time { return now })
	for i := range maxExhibitions {
		e.games[fmt.Sprint(i)] = exhibition{until: now.Add(time.Minute)}
	}
	r, err := e.Run(ctx, store.Exhibition{GameIDs: []string{"another"}}, time.Minute, store.ExhibitionLimits{})
	require.NoError(t, err)
	assert.Equal(t, store.StoreLimit, r.Full)
	now = now.Add(time.Minute)
	r, err = e.Run(ctx, store.Exhibition{GameIDs: []string{"another"}}, time.Minute, store.ExhibitionLimits{})
	require.NoError(t, err)
	assert.True(t, r.Resumed)
	assert.Len(t, e.games, 1, "paused games were kept")
}
