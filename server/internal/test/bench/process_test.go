//go:build slow && unix

package bench

import (
	"bufio"
	"context"
	"fmt"
	"io"
	"log/slog"
	"net"
	"os"
	"os/exec"
	"path/filepath"
	"runtime"
	"runtime/debug"
	"runtime/metrics"
	"strconv"
	"syscall"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/gridstand/gridstand/server"
)

// These environment variables make the test binary run as a server: one that uses the store at a URL,
// or a recordWriter that writes a record.
const (
	storeVariable  = "GRIDSTAND_BENCH_STORE"
	recordVariable = "GRIDSTAND_BENCH_RECORD"
)

func TestMain(m *testing.M) {
	store, record := os.Getenv(storeVariable), os.Getenv(recordVariable)
	var err error
	switch {
	case store != "":
		err = serve(store)
	case record != "":
		err = writeRecords([]byte(record))
	default:
		os.Exit(m.Run())
	}
	if err != nil {
		fmt.Fprintln(os.Stderr, err)
		os.Exit(1)
	}
}

// serve runs a server until standard input ends.
func serve(store string) error {
	config := server.DefaultConfig()
	config.Listen, config.Store, config.Metrics = "127.0.0.1:0", store, "127.0.0.1:0"
	config.Logger, config.Exhibition = slog.New(slog.DiscardHandler), false
	ctx, cancel := context.WithCancel(context.Background())
	defer cancel()
	running, err := server.Start(ctx, config.Unlimited())
	if err != nil {
		return err
	}
	answer(running.Addr(), func() {})
	cancel()
	return running.Wait()
}

// answer prints the address, and then answers each line of input.
func answer(address net.Addr, publish func()) {
	fmt.Println(address)
	for lines := bufio.NewScanner(os.Stdin); lines.Scan(); {
		switch lines.Text() {
		case "memory":
			fmt.Println(held())
		case "work":
			var used syscall.Rusage
			_ = syscall.Getrusage(syscall.RUSAGE_SELF, &used) // cannot fail for this process
			fmt.Println((used.Utime.Nano() + used.Stime.Nano()) / 1000)
		case "publish":
			publish()
			fmt.Println(0)
		}
	}
}

// held releases unused memory, and returns the number of bytes of system memory that the process
// still uses: live objects, stacks, and the runtime's overhead for them.
func held() uint64 {
	for range 4 { // each collection shrinks a stack by at most half
		runtime.GC()
	}
	debug.FreeOSMemory()
	samples := []metrics.Sample{
		{Name: "/memory/classes/total:bytes"}, {Name: "/memory/classes/heap/released:bytes"},
	}
	metrics.Read(samples)
	return samples[0].Value.Uint64() - samples[1].Value.Uint64()
}

// process is a server in its own process.
type process struct {
	address *net.TCPAddr
	in      io.Writer
	out     *bufio.Scanner
}

// startFile starts a server on a new file.
func startFile(b *testing.B) *process {
	b.Helper()
	return start(b, storeVariable+"=sqlite:"+filepath.Join(b.TempDir(), "gridstand.db"))
}

// start starts the test binary with an environment variable. The process ends with the benchmark.
func start(b *testing.B, variable string) *process {
	b.Helper()
	cmd := exec.Command(os.Args[0])
	cmd.Env, cmd.Stderr = append(os.Environ(), variable), os.Stderr
	in, err := cmd.StdinPipe()
	require.NoError(b, err)
	out, err := cmd.StdoutPipe()
	require.NoError(b, err)
	require.NoError(b, cmd.Start())
	b.Cleanup(func() {
		_ = in.Close()
		late := time.AfterFunc(20*time.Second, func() { _ = cmd.Process.Kill() })
		defer late.Stop()
		require.NoError(b, cmd.Wait())
	})
	p := &process{in: in, out: bufio.NewScanner(out)}
	p.address, err = net.ResolveTCPAddr("tcp", p.read(b))
	require.NoError(b, err)
	return p
}

func (p *process) read(b *testing.B) string {
	b.Helper()
	require.True(b, p.out.Scan(), "the server has ended")
	return p.out.Text()
}

// ask returns the answer to "memory" in bytes, or to "work", the processor time used so far, in
// microseconds. "publish" makes a recordWriter write its record.
func (p *process) ask(b *testing.B, question string) float64 {
	b.Helper()
	_, err := fmt.Fprintln(p.in, question)
	require.NoError(b, err)
	n, err := strconv.ParseFloat(p.read(b), 64)
	require.NoError(b, err)
	return n
}
