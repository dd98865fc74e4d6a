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

// Ensure that an error about a file of another user names the file's owner and says what
// to do, and that a tool notices a file that the server's user cannot open.
func TestOpen_Denied(t *testing.T) {
	t.Parallel()
	if os.Geteuid() != 0 {
		t.Skip("only root can give files to other users")
	}
	for name, change := range map[string]func(t *testing.T, path string){
		"the file": func(t *testing.T, path string) { require.NoError(t, os.Chown(path, 0, 0)) },
		"the file, which others can read": func(t *testing.T, path string) {
			require.NoError(t, os.Chown(path, 0, 0))
			require.NoError(t, os.Chmod(path, 0o644))
		},
		"the lock": func(t *testing.T, path string) { require.NoError(t, os.Chown(path+lockSuffix, 0, 0)) },
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
			assert.Empty(t, Misowned(path))
			change(t, path)
			assert.Regexp(t, fmt.Sprintf(`store\.db\S* belongs to user root \(0\) and its directory to user %d$`, other), Misowned(path))

			result := make(chan error)
			go func() {
				runtime.LockOSThread() // The thread keeps the user, and ends with the goroutine.
				err := unix.Setfsuid(other)
				if err == nil {
					_, err = Open(Options{Path: path})
				}
				result <- err
			}()
			err = <-result
			require.ErrorIs(t, err, os.ErrPermission)
			assert.ErrorContains(t, err, ": permission denied: it belongs to user root (0), and this process runs as user ")
		})
	}
}
