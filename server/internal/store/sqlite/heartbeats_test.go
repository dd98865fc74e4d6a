package sqlite

import (
	"bytes"
	"log/slog"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	waittest "github.com/gridstand/gridstand/internal/testkit/wait"
	"github.com/gridstand/gridstand/server/internal/store"
)

// Ensure that all calls fail from the next heartbeat on after the file or its log was deleted or replaced,
// until it is known to be back. Each time is logged once.
func TestHeartbeats_FileGone(t *testing.T) {
	t.Parallel()
	for _, suffix := range []string{"", walSuffix} {
		t.Run("store.db"+suffix, func(t *testing.T) {
			t.Parallel()
			opened := filepath.Join(t.TempDir(), "store.db")
			path := opened + suffix
			var log bytes.Buffer
			s := openStore(t, Options{Path: opened, Logger: slog.New(slog.NewTextHandler(&log, nil))})
			heartbeat := store.Heartbeat{ServerID: "a", OutageAfter: 3 * time.Second, Keep: time.Hour, MaxServers: 10}
			send := func() error {
				_, err := s.Background.Heartbeats.Record(t.Context(), heartbeat)
				return err
			}
			read := func() error {
				_, err := s.Queue.Scheduled(t.Context(), "g")
				return err
			}
			for i, replaced := range []bool{false, true} {
				require.NoError(t, send())
				require.NoError(t, os.Rename(path, path+".away"))
				if replaced {
					require.NoError(t, os.WriteFile(path, nil, 0o600))
				}
				want := path + " was deleted or replaced while the server was running"
				for _, err := range []error{send(), s.Queue.EnqueueBy(t.Context(), store.AtOnce, "g"), read(), send()} {
					require.NotErrorIs(t, err, store.ErrUnsettled)
					require.ErrorContains(t, err, want)
					var failure *store.Error
					require.ErrorAs(t, err, &failure)
					assert.Equal(t, store.Corrupt, failure.Kind)
				}
				require.NoError(t, os.RemoveAll(path))
				require.NoError(t, os.Symlink(path, path)) // so that it is unknown which file is there
				require.ErrorContains(t, send(), want)
				require.ErrorContains(t, read(), want)
				assert.Equal(t, i+1, strings.Count(log.String(), "id=file-replaced"))
				require.NoError(t, os.Rename(path+".away", path))
				require.NoError(t, send())
				require.NoError(t, read())
				require.NoError(t, s.Queue.EnqueueBy(t.Context(), store.AtOnce, "g"))
			}
			for _, gone := range []string{opened, opened + walSuffix} {
				require.NoError(t, os.Rename(gone, gone+".away"))
			}
			require.ErrorContains(t, send(), opened+" was deleted", "of both, a restart would not bring back the first")
			for _, gone := range []string{opened, opened + walSuffix} {
				require.NoError(t, os.Rename(gone+".away", gone))
			}
			require.NoError(t, send())
		})
	}
}

// Ensure that an idle server does not write to the file when it tries to lease jobs.
func TestQueue_LeaseNothing(t *testing.T) {
	t.Parallel()
	d := openDB(t, Options{Memory: true})
	require.NoError(t, queue{d}.EnqueueBy(t.Context(), time.Now().Add(time.Hour), "later"))
	release := block(t, d)
	defer release()
	jobs, err := queue{d}.Lease(waittest.Context(t), 10, time.Hour)
	require.NoError(t, err)
	assert.Empty(t, jobs)
}
