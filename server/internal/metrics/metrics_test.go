package metrics

import (
	"context"
	"errors"
	"fmt"
	"net/http"
	"net/http/httptest"
	"runtime"
	"testing"
	"time"

	"github.com/stretchr/testify/assert"

	"github.com/gridstand/gridstand/server/internal/store"
)

func TestMetrics(t *testing.T) {
	t.Parallel()
	m := New("v1", "abc")
	m.Live(func() int { return 3 }, func() int { return 4 }, func() int { return 2 }, func() int { return 5 })
	m.File(func() int { return 7 })
	m.Conflated()
	m.Delivered(20_000)
	m.Delivered(1)
	m.FanOut(3 * time.Millisecond)
	m.StorageFailed(context.DeadlineExceeded)
	m.StorageUp(true)

	answer := httptest.NewRecorder()
	m.Handler().ServeHTTP(answer, httptest.NewRequestWithContext(t.Context(), http.MethodGet, "/metrics", nil))
	for _, line := range []string{
		`gridstand_conflations_total 1`,
		`gridstand_events_delivered_total 20001`,
		`gridstand_fan_out_lag_seconds_bucket{le="0.0025"} 0`,
		`gridstand_fan_out_lag_seconds_bucket{le="0.005"} 1`,
		`gridstand_redis_errors_total{kind="timeout"} 1`,
		`gridstand_redis_up 1`,
		`gridstand_games_live 3`,
		`gridstand_watchers 4`,
		`gridstand_file_log_bytes 7`,
		`gridstand_connections 2`,
		`gridstand_streams 5`,
		`gridstand_build_info{commit="abc",go="` + runtime.Version() + `",version="v1"} 1`,
	} {
		assert.Contains(t, answer.Body.String(), "\n"+line+"\n")
	}
}

func TestKind(t *testing.T) {
	t.Parallel()
	for want, errs := range map[string][]error{
		"timeout": {
			context.DeadlineExceeded, fmt.Errorf("wrapped: %w", context.DeadlineExceeded),
			fmt.Errorf("%w: %w", store.ErrUnsettled, store.Failed(store.Timeout, "i/o timeout")),
		},
		"connection": {store.Failed(store.Connection, "refused"), errors.New("EOF")},
		"canceled":   {context.Canceled},
		"queue_full": {fmt.Errorf("wrapped: %w", store.Failed(store.QueueFull, "queue full"))},
		"loading":    {store.Failed("loading", "LOADING Redis is loading the dataset in memory")},
	} {
		for _, err := range errs {
			assert.Equal(t, want, kind(err), "%v", err)
		}
	}
}
