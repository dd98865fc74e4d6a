package sqlite

import (
	"os"
	"path/filepath"
	"testing"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
	sqlite3 "zombiezen.com/go/sqlite"

	waittest "github.com/gridstand/gridstand/internal/testkit/wait"
	"github.com/gridstand/gridstand/server/internal/store"
)

// newHeartbeat returns a heartbeat to store for the given server.
func newHeartbeat(serverID string) store.Heartbeat {
	return store.Heartbeat{ServerID: serverID, MissingAfter: time.Second, OutageAfter: 3 * time.Second, Keep: time.Hour, MaxServers: 10}
}

// Ensure that no write to a deleted or replaced file is acknowledged, and that all calls
// fail until the file is restored.
func TestHeartbeats_FileGone(t *testing.T) {
	t.Parallel()
	for _, part := range []string{"", "-wal"} {
		for _, replaced := range []bool{false, true} {
			path := filepath.Join(t.TempDir(), "store.db")
			s, err := Open(Options{Path: path})
			require.NoError(t, err)
			send := func() error {
				_, err := s.Background.Heartbeats.Record(t.Context(), newHeartbeat("a"))
				return err
			}
			require.NoError(t, send())
			require.NoError(t, os.Rename(path+part, path+".away"))
			want := "deleted while the server was running"
			if replaced {
				want = "replaced while the server was running"
				require.NoError(t, os.WriteFile(path+part, nil, 0o600))
			}
			for _, err := range []error{s.Queue.EnqueueNow(t.Context(), "g"), s.Ping(t.Context()), s.Queue.EnqueueNow(t.Context(), "g"), send()} {
				require.NotErrorIs(t, err, store.ErrUnsettled)
				require.ErrorContains(t, err, path+part+" was "+want)
				var failure *store.Error
				require.ErrorAs(t, err, &failure)
				assert.Equal(t, store.Corrupt, failure.Kind)
			}
			require.NoError(t, os.Rename(path+".away", path+part))
			require.NoError(t, send())
			require.NoError(t, s.Ping(t.Context()))
			require.NoError(t, s.Queue.EnqueueNow(t.Context(), "g"))
			require.NoError(t, s.Close())
		}
	}
}

// Ensure that a commit during which the file is deleted is not acknowledged.
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
	require.Error(t, d.read(t.Context(), func(*sqlite3.Conn) error { return nil }), "the read may return unacknowledged data")
	require.NoError(t, os.Rename(path+".away", path))
	require.NoError(t, d.verify())
	assert.Equal(t, []int{1}, rows(t, d))
}

// Ensure that an idle server does not write to the file when it tries to lease jobs.
func TestQueue_LeaseNothing(t *testing.T) {
	t.Parallel()
	d := openDB(t, Options{Memory: true})
	require.NoError(t, queue{d}.EnqueueIn(t.Context(), "later", time.Hour))
	release := block(t, d)
	defer release()
	jobs, err := queue{d}.Lease(waittest.Context(t), 10, time.Hour)
	require.NoError(t, err)
	assert.Empty(t, jobs)
}
