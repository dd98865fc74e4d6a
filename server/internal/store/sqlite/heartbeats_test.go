package sqlite

import (
	"context"
	"os"
	"path/filepath"
	"testing"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
	sqlite3 "zombiezen.com/go/sqlite"

	"github.com/gridstand/gridstand/server/internal/store"
)

// aBeat is a heartbeat of a server.
func aBeat(serverID string) store.Beat {
	return store.Beat{ServerID: serverID, MissingAfter: time.Second, OutageAfter: 3 * time.Second, Keep: time.Hour, MaxServers: 10}
}

// Ensure that the time without a server is an outage, whether the last one stopped in
// order or not, and that its leases are taken over only if it did not.
func TestHeartbeats_Restart(t *testing.T) {
	t.Parallel()
	path := filepath.Join(t.TempDir(), "store.db")
	now := time.Now()
	clock := func() time.Time { return now }
	runs := map[string]bool{}
	for n, server := range []struct {
		id     string
		leaves bool
	}{{"first", true}, {"second", false}, {"third", false}} {
		s, err := Open(Options{Path: path, Now: clock})
		require.NoError(t, err)
		b, err := s.Background.Heartbeats.Beat(t.Context(), aBeat(server.id))
		require.NoError(t, err)
		runs[b.Run] = true
		if n > 0 {
			assert.Equal(t, 10*time.Minute, b.Outage)
		}
		assert.Equal(t, map[string]int{"third": 1}[server.id], b.Missing)
		if server.leaves {
			require.NoError(t, s.Background.Heartbeats.Leave(t.Context(), server.id, b.Servers[server.id]))
		}
		require.NoError(t, s.Close())
		now = now.Add(10 * time.Minute)
	}
	assert.Len(t, runs, 3)
}

// Ensure that nothing is acknowledged that was written to a file that was deleted or
// replaced, and that nothing more is written to it, until it is back.
func TestHeartbeats_FileGone(t *testing.T) {
	t.Parallel()
	for _, part := range []string{"", "-wal", "-shm"} {
		for _, replaced := range []bool{false, true} {
			path := filepath.Join(t.TempDir(), "store.db")
			s, err := Open(Options{Path: path})
			require.NoError(t, err)
			beat := func() error {
				_, err := s.Background.Heartbeats.Beat(t.Context(), aBeat("a"))
				return err
			}
			require.NoError(t, beat())
			require.NoError(t, os.Rename(path+part, path+".away"))
			want := "deleted while the server runs"
			if replaced {
				want = "replaced while the server runs"
				require.NoError(t, os.WriteFile(path+part, nil, 0o600))
			}
			for _, err := range []error{s.Queue.EnqueueNow(t.Context(), "g"), s.Ping(t.Context()), s.Queue.EnqueueNow(t.Context(), "g"), beat()} {
				require.NotErrorIs(t, err, store.ErrUnsettled)
				require.ErrorContains(t, err, path+part+" was "+want)
				var failure *store.Error
				require.ErrorAs(t, err, &failure)
				assert.Equal(t, store.Corrupt, failure.Kind)
			}
			require.NoError(t, os.Rename(path+".away", path+part))
			require.NoError(t, beat())
			require.NoError(t, s.Ping(t.Context()))
			require.NoError(t, s.Queue.EnqueueNow(t.Context(), "g"))
			require.NoError(t, s.Close())
		}
	}
}

// Ensure that what was committed is not acknowledged if the file goes during that.
func TestHeartbeats_FileGoneDuringCommit(t *testing.T) {
	t.Parallel()
	path := filepath.Join(t.TempDir(), "store.db")
	d := openDB(t, Options{Path: path})
	verify, calls := d.writer.verify, 0
	d.writer.verify = func() error {
		if calls++; calls == 2 {
			require.NoError(t, os.Rename(path, path+".away"))
		}
		return verify()
	}
	require.ErrorIs(t, insert(t.Context(), d, 1), store.ErrUnsettled)
	require.Error(t, d.read(t.Context(), func(*sqlite3.Conn) error { return nil }), "it would show what was written")
	require.NoError(t, os.Rename(path+".away", path))
	require.NoError(t, d.verify())
	assert.Equal(t, []int{1}, rows(t, d))
}

// Ensure that an idle server does not write when it asks for jobs.
func TestQueue_LeaseNothing(t *testing.T) {
	t.Parallel()
	d := openDB(t, Options{Memory: true})
	require.NoError(t, queue{d}.EnqueueIn(t.Context(), "later", time.Hour))
	release := block(t, d)
	defer release()
	ctx, cancel := context.WithTimeout(t.Context(), time.Minute)
	defer cancel()
	jobs, err := queue{d}.Lease(ctx, 10, time.Hour)
	require.NoError(t, err)
	assert.Empty(t, jobs)
}
