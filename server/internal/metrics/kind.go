package metrics

import (
	"context"
	"errors"
	"strings"

	"github.com/gridstand/gridstand/game"
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

// label returns the label value for the reason why a game ended.
func label(r game.Reason) string { return strings.ReplaceAll(r.String(), " ", "_") }
