//go:build slow

package bench

import (
	"net"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"testing"
	"time"

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
