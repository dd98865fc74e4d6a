package server_test

import (
	"context"
	"net"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
	"google.golang.org/grpc"
	"google.golang.org/grpc/codes"
	"google.golang.org/grpc/metadata"
	"google.golang.org/grpc/status"

	"github.com/gridstand/gridstand/internal/id"
	servertest "github.com/gridstand/gridstand/internal/testkit/server"
	pb "github.com/gridstand/gridstand/proto/gridstand/v1"
)

// dialFrom connects to a server from a local address.
func dialFrom(t *testing.T, address string, server net.Addr) *grpc.ClientConn {
	t.Helper()
	dialer := net.Dialer{LocalAddr: &net.TCPAddr{IP: net.ParseIP(address)}}
	probe, err := dialer.DialContext(t.Context(), "tcp", server.String())
	if err != nil {
		t.Skipf("%s is not an address of this machine: %v", address, err)
	}
	require.NoError(t, probe.Close())
	return servertest.Dial(t, server, grpc.WithContextDialer(func(ctx context.Context, target string) (net.Conn, error) {
		return dialer.DialContext(ctx, "tcp", target)
	}))
}

// Ensure that the server trusts x-forwarded-for only from proxies. The test connects from
// several local addresses. The limit of one account per minute reveals which address the server
// considers to be the caller's.
func TestStart_Proxies(t *testing.T) {
	t.Parallel()
	const proxy, inner, client = "127.0.0.2", "127.0.0.3", "127.0.0.4"
	c := servertest.Config(t)
	c.Limits.NewPlayersPerMinute, c.Proxies = 1, proxy+", "+inner+"/32"
	server, _ := servertest.Start(t, c)
	conns := map[string]*grpc.ClientConn{}
	for _, address := range []string{proxy, client} {
		conns[address] = dialFrom(t, address, server.Addr())
	}
	create := func(from string, forwarded ...string) codes.Code {
		ctx := metadata.NewOutgoingContext(within(t), metadata.MD{"x-forwarded-for": forwarded})
		_, err := pb.NewPlayerServiceClient(conns[from]).CreatePlayer(ctx, &pb.CreatePlayerRequest{Name: "p" + id.New()[:20]})
		return status.Code(err)
	}
	const ok, full = codes.OK, codes.ResourceExhausted
	for i, step := range []struct {
		from      string
		forwarded []string
		want      codes.Code
	}{
		{client, nil, ok},
		{client, []string{"198.51.100.1"}, full}, // Any client can forge this header.
		{client, []string{"198.51.100.2, " + proxy}, full},
		{proxy, []string{"198.51.100.1"}, ok},
		{proxy, []string{"198.51.100.1"}, full},
		{proxy, []string{"198.51.100.2"}, ok},
		{proxy, []string{"203.0.113.9, 198.51.100.2"}, full}, // The proxy added the last address; any client can forge the one before it.
		{proxy, []string{"203.0.113.9", "198.51.100.2"}, full},
		{proxy, []string{"198.51.100.3, " + inner}, ok}, // Through two proxies.
		{proxy, []string{"198.51.100.3"}, full},
		{proxy, []string{client}, full}, // The first client, now through the proxy.
		{proxy, nil, ok},                // The proxy's own address.
		{proxy, []string{"no address"}, full},
	} {
		assert.Equal(t, step.want, create(step.from, step.forwarded...), "step %d: %v", i, step)
	}
}
