package loopback_test

import (
	"testing"

	"github.com/stretchr/testify/assert"

	"github.com/gridstand/gridstand/internal/loopback"
)

func TestIs(t *testing.T) {
	t.Parallel()
	for _, host := range []string{"localhost", "localhost:2048", "127.0.0.1", "127.8.9.1:80", "::1", "[::1]", "[::1]:2048", "[::ffff:127.0.0.1]:1"} {
		assert.True(t, loopback.Is(host), host)
	}
	for _, host := range []string{
		"", ":2048", "localhost.example", "192.0.2.1:2048", "[::]:2048", "0.0.0.0", "127.0.0.1.example", "::1%evil.example",
		"[::1%x].evil.example", "[::1]:2048,192.0.2.1:2048", "[::1%lo]:2048,192.0.2.1:2048",
	} {
		assert.False(t, loopback.Is(host), host)
	}
}
