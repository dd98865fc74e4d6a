package contract

import (
	"context"
	"flag"
	"net"
	"os"
	"os/exec"
	"strings"
	"sync/atomic"
	"testing"

	"github.com/stretchr/testify/require"
	"google.golang.org/grpc"
	"google.golang.org/grpc/codes"
	"google.golang.org/protobuf/encoding/protojson"
	"google.golang.org/protobuf/proto"

	connecttest "github.com/gridstand/gridstand/internal/testkit/connect"
	"github.com/gridstand/gridstand/internal/testkit/longtest"
	playertest "github.com/gridstand/gridstand/internal/testkit/player"
	"github.com/gridstand/gridstand/internal/testkit/process"
	servertest "github.com/gridstand/gridstand/internal/testkit/server"
)

const overGRPC = "grpc"

var protocol = flag.String("protocol", overGRPC, "protocol of all calls: "+strings.Join(append([]string{overGRPC}, connecttest.Protocols()...), ", "))

// TestProtocols_long runs all tests, including the long ones, with every protocol except gRPC. It is
// not parallel, because each process already runs as many concurrent tests as the machine can handle.
func TestProtocols_long(t *testing.T) {
	longtest.Skip(t)
	var args []string
	if process.Race { // Running all tests would take minutes.
		args = []string{"-test.short"}
	}
	for _, name := range connecttest.Protocols() {
		runWith(t, name, args...)
	}
}

// runWith runs this package's tests in another process that uses the given protocol.
func runWith(t *testing.T, name string, args ...string) {
	if *protocol != overGRPC {
		t.Skip("already running with another protocol")
	}
	t.Run(name, func(t *testing.T) {
		cmd := exec.CommandContext(t.Context(), os.Args[0], append(args, "-protocol="+name)...)
		out, err := cmd.CombinedOutput()
		require.NoError(t, err, "%s", out)
		require.Contains(t, string(out), "PASS")
	})
}

// grpcOnly skips the test unless the current protocol is gRPC.
func grpcOnly(t testing.TB, why string) {
	t.Helper()
	if *protocol != overGRPC {
		t.Skip("gRPC only: " + why)
	}
}

// sayable reports whether a client can send a message in the current protocol. JSON cannot
// represent invalid durations.
func sayable(m proto.Message) bool {
	if *protocol != connecttest.JSON {
		return true
	}
	_, err := protojson.Marshal(m)
	return err == nil
}

// undecodable returns the code for a request that cannot be decoded.
func undecodable() codes.Code {
	if *protocol == overGRPC {
		return codes.Internal
	}
	return codes.InvalidArgument
}

// dial returns a connection to a server with the current protocol.
func dial(t testing.TB, addr net.Addr) grpc.ClientConnInterface {
	t.Helper()
	if *protocol == overGRPC {
		return servertest.Dial(t, addr)
	}
	return connecttest.Dial(t, addr, *protocol)
}

// checkedConn checks each response against the rules for all responses. It repeats a unary call
// that the store did not answer, as the contract asks: on a busy machine, a store that runs may
// answer late. Any other refusal is for the test to check.
type checkedConn struct {
	grpc.ClientConnInterface
	t testing.TB
	// storeStopped is set once the test has stopped the store. The connection then repeats
	// nothing.
	storeStopped *atomic.Bool
}

// Invoke implements grpc.ClientConnInterface.
func (c checkedConn) Invoke(ctx context.Context, method string, args, reply any, options ...grpc.CallOption) error {
	return playertest.Retry(ctx, func(ctx context.Context) error {
		return checkUnary(c.t)(ctx, method, args, reply, nil, func(ctx context.Context, method string, args, reply any, _ *grpc.ClientConn, options ...grpc.CallOption) error {
			return c.ClientConnInterface.Invoke(ctx, method, args, reply, options...)
		}, options...)
	}, func(err error) bool { return playertest.StorageUnavailable(err) && !c.storeStopped.Load() })
}

// NewStream implements grpc.ClientConnInterface.
func (c checkedConn) NewStream(ctx context.Context, desc *grpc.StreamDesc, method string, options ...grpc.CallOption) (grpc.ClientStream, error) {
	return checkStream(c.t)(ctx, desc, nil, method, func(ctx context.Context, desc *grpc.StreamDesc, _ *grpc.ClientConn, method string, options ...grpc.CallOption) (grpc.ClientStream, error) {
		return c.ClientConnInterface.NewStream(ctx, desc, method, options...)
	}, options...)
}
