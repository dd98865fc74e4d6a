//go:build slow

package client_test

import (
	"context"
	"errors"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/gridstand/gridstand/client"
	"github.com/gridstand/gridstand/internal/testkit/process"
	waittest "github.com/gridstand/gridstand/internal/testkit/wait"
	pb "github.com/gridstand/gridstand/proto/gridstand/v1"
)

// Ensure that a server that accepts connections but sends nothing is not reported as
// missing.
func TestCause_Silent(t *testing.T) {
	t.Parallel()
	l := process.Listen(t)
	t.Run("clear text", func(t *testing.T) { silent(t, client.Config{Target: l.Addr().String()}) })
	t.Run("TLS", func(t *testing.T) { silent(t, client.Config{Target: l.Addr().String(), TLS: true}) })
}

func silent(t *testing.T, config client.Config) {
	t.Helper()
	t.Parallel()
	c, ctx := dial(t, config), waittest.Context(t)
	for {
		_, err := c.Games.GetServerInfo(ctx, &pb.GetServerInfoRequest{})
		if errors.Is(err, context.DeadlineExceeded) {
			require.NoError(t, ctx.Err())
			continue // The call timed out before the connection did.
		}
		require.ErrorIs(t, err, client.ErrUnreachable)
		assert.Equal(t, client.CauseSilent, client.CauseOf(err), err)
		assert.EqualError(t, err, "no answer in time")
		return
	}
}
