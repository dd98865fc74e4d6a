package gamelog

import (
	"context"
	"errors"
	"io"
	"net"

	"github.com/redis/go-redis/v9"
)

// IsStorage reports whether err comes from Redis, from the connection to it, or from
// a timeout.
func IsStorage(err error) bool {
	var (
		answer  redis.Error
		network net.Error
	)
	return errors.As(err, &answer) || errors.As(err, &network) ||
		errors.Is(err, ErrUnsettled) ||
		errors.Is(err, context.DeadlineExceeded) || errors.Is(err, context.Canceled) ||
		errors.Is(err, io.EOF) || errors.Is(err, io.ErrUnexpectedEOF) ||
		errors.Is(err, redis.ErrClosed) || errors.Is(err, redis.ErrPoolTimeout) || errors.Is(err, redis.ErrPoolExhausted)
}
