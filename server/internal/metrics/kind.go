package metrics

import (
	"context"
	"errors"
	"net"
	"strings"

	"github.com/redis/go-redis/v9"

	"github.com/gridstand/gridstand/game"
)

// answers are Redis's errors that an operator must act on. All others are counted
// together, since the number of a label's values must be bounded.
var answers = []string{
	"LOADING", "READONLY", "OOM", "MISCONF", "BUSY", "NOREPLICAS", "MASTERDOWN", "CLUSTERDOWN", "TRYAGAIN",
	"NOAUTH", "WRONGPASS", "NOPERM",
}

// kind classifies an error of Redis, or of the connection to it.
func kind(err error) string {
	var (
		answer  redis.Error
		network net.Error
	)
	switch {
	case errors.Is(err, redis.ErrAutoPipelineQueueFull):
		return "queue_full"
	case errors.Is(err, context.DeadlineExceeded), errors.Is(err, redis.ErrPoolTimeout),
		errors.As(err, &network) && network.Timeout():
		return "timeout"
	case errors.Is(err, context.Canceled):
		return "canceled"
	case errors.As(err, &network):
		return "connection"
	case errors.As(err, &answer):
		for _, prefix := range answers {
			if redis.HasErrorPrefix(answer, prefix) {
				return strings.ToLower(prefix)
			}
		}
		return "answer"
	default:
		return "connection"
	}
}

// label is a reason in the form that labels have.
func label(r game.Reason) string { return strings.ReplaceAll(r.String(), " ", "_") }
