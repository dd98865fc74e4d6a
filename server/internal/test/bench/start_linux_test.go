//go:build slow

package bench

import (
	"bytes"
	"fmt"
	"net"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"syscall"
	"testing"
	"time"
	"unsafe"

	"github.com/stretchr/testify/require"
	"golang.org/x/sync/errgroup"
	"google.golang.org/grpc"

	"github.com/gridstand/gridstand/game/replay"
	"github.com/gridstand/gridstand/internal/ratio"
	pb "github.com/gridstand/gridstand/proto/gridstand/v1"
	"github.com/gridstand/gridstand/server/internal/directory"
	"github.com/gridstand/gridstand/server/internal/gamelog"
	"github.com/gridstand/gridstand/server/internal/store"
	"github.com/gridstand/gridstand/server/internal/store/sqlite"
)

// starts is the number of times that each program is started per round.
const starts = 11

// build builds a program the way it is shipped, and returns its path.
func build(b *testing.B, folder string) string {
	b.Helper()
	path := filepath.Join(b.TempDir(), "program")
	cmd := exec.Command("go", "build", "-trimpath", "-buildvcs=false", "-ldflags", "-s -w", "-o", path, folder)
	cmd.Env = append(os.Environ(), "CGO_ENABLED=0")
	out, err := cmd.CombinedOutput()
	require.NoError(b, err, "%s", out)
	return path
}

// BenchmarkStartServer compares the time from a server's start to its first response with that
// of a bare gRPC server.
func BenchmarkStartServer(b *testing.B) {
	ours, bare := build(b, "../../../../cmd/gridstand-server"), build(b, "./testdata/server")
	ratio.Compare(b, "ms", ratio.Goal{},
		millis(starts, func() time.Duration { return answers(b, ours, "--store", "memory", "--listen") }),
		millis(starts, func() time.Duration { return answers(b, bare) }))
}

// BenchmarkStartOnFile compares a server's startup time for a file that has many finished games
// with its startup time for an empty file.
func BenchmarkStartOnFile(b *testing.B) {
	program := build(b, "../../../../cmd/gridstand-server")
	full, empty := filepath.Join(b.TempDir(), "full.db"), filepath.Join(b.TempDir(), "empty.db")
	finishGames(b, full, 100_000)
	start := func(file string) ratio.Side {
		return millis(starts, func() time.Duration {
			return answers(b, program, "--store", "sqlite:"+file, "--listen")
		})
	}
	ratio.Compare(b, "ms", ratio.Goal{}, start(full), start(empty))
}

// finishGames writes the given number of finished games to a file.
func finishGames(b *testing.B, path string, games int) {
	b.Helper()
	s, err := sqlite.Open(sqlite.Options{Path: path})
	require.NoError(b, err)
	l := &library{log: gamelog.New(s.Games)}
	listings := make([]store.Listing, games)
	var group errgroup.Group
	group.SetLimit(players)
	for n := range games {
		group.Go(func() error {
			created, err := l.create(b.Context(), "classic", n)
			if err != nil {
				return err
			}
			draft, err := created.Tip.Draft(replay.Entry{Action: replay.Resigned{}}, time.Time{}, nil)
			if err != nil {
				return err
			}
			over, err := l.log.Append(b.Context(), draft)
			if err == nil {
				listings[n] = directory.Of(over.Event.State, 0)
			}
			return err
		})
	}
	require.NoError(b, group.Wait())
	for some := range slices.Chunk(listings, players) {
		require.NoError(b, s.Lists.Write(b.Context(), some, 0))
	}
	require.NoError(b, s.Close())
}

