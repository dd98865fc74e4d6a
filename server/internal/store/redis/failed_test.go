package redis

import (
	"context"
	"crypto/x509"
	"errors"
	"io"
	"net"
	"os"
	"testing"

	goredis "github.com/redis/go-redis/v9"
	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	redistest "github.com/gridstand/gridstand/internal/testkit/redis"
	"github.com/gridstand/gridstand/server/internal/store"
)

// Ensure that errors from Redis, and from the connection to it, are classified by kind,
// which a metric uses as a label.
func TestFailed(t *testing.T) {
	t.Parallel()
	server := redistest.StartMiniredis(t)
	client := redistest.NewClient(t, server.Addr())
	answer := func(message string) error {
		server.SetError(message)
		defer server.SetError("")
		return client.Ping(t.Context()).Err()
	}
	for want, errs := range map[store.Kind][]error{
		"timeout":    {goredis.ErrPoolTimeout, &net.OpError{Op: "read", Err: os.ErrDeadlineExceeded}},
		"connection": {&net.OpError{Op: "dial", Err: errors.New("refused")}, io.EOF, goredis.ErrClosed, x509.UnknownAuthorityError{}},
		"loading":    {answer("LOADING Redis is loading the dataset in memory")},
		"oom":        {answer("OOM command not allowed when used memory > 'maxmemory'.")},
		"answer":     {answer("ERR something else")},
	} {
		for _, err := range errs {
			var known *store.Error
			require.ErrorAs(t, failed(err), &known)
			assert.Equal(t, want, known.Kind, "%v", err)
			assert.ErrorIs(t, known, err)
			assert.Same(t, known, failed(known), "an error is wrapped only once")
		}
	}
	for _, err := range []error{nil, context.Canceled, context.DeadlineExceeded} {
		assert.Equal(t, err, failed(err))
	}
}
