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
	for proxies, few := range map[string]bool{"": true, "127.0.0.1": false} {
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
		for _, direction := range []int{syscall.SO_RCVBUF, syscall.SO_SNDBUF} {
			var size int
			require.NoError(t, raw.Control(func(fd uintptr) {
				size, err = syscall.GetsockoptInt(int(fd), syscall.SOL_SOCKET, direction)
			}))
			require.NoError(t, err)
			assert.Equal(t, few, size == buffer || size == 2*buffer, "%d; Linux doubles it, for its own data", size)
			assert.Equal(t, few, size <= 2*buffer, "%d", size)
		}
	}
}
