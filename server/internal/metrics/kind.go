package metrics

import (
	"context"
	"errors"

	"github.com/gridstand/gridstand/server/internal/store"
)

// kind returns the label value for the kind of a store error.
func kind(err error) string {
	var failed *store.Error
	switch {
	case errors.Is(err, context.DeadlineExceeded):
		return string(store.Timeout)
	case errors.Is(err, context.Canceled):
		return "canceled"
	case errors.As(err, &failed):
		return string(failed.Kind)
	default:
		return string(store.Connection)
	}
}
