package client_test

import (
	"context"
	"testing"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
	"google.golang.org/grpc"
	"google.golang.org/grpc/metadata"

	"github.com/gridstand/gridstand/client"
	waittest "github.com/gridstand/gridstand/internal/testkit/wait"
	pb "github.com/gridstand/gridstand/proto/gridstand/v1"
)

// Ensure that ages are measured by the server's clock, as of its newest answer.
func TestNow(t *testing.T) {
	t.Parallel()
	var ahead time.Duration
	f := &fake{}
	address := f.start(t, grpc.UnaryInterceptor(func(ctx context.Context, request any, _ *grpc.UnaryServerInfo, handler grpc.UnaryHandler) (any, error) {
		_ = grpc.SetHeader(ctx, metadata.Pairs(pb.TimeHeader, time.Now().Add(ahead).Format(time.RFC3339Nano)))
		return handler(ctx, request)
	}))
	c := dial(t, client.Config{Target: address})
	for _, ahead = range []time.Duration{10 * time.Hour, -10 * time.Hour} {
		_, err := c.Games.GetServerInfo(waittest.Context(t), &pb.GetServerInfoRequest{})
		require.NoError(t, err)
		assert.WithinDuration(t, time.Now().Add(ahead), c.As("").Now(), time.Hour)
	}
}
