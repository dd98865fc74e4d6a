package server

import (
	"bytes"
	"context"
	"io"
	"os"
	"path/filepath"
	"testing"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	redistest "github.com/gridstand/gridstand/internal/testkit/redis"
	"github.com/gridstand/gridstand/server/internal/store"
	"github.com/gridstand/gridstand/server/internal/store/sqlite"
)

// Ensure that the dump of a file that no server has used for a long time has the accounts that the file
// had at its end, and that they last as long as they did then.
func TestDump_AfterLongTime(t *testing.T) {
	t.Parallel()
	const keep, since = time.Hour, 1000 * time.Hour
	c, ctx, none := DefaultConfig(), t.Context(), func(Dumped) {}
	c.Store = File(filepath.Join(t.TempDir(), "one.db"))
	s, err := c.open(ctx, sqlite.Options{Now: func() time.Time { return time.Now().Add(-since) }}, true)
	require.NoError(t, err)
	_, err = s.Accounts.Create(ctx, store.Account{ID: "ann", Name: "Ann"}, keep)
	require.NoError(t, err)
	require.NoError(t, s.Close())
	var dump bytes.Buffer
	_, err = Dump(ctx, c, &dump, none)
	require.NoError(t, err)

	c.Store = File(filepath.Join(t.TempDir(), "two.db"))
	_, err = Restore(ctx, c, &dump, false, none)
	require.NoError(t, err)
	wall := time.Now()
	s, err = c.open(ctx, sqlite.Options{Now: func() time.Time { return wall }}, false)
	require.NoError(t, err)
	for _, want := range []int{1, 0} {
		accounts, err := s.Accounts.Get(ctx, []string{"ann"})
		require.NoError(t, err)
		assert.Len(t, accounts, want)
		wall = wall.Add(keep)
	}
	require.NoError(t, s.Close())
}

// Ensure that a store cannot be dumped while a server uses it, but can if Redis' clock was set back since that
// server died.
func TestDump_Heartbeats(t *testing.T) {
	t.Parallel()
	c, ctx := DefaultConfig(), t.Context()
	redis := redistest.StartMiniredis(t)
	c.Store = "redis://" + redis.Addr()
	s, err := c.openStore(ctx, c.NewLogger())
	require.NoError(t, err)
	_, err = s.Heartbeats.Record(ctx, store.Heartbeat{ServerID: "one", Keep: time.Hour, MaxServers: 1})
	require.NoError(t, err)
	require.NoError(t, s.Close())
	for _, running := range []bool{true, false} {
		_, err := Dump(ctx, c, io.Discard, func(Dumped) {})
		if running {
			require.ErrorContains(t, err, "a server is running on "+c.Store)
		} else {
			require.NoError(t, err)
		}
		redis.SetTime(time.Now().Add(-time.Hour))
	}
}

// interrupting is a pipe whose writer is interrupted together with its reader.
type interrupting struct{ interrupt func() }

// Read implements io.Reader.
func (i interrupting) Read([]byte) (int, error) {
	i.interrupt()
	return 0, io.EOF
}

// Ensure that nothing can open what an interrupted restore has left, unless that is the store as it
// was before, that the restore can be repeated, and that it does not report a damaged dump if the program that
// writes the dump is interrupted, too.
func TestRestore_Interrupted(t *testing.T) {
	t.Parallel()
	c := DefaultConfig()
	c.Store = File(filepath.Join(t.TempDir(), "one.db"))
	source, err := c.open(t.Context(), sqlite.Options{}, true)
	require.NoError(t, err)
	require.NoError(t, source.Boards.Hide(t.Context(), "player"))
	require.NoError(t, source.Close())
	var dump bytes.Buffer
	none := func(Dumped) {}
	_, err = Dump(t.Context(), c, &dump, none)
	require.NoError(t, err)

	restore := func(c Config, interrupt bool) error {
		ctx, cancel := context.WithCancel(t.Context())
		defer cancel()
		pipe := io.MultiReader(bytes.NewReader(dump.Bytes())) // cannot be read twice
		_, err := Restore(ctx, c, pipe, true, func(Dumped) {
			if interrupt {
				cancel()
			}
		})
		return err
	}
	file := DefaultConfig()
	path := filepath.Join(t.TempDir(), "two.db")
	file.Store = File(path)
	for _, begun := range [][]byte{nil, dump.Bytes()[:10], dump.Bytes()[:dump.Len()-1], []byte("SQLite format 3\x00")} {
		ctx, cancel := context.WithCancel(t.Context())
		_, err := Restore(ctx, file, io.MultiReader(bytes.NewReader(begun), interrupting{cancel}), true, none)
		require.ErrorIs(t, err, context.Canceled)
	}

	redis := DefaultConfig()
	redis.Store = "redis://" + redistest.StartMiniredis(t).Addr()
	require.ErrorIs(t, restore(redis, true), context.Canceled)
	_, err = redis.openStore(t.Context(), redis.NewLogger())
	require.ErrorContains(t, err, `was not restored completely: run "gridstand-server restore --replace" again`)
	require.NoError(t, restore(redis, false))

	require.ErrorIs(t, restore(file, true), context.Canceled)
	left, err := filepath.Glob(path + "*")
	require.NoError(t, err)
	assert.Empty(t, left)
	require.NoError(t, os.WriteFile(path+".restoring", nil, 0o600)) // as a killed process leaves it
	_, err = file.openStore(t.Context(), file.NewLogger())
	require.ErrorContains(t, err, "it was not restored completely")
	require.NoError(t, restore(file, false))
	require.ErrorIs(t, restore(file, true), context.Canceled)

	for _, c := range []Config{redis, file} {
		s, err := c.openStore(t.Context(), c.NewLogger())
		require.NoError(t, err)
		hidden, err := s.Boards.Hidden(t.Context(), "player")
		require.NoError(t, err)
		assert.Equal(t, map[string]bool{"player": true}, hidden)
		require.NoError(t, s.Close())
	}
}
