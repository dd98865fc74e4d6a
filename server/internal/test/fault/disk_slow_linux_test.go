//go:build slow

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

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
	"google.golang.org/grpc/codes"
	"google.golang.org/grpc/status"
	"google.golang.org/protobuf/proto"

	playertest "github.com/gridstand/gridstand/internal/testkit/player"
	"github.com/gridstand/gridstand/internal/testkit/process"
	waittest "github.com/gridstand/gridstand/internal/testkit/wait"
	pb "github.com/gridstand/gridstand/proto/gridstand/v1"
)

// disk is an in-memory file system that can be resized. It is mounted in a separate mount
// namespace.
type disk struct {
	t      *testing.T
	holder *process.Process // runs in the namespace
	dir    string           // path in the namespace
}

// newDisk mounts a disk of size bytes until the test ends. It skips the test if the system does
// not allow that.
func newDisk(t *testing.T, size int64) *disk {
	t.Helper()
	// cat exits when this process ends for any reason, because its input is then closed.
	holder := exec.Command("unshare", "--user", "--map-root-user", "--mount", "sh", "-c",
		`mount -t tmpfs -o "size=$1" tmpfs "$0" && touch "$0/mounted" && exec cat`, t.TempDir(), strconv.FormatInt(size, 10))
	if holder.Err != nil {
		t.Skip("cannot mount a filesystem: ", holder.Err)
	}
	stdin, err := holder.StdinPipe()
	require.NoError(t, err)
	process := process.Start(t, holder)
	t.Cleanup(process.Kill)
	t.Cleanup(func() { _ = stdin.Close() })
	d := &disk{t, process, holder.Args[len(holder.Args)-2]}
	waittest.Until(t, "the filesystem is mounted", func() bool {
		select {
		case <-process.Exited():
			t.Skip("cannot mount a filesystem")
		default:
		}
		_, err := os.Stat(filepath.Join(d.path(), "mounted"))
		return err == nil
	})
	return d
}

// path returns the disk's path outside the namespace.
func (d *disk) path() string { return fmt.Sprintf("/proc/%d/root%s", d.holder.Pid(), d.dir) }

// resize changes the disk's size.
func (d *disk) resize(size int64) {
	d.t.Helper()
	require.NoError(d.t, d.mount(fmt.Sprintf("remount,size=%d", size)))
}

// fill leaves no free space on the disk. A disk cannot be made smaller than its content, so fill
// retries if something was written after it measured the used space.
func (d *disk) fill() {
	d.t.Helper()
	var err error
	for range 1000 {
		if err = d.mount(fmt.Sprintf("remount,size=%d", d.used())); err == nil {
			return
		}
	}
	require.NoError(d.t, err)
}

// enter returns a command prefix that runs a command in the disk's namespace.
func (d *disk) enter() []string {
	return []string{"nsenter", "--user", "--preserve-credentials", "--mount", "--target", strconv.Itoa(d.holder.Pid())}
}

func (d *disk) mount(options string) error {
	words := append(d.enter(), "mount", "-o", options, d.dir)
	if out, err := exec.Command(words[0], words[1:]...).CombinedOutput(); err != nil {
		return fmt.Errorf("%w: %s", err, out)
	}
	return nil
}

// used returns the number of bytes in use.
func (d *disk) used() int64 {
	d.t.Helper()
	var s syscall.Statfs_t
	require.NoError(d.t, syscall.Statfs(d.path(), &s))
	return int64((s.Blocks - s.Bfree) * uint64(s.Bsize))
}

// outage is a watched game that continues through an outage of its store.
type outage struct {
	player  *caller
	game    *pb.Game
	watcher *watcher
}

// playTo plays to a version, and requires that the watcher sees it.
func (o *outage) playTo(t *testing.T, version int32) {
	t.Helper()
	o.player.playTo(t, o.game, version)
	o.watcher.awaitVersion(t, version)
}

// moveUntilRefused fills the disk, makes moves until the store is full, and returns the refused
// move. A refused move may fit later, because its write has another size.
func (o *outage) moveUntilRefused(t *testing.T, d *disk) pb.Direction {
	t.Helper()
	var direction pb.Direction
	for n, refused := 0, 0; refused < 3; n++ {
		require.Less(t, n, 10000, "the store can still write to a full disk")
		if refused == 0 {
			d.fill()
		}
		direction = playertest.Lasting(o.game.GetVersion(), o.game.GetPosition())
		// If the disk is slow, a server may refuse a move that has a deadline although the disk
		// has space.
		ctx, cancel := context.WithTimeout(t.Context(), time.Minute)
		_, err := o.player.move(ctx, o.game, direction)
		cancel()
		if status.Code(err) == codes.DeadlineExceeded {
			continue // the machine is busy
		}
		if unavailable(err) {
			require.Equal(t, pb.ReasonStorageUnavailable, refusalOf(err).Reason)
			refused++
			continue
		}
		require.NoError(t, err)
		refused = 0
	}
	return direction
}

// Ensure that moves are refused with a hint if the file's disk is full, which the write-ahead log alone does
// not cause, that reads and watchers are not affected, that moves are accepted again once there is a little
// more space, that no acknowledged move is lost, and that the log fits into the file at a clean stop.
func TestSQLite_DiskFull(t *testing.T) {
	t.Parallel()
	const small, more = 2 << 20, 1 << 20
	d := newDisk(t, small)
	env := newSQLiteEnv(t)
	copied, path := env.url, filepath.Join(d.path(), "store.db")
	env.url, env.wrapper = "sqlite:"+filepath.Join(d.dir, "store.db"), d.enter()
	server := env.serveProcess()
	player := env.player(server)
	o := &outage{player: player, game: player.start(t, "6x6")}
	o.watcher = env.anonymous(server).watch(t, o.game.GetId(), watching{})
	o.playTo(t, 10)
	play := func(moves int32) {
		for range moves / 100 {
			player.playTo(t, player.start(t, "6x6"), 100)
		}
	}
	play(1500)
	for range 2 {
		direction := o.moveUntilRefused(t, d)
		o.requireReadable(t)
		d.resize(d.used() + more)
		event := resend(t, player, proto.CloneOf(o.game), direction)
		requireSame(t, event, resend(t, player, o.game, direction))
		o.playTo(t, event.GetVersion()+10)
		play(700)
	}
	_, err := player.resign(t.Context(), o.game.GetId())
	require.NoError(t, err)
	require.NoError(t, o.watcher.awaitEnd(t))
	assert.Zero(t, o.watcher.history.Covered(), "a game was sent instead of events")
	require.NoError(t, syscall.Kill(server.process.Pid(), syscall.SIGTERM))
	<-server.process.Exited()
	assert.NoFileExists(t, path+"-wal")
	env.url, env.wrapper = copied, nil // SQLite cannot open the file at its path outside the namespace.
	out, err := exec.Command("cp", path, env.path()).CombinedOutput()
	require.NoError(t, err, "%s", out)
}

// requireReadable requires that games and lists can be read and that the watcher stays connected.
func (o *outage) requireReadable(t *testing.T) {
	t.Helper()
	game, err := o.player.get(t.Context(), o.game.GetId())
	require.NoError(t, err)
	assert.Equal(t, o.game.GetVersion(), game.GetVersion())
	_, err = o.player.games.ListGames(o.player.authorized(t.Context()), &pb.ListGamesRequest{PlayerId: "me"})
	require.NoError(t, err)
	select {
	case <-o.watcher.done:
		require.Failf(t, "the watcher's stream has ended", "%v", o.watcher.err)
	default:
	}
}
