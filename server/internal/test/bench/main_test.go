//go:build slow

package bench

import (
	"bufio"
	"context"
	"crypto/tls"
	"encoding/base64"
	"fmt"
	"net"
	"os"
	"os/exec"
	"path/filepath"
	"runtime"
	"runtime/debug"
	"runtime/metrics"
	"runtime/pprof"
	"slices"
	"strconv"
	"strings"
	"testing"
	"time"

	"github.com/stretchr/testify/require"
	"go.uber.org/goleak"
	"google.golang.org/grpc"
	"google.golang.org/grpc/credentials"
	"google.golang.org/protobuf/proto"

	pb "github.com/gridstand/gridstand/proto/gridstand/v1"
	"github.com/gridstand/gridstand/server"
)

// These environment variables make the test binary run as a server, and select the kind of
// server. Memory is measured in such a process, because it contains no clients.
const (
	sideVariable  = "GRIDSTAND_BENCH_SIDE"
	storeVariable = "GRIDSTAND_BENCH_STORE"
	eventVariable = "GRIDSTAND_BENCH_EVENT"
	certVariable  = "GRIDSTAND_BENCH_CERT"
	keyVariable   = "GRIDSTAND_BENCH_KEY"
	// profileVariable names the directory to which each server writes its CPU and allocation
	// profiles when it ends. If it is not set, there are no profiles.
	profileVariable = "BENCH_PROFILES"
)

// The kinds of servers, which are the values of sideVariable.
const (
	ours     = "ours"
	prepared = "bare"    // sends one encoded message to all watchers
	echo     = "echo"    // replies only to the caller
	writing  = "writing" // writes the message to the readers' connections, with one write(2) each
)

func TestMain(m *testing.M) {
	side := os.Getenv(sideVariable)
	if side == "" {
		goleak.VerifyTestMain(m)
		return
	}
	if err := beServer(side); err != nil {
		fmt.Fprintln(os.Stderr, side+":", err)
		os.Exit(1)
	}
}

// beServer serves until standard input ends. It first prints its address, and then a reply to
// each line of input.
func beServer(side string) error {
	defer profile(side)()
	var address string
	var readers *recordWriter
	if side == ours {
		config := benchConfig(os.Getenv(storeVariable))
		config.TLSCert, config.TLSKey = os.Getenv(certVariable), os.Getenv(keyVariable)
		ctx, cancel := context.WithCancel(context.Background())
		server, err := server.Start(ctx, config)
		if err != nil {
			cancel()
			return err
		}
		defer func() {
			cancel()
			_ = server.Wait()
		}()
		address = server.Addr().String()
	} else {
		event := &pb.Event{}
		raw, err := base64.StdEncoding.DecodeString(os.Getenv(eventVariable))
		if err == nil {
			err = proto.Unmarshal(raw, event)
		}
		if err != nil {
			return err
		}
		listener, err := net.Listen("tcp", "127.0.0.1:0")
		if err != nil {
			return err
		}
		var options []grpc.ServerOption
		if cert := os.Getenv(certVariable); cert != "" {
			creds, err := credentials.NewServerTLSFromFile(cert, os.Getenv(keyVariable))
			if err != nil {
				return err
			}
			options = append(options, grpc.Creds(creds))
		}
		server := grpc.NewServer(options...)
		game := newBare(event, side != echo)
		if side == writing {
			if readers, err = newRecordWriter(event); err != nil {
				return err
			}
			defer readers.close()
			game.publish = readers.publish
		}
		pb.RegisterGameServiceServer(server, game)
		go func() { _ = server.Serve(listener) }()
		defer server.Stop()
		address = listener.Addr().String()
	}
	fmt.Println(address)
	for lines := bufio.NewScanner(os.Stdin); lines.Scan(); {
		switch lines.Text() {
		case "memory":
			fmt.Println(held())
		case "allocations":
			var stats runtime.MemStats
			runtime.ReadMemStats(&stats)
			fmt.Println(stats.Mallocs)
		case "goroutines":
			fmt.Println(runtime.NumGoroutine())
		case "files":
			open, _ := os.ReadDir("/proc/self/fd") // empty if the system has no /proc
			fmt.Println(len(open))
		case "work":
			fmt.Println(work().Microseconds())
		case "readers":
			fmt.Println(readers.listener.Addr().(*net.TCPAddr).Port)
		}
	}
	return nil
}

