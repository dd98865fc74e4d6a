//go:build slow

package fault

import (
	"context"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"syscall"
	"testing"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	playertest "github.com/gridstand/gridstand/internal/testkit/player"
	waittest "github.com/gridstand/gridstand/internal/testkit/wait"
	pb "github.com/gridstand/gridstand/proto/gridstand/v1"
)

// fill leaves no free space on the file system of a folder, and returns the file that fills it.
func fill(t *testing.T, folder string) string {
	t.Helper()
	f, err := os.Create(filepath.Join(folder, "filler"))
	require.NoError(t, err)
	defer func() { assert.NoError(t, f.Close()) }()
	for err == nil {
		_, err = f.Write(make([]byte, os.Getpagesize()))
	}
	require.ErrorIs(t, err, syscall.ENOSPC)
	return f.Name()
}

// moveUntilRefused makes moves until one is refused for want of space, and returns it.
func moveUntilRefused(t *testing.T, c *caller, g *pb.Game) pb.Direction {
	t.Helper()
	for {
		require.Nil(t, g.GetResult(), "the store can still write to a full disk")
		direction := playertest.Lasting(g.GetVersion(), g.GetPosition())
		ctx, cancel := context.WithTimeout(t.Context(), time.Minute) // so that the caller does not repeat it
		_, err := c.move(ctx, g, direction)
		cancel()
		if err != nil {
			require.Equal(t, pb.ReasonStorageUnavailable, refusalOf(err).Reason, "%v", err)
			return direction
		}
	}
}

// Ensure that a full disk refuses moves, for which /readyz names the cause, but not reads, that moves are
// accepted again once there is space, and that nothing acknowledged is lost.
func TestSQLite_DiskFull(t *testing.T) {
	t.Parallel()
	env := newSQLiteEnv(t)
	folder := filepath.Dir(env.path())
	env.wrapper = []string{
		"unshare", "--user", "--map-root-user", "--mount", "sh", "-c", `mount -t tmpfs -o size=8m tmpfs "$0" && exec "$@"`, folder,
	}
	if out, err := exec.Command(env.wrapper[0], append(env.wrapper[1:], "true")...).CombinedOutput(); err != nil {
		t.Skipf("cannot mount a file system: %v: %s", err, out)
	}
	server := env.serveProcess("--metrics", "127.0.0.1:0")
	ready := gauges{"http://" + waittest.Receive(t, "the address of the metrics", server.metrics)}
	mounted := fmt.Sprintf("/proc/%d/root%s", server.process.Pid(), folder)
	player := env.player(server)
	g := player.start(t, "6x6")
	watcher := env.anonymous(server).watch(t, g.GetId(), watching{})
	player.playTo(t, g, 10)
	for range 2 {
		filler := fill(t, mounted)
		refused := moveUntilRefused(t, player, g)
		waittest.Until(t, "/readyz names the cause", func() bool {
			cause, err := ready.get(t.Context(), "/readyz")
			return err != nil && strings.Contains(cause, "disk is full")
		})
		read, err := player.get(t.Context(), g.GetId())
		require.NoError(t, err)
		assert.Equal(t, g.GetVersion(), read.GetVersion())
		require.NoError(t, os.Remove(filler))
		_, err = player.move(t.Context(), g, refused)
		require.NoError(t, err)
		waittest.Until(t, "the server is ready again", func() bool {
			_, err := ready.get(t.Context(), "/readyz")
			return err == nil
		})
		player.playTo(t, g, g.GetVersion()+10)
	}
	_, err := player.resign(t.Context(), g.GetId())
	require.NoError(t, err)
	require.NoError(t, watcher.awaitEnd(t))

	server.process.Pause() // so that the copy, which is checked, is of one moment
	out, err := exec.Command("cp", "-a", mounted+"/.", folder).CombinedOutput()
	require.NoError(t, err, "%s", out)
	server.stop()
}