// answers starts a server, passing it the address to listen on as the last argument, and returns
// the time until the server's first response. It kills the server before it returns.
func answers(b *testing.B, path string, args ...string) time.Duration {
	b.Helper()
	listener, err := net.Listen("tcp", "127.0.0.1:0")
	require.NoError(b, err)
	address := listener.Addr().String()
	require.NoError(b, listener.Close())

	cmd := exec.Command(path, append(args, address)...)
	began := time.Now()
	require.NoError(b, cmd.Start())
	defer func() {
		_ = cmd.Process.Kill()
		_ = cmd.Wait()
	}()
	look := time.NewTicker(200 * time.Microsecond)
	defer look.Stop()
	for {
		conn, err := net.Dial("tcp", address)
		if err == nil {
			_ = conn.Close()
			break
		}
		require.Less(b, time.Since(began), time.Minute)
		<-look.C
	}
	games := pb.NewGameServiceClient(dial(b, address))
	_, err = games.GetServerInfo(b.Context(), &pb.GetServerInfoRequest{}, grpc.WaitForReady(true))
	require.NoError(b, err)
	return time.Since(began)
}

// BenchmarkStartClient compares the time until a watcher's screen shows the board with the time
// until a bare client has printed the game.
func BenchmarkStartClient(b *testing.B) {
	ours, bare := build(b, "../../../../cmd/gridstand"), build(b, "./testdata/client")
	address := startOurs(b).address
	p := newPlayer(b, dial(b, address), "player")
	id := p.game.GetId()
	ratio.Compare(b, "ms", ratio.Goal{},
		millis(starts, func() time.Duration { return shows(b, "SCORE", ours, "--server", address, "watch", id) }),
		millis(starts, func() time.Duration { return shows(b, "seed_commitment", bare, address, id) }))
}

// shows starts a program on a terminal, and returns the time until the given text appears there.
// It kills the program before it returns.
func shows(b *testing.B, text, path string, args ...string) time.Duration {
	b.Helper()
	screen, terminal := openTerminal(b)
	defer screen.Close()
	cmd := exec.Command(path, args...)
	cmd.Stdin, cmd.Stdout, cmd.Stderr = terminal, terminal, terminal
	cmd.Env = append(os.Environ(), "TERM=xterm-256color", "COLORTERM=truecolor", "TMUX=", "XDG_CONFIG_HOME="+b.TempDir())
	cmd.SysProcAttr = &syscall.SysProcAttr{Setsid: true, Setctty: true}
	began := time.Now()
	require.NoError(b, cmd.Start())
	require.NoError(b, terminal.Close())
	defer func() {
		_ = cmd.Process.Kill()
		_ = cmd.Wait()
	}()
	stuck := time.AfterFunc(time.Minute, func() { _ = cmd.Process.Kill() })
	defer stuck.Stop()
	var shown []byte
	for buffer := make([]byte, 1<<16); !bytes.Contains(shown, []byte(text)); {
		n, err := screen.Read(buffer)
		require.NoError(b, err, "%q", shown)
		shown = append(shown, buffer[:n]...)
	}
	return time.Since(began)
}

// openTerminal opens a pseudo-terminal of 80×24.
func openTerminal(b *testing.B) (screen, terminal *os.File) {
	b.Helper()
	screen, err := os.OpenFile("/dev/ptmx", os.O_RDWR|syscall.O_NOCTTY, 0)
	require.NoError(b, err)
	control := func(request uintptr, value unsafe.Pointer) {
		_, _, errno := syscall.Syscall(syscall.SYS_IOCTL, screen.Fd(), request, uintptr(value))
		require.Zero(b, errno)
	}
	var locked, number uint32
	control(syscall.TIOCSPTLCK, unsafe.Pointer(&locked))
	control(syscall.TIOCGPTN, unsafe.Pointer(&number))
	size := [4]uint16{24, 80}
	control(syscall.TIOCSWINSZ, unsafe.Pointer(&size))
	terminal, err = os.OpenFile(fmt.Sprintf("/dev/pts/%d", number), os.O_RDWR|syscall.O_NOCTTY, 0)
	require.NoError(b, err)
	return screen, terminal
}