// held releases unused memory, and returns the number of bytes of system memory that the process
// still uses: live objects, stacks, and the runtime's overhead for them. This is the same total
// that GOMEMLIMIT limits.
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

// profile starts the profiles that profileVariable requests. The returned function stops them.
func profile(side string) func() {
	dir := os.Getenv(profileVariable)
	if dir == "" {
		return func() {}
	}
	path := filepath.Join(dir, fmt.Sprintf("%s-%d", side, os.Getpid()))
	cpu, err := os.Create(path + ".cpu")
	if err == nil {
		err = pprof.StartCPUProfile(cpu)
	}
	if err != nil {
		fmt.Fprintln(os.Stderr, err)
		return func() {}
	}
	return func() {
		pprof.StopCPUProfile()
		_ = cpu.Close()
		heap, err := os.Create(path + ".heap")
		if err == nil {
			err = pprof.Lookup("allocs").WriteTo(heap, 0)
		}
		if err != nil {
			fmt.Fprintln(os.Stderr, err)
		}
		_ = heap.Close()
	}
}

// process is a server that runs in its own process.
type process struct {
	address string
	tls     bool

	in  *bufio.Writer
	out *bufio.Scanner
}

// startProcess starts a server of the given kind. variables are additional environment variables
// in the form NAME=value. The server is stopped when the benchmark ends.
func startProcess(b *testing.B, side string, variables ...string) *process {
	b.Helper()
	cmd := exec.Command(os.Args[0])
	cmd.Env = append(os.Environ(), append(variables, sideVariable+"="+side)...)
	cmd.Stderr = os.Stderr
	in, err := cmd.StdinPipe()
	require.NoError(b, err)
	out, err := cmd.StdoutPipe()
	require.NoError(b, err)
	require.NoError(b, cmd.Start())
	p := &process{in: bufio.NewWriter(in), out: bufio.NewScanner(out)}
	b.Cleanup(func() {
		_ = in.Close()
		late := time.AfterFunc(20*time.Second, func() { _ = cmd.Process.Kill() })
		defer late.Stop()
		require.NoError(b, cmd.Wait())
	})
	p.tls = slices.ContainsFunc(variables, func(v string) bool { return strings.HasPrefix(v, certVariable) })
	p.address = p.read(b)
	return p
}

// startBareProcess starts a bare server that sends the given event.
func startBareProcess(b *testing.B, side string, event *pb.Event, variables ...string) *process {
	b.Helper()
	raw, err := proto.Marshal(event)
	require.NoError(b, err)
	return startProcess(b, side, append(variables, eventVariable+"="+base64.StdEncoding.EncodeToString(raw))...)
}

// dial connects to the server.
func (p *process) dial(b *testing.B) *grpc.ClientConn {
	b.Helper()
	if p.tls {
		return dial(b, p.address, grpc.WithTransportCredentials(credentials.NewTLS(anyCertificate)))
	}
	return dial(b, p.address)
}

// anyCertificate is a client TLS configuration that accepts any certificate. The benchmark
// connects only to servers that it started.
var anyCertificate = &tls.Config{InsecureSkipVerify: true, NextProtos: []string{"h2"}}

func (p *process) read(b *testing.B) string {
	b.Helper()
	require.True(b, p.out.Scan(), "the server has ended")
	return p.out.Text()
}

// ask returns the server's answer to a question: "memory" in bytes; "allocations", "goroutines"
// or "files" as a number; or "work", the processor time of the process in microseconds.
func (p *process) ask(b *testing.B, question string) float64 {
	b.Helper()
	_, err := p.in.WriteString(question + "\n")
	require.NoError(b, err)
	require.NoError(b, p.in.Flush())
	answer, err := strconv.ParseFloat(strings.TrimSpace(p.read(b)), 64)
	require.NoError(b, err)
	return answer
}
