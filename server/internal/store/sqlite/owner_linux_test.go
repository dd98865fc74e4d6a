package sqlite

import (
	"fmt"
	"os"
	"path/filepath"
	"runtime"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
	"golang.org/x/sys/unix"
)

// other is the ID of a user that owns nothing.
const other = 54321

// Ensure that an error about a file that cannot be opened says what to do: about another
// user's file it names the owner, and about an own file the mode.
func TestOpen_Denied(t *testing.T) {
	t.Parallel()
	if os.Geteuid() != 0 {
		t.Skip("only root can give files to other users")
	}
	ofRoot := fmt.Sprintf(": permission denied: it belongs to user root (0) and has mode 0600; this process runs as user %d, who must own it", other)
	for name, tt := range map[string]struct {
		change func(t *testing.T, path string)
		want   string
	}{
		"another user's file": {func(t *testing.T, path string) { require.NoError(t, os.Chown(path, 0, 0)) }, ofRoot},
		"another user's lock": {func(t *testing.T, path string) { require.NoError(t, os.Chown(path+lockSuffix, 0, 0)) }, ofRoot},
		"a file that its owner cannot write": {
			func(t *testing.T, path string) { require.NoError(t, os.Chmod(path, 0o440)) },
			" and has mode 0440; this process runs as user",
		},
		"a directory that its owner cannot write": {
			func(t *testing.T, path string) {
				require.NoError(t, os.Remove(path+lockSuffix))
				require.NoError(t, os.Chmod(filepath.Dir(path), 0o500))
			},
			": permission denied; this process must be able to write to ",
		},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			directory := t.TempDir()
			path := filepath.Join(directory, "store.db")
			s, err := Open(Options{Path: path})
			require.NoError(t, err)
			require.NoError(t, s.Close())
			require.NoError(t, os.Chmod(filepath.Dir(directory), 0o755))
			for _, one := range []string{directory, path, path + lockSuffix} {
				require.NoError(t, os.Chown(one, other, other))
			}
			tt.change(t, path)
			result := make(chan error)
			go func() {
				runtime.LockOSThread() // The thread keeps the user, and ends with the goroutine.
				var err error
				// Unlike unix.Setresuid, the raw call changes only this thread.
				if _, _, failed := unix.RawSyscall(unix.SYS_SETRESUID, ^uintptr(0), other, ^uintptr(0)); failed != 0 {
					err = failed
				} else {
					_, err = Open(Options{Path: path})
				}
				result <- err
			}()
			err = <-result
			require.ErrorIs(t, err, os.ErrPermission)
			assert.ErrorContains(t, err, tt.want)
		})
	}
}
