package client_test

import (
	"context"
	"testing"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
	"google.golang.org/grpc/codes"

	"github.com/gridstand/gridstand/client"
	waittest "github.com/gridstand/gridstand/internal/testkit/wait"
	pb "github.com/gridstand/gridstand/proto/gridstand/v1"
)

func assertClosed(t *testing.T, err error) {
	t.Helper()
	require.ErrorIs(t, err, context.Canceled)
	assert.ErrorContains(t, err, "the client is closed")
}

func TestClose_EndsRetry(t *testing.T) {
	t.Parallel()
	up := client.Slide(pb.Direction_DIRECTION_UP)
	for _, during := range []string{"the call", "the wait"} {
		t.Run("during "+during, func(t *testing.T) {
			t.Parallel()
			f := &fake{}
			c := f.client(t)
			f.move = func(_ int, ctx context.Context, _ *pb.MoveRequest) (*pb.Event, error) {
				if during == "the call" {
					assert.NoError(t, c.Close())
					<-ctx.Done()
				}
				return nil, storageAway()
			}
			seat := c.Seat(knownAt(3))
			seat.OnRetry = func(attempt int, _ time.Duration, _ error) {
				if attempt == 1 {
					assert.NoError(t, c.Close())
				}
			}
			_, err := seat.Move(waittest.Context(t), 3, up, false)
			assertClosed(t, err)
			require.ErrorIs(t, err, client.ErrUnsettled)
			made := f.made("move")

			_, err = seat.Move(waittest.Context(t), 3, up, false)
			assertClosed(t, err)
			assert.Equal(t, codes.Canceled, client.FromError(err).Code)
			require.NotErrorIs(t, err, client.ErrUnsettled, "the call was not made")
			assert.Equal(t, made, f.made("move"))
		})
	}
}
