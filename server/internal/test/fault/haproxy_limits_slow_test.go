//go:build slow

package fault

import (
	"errors"
	"fmt"
	"io"
	"net"
	"slices"
	"syscall"
	"testing"
	"time"

	waittest "github.com/gridstand/gridstand/internal/testkit/wait"

	"github.com/stretchr/testify/require"
	"golang.org/x/net/http2"

	pb "github.com/gridstand/gridstand/proto/gridstand/v1"
	"github.com/gridstand/gridstand/server/limits"
)

// The limits in deploy/haproxy.cfg on the connections of one address, and on those that it opens within
// ten seconds.
const proxyPerAddress, proxyPerTenSeconds = 4096, 8192

// lastingIdle edits the shipped timeouts, so that HAProxy does not close idle connections during a test.
var lastingIdle = []string{"timeout http-request 6s", "timeout http-request 1h", "timeout client 65s", "timeout client 1h"}

// settings reads the settings with which a server greets a connection that it accepts.
func (c *rawConn) settings() (*http2.SettingsFrame, error) {
	if err := c.conn.SetReadDeadline(time.Now().Add(patience)); err != nil {
		return nil, err
	}
	frame, err := c.reads.ReadFrame()
	if err != nil {
		return nil, err
	}
	settings, ok := frame.(*http2.SettingsFrame)
	if !ok {
		return nil, fmt.Errorf("want settings, got %v", frame)
	}
	return settings, c.conn.SetReadDeadline(time.Time{})
}

// Ensure that the shipped proxy limits the streams of a connection as the server does, and the
// connections of one address, at once and within ten seconds, that a player at another address can still
// play, and that the first address can connect again once it has closed some of its connections.
func TestThroughProxy_ConnectionsPerAddress(t *testing.T) {
	t.Parallel()
	manyFiles.Lock()
	defer manyFiles.Unlock()
	flooder, other := dialFrom(t, 1), &flood{dialer: dialFrom(t, 2)}
	if flooder.LocalAddr == nil {
		t.Skip("the system has only one loopback address")
	}
	env := newSQLiteEnv(t)
	// On a busy machine, opening this many connections may take longer than ten seconds.
	front := throughProxy(t, env.serve(), append(slices.Clone(lastingIdle), "conn_rate(10s)", "conn_rate(1h)")...)
	var conns []*rawConn
	var settings *http2.SettingsFrame
	// connect opens a connection and reports whether the proxy accepts it.
	connect := func() bool {
		conn, err := dialRaw(t.Context(), flooder, front.addr, 0)
		if err == nil {
			if settings, err = conn.settings(); err == nil {
				conns = append(conns, conn)
				return true
			}
			_ = conn.conn.Close()
		}
		refused := errors.Is(err, io.EOF) || errors.Is(err, syscall.ECONNRESET) || errors.Is(err, syscall.EPIPE)
		require.True(t, refused, "%v", err)
		return false
	}
	closeAll := func(some []*rawConn) {
		for _, conn := range some {
			_ = conn.conn.Close()
		}
	}
	defer func() { closeAll(conns) }()
	require.True(t, connect())
	streams, ok := settings.Value(http2.SettingMaxConcurrentStreams)
	require.True(t, ok)
	require.Equal(t, uint32(limits.Default().StreamsPerConnection), streams)
	opened := 1
	for ; connect(); opened++ {
		require.Less(t, opened, proxyPerAddress, "the proxy does not limit the connections of an address")
	}
	require.Equal(t, proxyPerAddress, opened)
	player := env.player(front, other.dialOption())
	last := player.playTo(t, player.start(t, "6x6"), 10)
	closeAll(conns[:100])
	waittest.Until(t, "the address can connect again", connect)
	for ; connect(); opened++ {
		require.Less(t, opened, proxyPerTenSeconds, "the proxy does not limit how fast an address opens connections")
		closeAll(conns[len(conns)-1:])
	}
	require.Greater(t, opened, proxyPerTenSeconds*3/4, "refused too early")
	player.playTo(t, after(last), 20)
}

// Ensure that the shipped proxy ends HTTP requests whose headers do not arrive and gRPC calls whose
// message does not arrive, and forwards neither to a server.
func TestThroughProxy_Incomplete(t *testing.T) {
	t.Parallel()
	env := newSQLiteEnv(t)
	front := throughProxy(t, env.serve(), "timeout client 65s", "timeout client 1h")
	const requests = 20
	closed := make(chan error, requests)
	for n := range requests {
		conn, err := (&net.Dialer{}).DialContext(t.Context(), "tcp", front.addr)
		require.NoError(t, err)
		t.Cleanup(func() { _ = conn.Close() })
		_, err = io.WriteString(conn, "GET / HTTP/1.1\r\nHost: gridstand\r\n"[:n])
		require.NoError(t, err)
		require.NoError(t, conn.SetReadDeadline(time.Now().Add(patience)))
		go func() {
			_, err := io.Copy(io.Discard, conn)
			closed <- err
		}()
	}
	conn, err := dialRaw(t.Context(), &net.Dialer{}, front.addr, 1<<16)
	require.NoError(t, err)
	t.Cleanup(func() { _ = conn.conn.Close() })
	ended := make(chan string, requests)
	go conn.read(func(_ uint32, status string) { ended <- status })
	for range requests {
		stream, err := conn.open(pb.GameService_ListGames_FullMethodName)
		require.NoError(t, err)
		require.NoError(t, conn.send(stream, false, []byte{0, 0, 0, 0}))
	}
	for range requests {
		require.NoError(t, <-closed)
		require.Empty(t, waittest.Receive(t, "the end of a call", ended), "the server answered a call")
	}
	env.player(front)
}
