//go:build unix

package front

import (
	"net"
	"syscall"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/gridstand/gridstand/server/limits"
)

// Ensure that the kernel keeps few bytes for a client in either direction, and as many as it wants for a proxy,
// whose connection may carry the calls and answers of many clients.
func TestEnter_Buffers(t *testing.T) {
	t.Parallel()
	listener, err := net.Listen("tcp", "127.0.0.1:0")
	require.NoError(t, err)
	t.Cleanup(func() { _ = listener.Close() })
	sizes := func(proxies string) (received, sent int) {
		f := newFront(t, limits.Limits{})
		f.Proxies, err = ParseProxies(proxies)
		require.NoError(t, err)
		client, err := net.Dial("tcp", listener.Addr().String())
		require.NoError(t, err)
		t.Cleanup(func() { _ = client.Close() })
		accepted, err := listener.Accept()
		require.NoError(t, err)
		c, exceeded := f.enter(accepted)
		require.Empty(t, exceeded)
		t.Cleanup(func() { _ = c.Close() })
		raw, err := accepted.(*net.TCPConn).SyscallConn()
		require.NoError(t, err)
		require.NoError(t, raw.Control(func(fd uintptr) {
			if received, err = syscall.GetsockoptInt(int(fd), syscall.SOL_SOCKET, syscall.SO_RCVBUF); err == nil {
				sent, err = syscall.GetsockoptInt(int(fd), syscall.SOL_SOCKET, syscall.SO_SNDBUF)
			}
		}))
		require.NoError(t, err)
		return received, sent
	}
	received, sent := sizes("")
	for _, size := range []int{received, sent} { // Linux doubles them, for its own data.
		assert.Contains(t, []int{buffer, 2 * buffer}, size)
	}
	received, sent = sizes("127.0.0.1")
	assert.Greater(t, received, 2*buffer)
	assert.Greater(t, sent, 2*buffer)
}
