package metrics

import (
	"context"
	"errors"
	"strings"

	"github.com/gridstand/gridstand/game"
	"github.com/gridstand/gridstand/server/internal/store"
)

// kind classifies an error of the store.
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

// label is a reason in the form that labels have.
func label(r game.Reason) string { return strings.ReplaceAll(r.String(), " ", "_") }
