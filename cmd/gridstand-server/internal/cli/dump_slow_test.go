//go:build slow

package cli

import (
	"math/rand/v2"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	playertest "github.com/gridstand/gridstand/internal/testkit/player"
	redistest "github.com/gridstand/gridstand/internal/testkit/redis"
	servertest "github.com/gridstand/gridstand/internal/testkit/server"
	"github.com/gridstand/gridstand/server"
	"github.com/gridstand/gridstand/server/limits"
)

// Ensure that a restore that is killed at any moment leaves a store that has everything, or one that
// cannot be opened; or the earlier store.
func TestRestore_Killed(t *testing.T) {
	t.Parallel()
	dir := t.TempDir()
	dump, earlier := filepath.Join(dir, "dump"), filepath.Join(dir, "earlier")
	played := func(file string, games int) {
		c := servertest.Config(t)
		c.Store, c.Limits = server.File(file+".db"), limits.Limits{}
		srv, stop := servertest.Start(t, c)
		ann := playertest.New(t.Context(), t, servertest.Dial(t, srv.Addr()), "Ann")
		for range games {
			playSome(t, ann)
		}
		stop()
		code, _, stderr := call(t, "dump", "--store", c.Store, file)
		require.Zero(t, code, stderr)
	}
	played(dump, 20)
	played(earlier, 1)
	restore := func(store string) *exec.Cmd {
		cmd := exec.Command(os.Args[0], "restore", "--replace", "--store", store, dump)
		cmd.Env = append(os.Environ(), asServer+"=1")
		require.NoError(t, cmd.Start())
		return cmd
	}
	counted := func(args ...string) (string, bool) {
		code, stdout, stderr := call(t, args...)
		if code != 0 {
			assert.Contains(t, stderr, "not restored completely")
		}
		return stdout, code == 0
	}
	for name, store := range map[string]string{"file": server.File(filepath.Join(dir, "store.db")), "redis": "redis://" + redistest.StartRedis(t).Addr()} {
		whole, kept := 0, 0
		began := time.Now()
		require.NoError(t, restore(store).Wait())
		took := time.Since(began)
		for range 30 {
			code, _, stderr := call(t, "restore", "--replace", "--store", store, earlier)
			require.Zero(t, code, stderr)
			cmd := restore(store)
			time.Sleep(rand.N(took + took/8)) //nolint:forbidigo // The moment of the kill is random.
			_ = cmd.Process.Kill()
			_ = cmd.Wait()
			out := filepath.Join(t.TempDir(), "again")
			switch stdout, ok := counted("dump", "--store", store, out); {
			case ok && strings.HasPrefix(stdout, "60 games"):
				whole++
			case ok:
				kept++
				assert.Contains(t, stdout, "3 games")
			}
		}
		t.Logf("%s: %d complete, %d unchanged of 30", name, whole, kept)
	}
}
