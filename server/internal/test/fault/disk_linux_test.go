package fault

import (
	"context"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"strconv"
	"syscall"
	"testing"
	"time"

	"github.com/stretchr/testify/require"
	"google.golang.org/grpc/codes"
	"google.golang.org/grpc/status"

	"github.com/gridstand/gridstand/internal/testkit/process"
	redistest "github.com/gridstand/gridstand/internal/testkit/redis"
	pb "github.com/gridstand/gridstand/proto/gridstand/v1"
)

// disk is a file system in memory, in a namespace of its own, that can be
// resized.
type disk struct {
	t      *testing.T
	holder *process.Process // in that namespace
	dir    string           // as that namespace has it
}

// newDisk mounts a disk of so many bytes until the test ends. It skips the test
// if the system does not allow that.
func newDisk(t *testing.T, size int64) *disk {
	t.Helper()
	// cat ends when this process does, for whatever reason.
	holder := exec.Command("unshare", "--user", "--map-root-user", "--mount", "sh", "-c",
		`mount -t tmpfs -o "size=$1" tmpfs "$0" && touch "$0/mounted" && exec cat`, t.TempDir(), strconv.FormatInt(size, 10))
	stdin, err := holder.StdinPipe()
	require.NoError(t, err)
	process, err := process.Start(holder)
	if err != nil {
		t.Skip("no filesystem can be mounted: ", err)
	}
	t.Cleanup(process.Kill)
	t.Cleanup(func() { _ = stdin.Close() })
	d := &disk{t, process, holder.Args[len(holder.Args)-2]}
	poll := time.NewTicker(5 * time.Millisecond)
	defer poll.Stop()
	for late := time.After(patience); ; {
		if _, err := os.Stat(filepath.Join(d.path(), "mounted")); err == nil {
			return d
		}
		select {
		case <-poll.C:
		case <-process.Exited():
			t.Skip("no filesystem can be mounted")
		case <-late:
			require.Fail(t, "the filesystem is not mounted")
		}
	}
}

// path is the disk's path outside the namespace.
func (d *disk) path() string { return fmt.Sprintf("/proc/%d/root%s", d.holder.Pid(), d.dir) }

// resize changes the disk's size.
func (d *disk) resize(size int64) {
	d.t.Helper()
	d.mount(fmt.Sprintf("remount,size=%d", size))
}

func (d *disk) mount(options string) {
	d.t.Helper()
	out, err := exec.Command("nsenter", "--user", "--preserve-credentials", "--mount", "--target", strconv.Itoa(d.holder.Pid()),
		"mount", "-o", options, d.dir).CombinedOutput()
	require.NoError(d.t, err, "%s", out)
}

// used is the number of bytes used.
func (d *disk) used() int64 {
	d.t.Helper()
	var s syscall.Statfs_t
	require.NoError(d.t, syscall.Statfs(d.path(), &s))
	return int64((s.Blocks - s.Bfree) * uint64(s.Bsize))
}

// moveUntilRefused moves until the store has no room, and returns the move that was
// refused, which is then refused to both players.
func (o *outage) moveUntilRefused(t *testing.T) pb.Direction {
	t.Helper()
	direction := o.position.GetTwenty48().GetLegalMoves()[0]
	for n := 0; ; n++ {
		require.Less(t, n, 1000, "the store finds room on a full disk")
		ctx, cancel := context.WithTimeout(t.Context(), time.Second)
		event, err := o.here.move(ctx, o.game.GetId(), o.version, direction)
		cancel()
		if status.Code(err) == codes.DeadlineExceeded {
			continue // The machine is busy.
		}
		if unavailable(err) {
			break
		}
		require.NoError(t, err)
		o.version, o.position = event.GetVersion(), event.GetPosition()
		direction = o.position.GetTwenty48().GetLegalMoves()[0]
	}
	for _, c := range []*caller{o.here, o.there} {
		wantUnavailable(t, func(ctx context.Context) error {
			_, err := c.move(ctx, o.game.GetId(), o.version, direction)
			return err
		})
	}
	return direction
}

// Ensure that moves are refused with a hint if Redis's disk is full, and that
// no acknowledged move is lost once there is room again: with a Redis that
// exits if it cannot write, and with one that keeps running and refuses writes.
func TestDiskFull(t *testing.T) {
	t.Parallel()
	const roomy = 64 << 20
	for _, fsync := range []string{"always", "everysec"} {
		t.Run(fsync, func(t *testing.T) {
			t.Parallel()
			d := newDisk(t, roomy)
			redis := redistest.StartRedis(t, "--appendonly", "yes", "--appendfsync", fsync, "--dir", d.path())
			env := newEnv(t, redis.Addr())
			o := startOutage(t, env)
			d.resize(d.used())
			direction := o.moveUntilRefused(t)
			if fsync == "always" {
				select {
				case <-redis.Exited():
				case <-time.After(patience):
					require.Fail(t, "redis lives on")
				}
			}
			d.resize(roomy)
			if fsync == "always" {
				redis.Restart()
			}
			o.requireRecovered(t, direction)
			o.finish(t)
		})
	}
}
