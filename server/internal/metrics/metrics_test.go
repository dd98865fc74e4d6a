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

	"github.com/gridstand/gridstand/game"
	"github.com/gridstand/gridstand/game/replay"
	"github.com/gridstand/gridstand/server/internal/store"
)

func state(version int32, ended game.Reason) *replay.State {
	s := &replay.State{Variant: &game.Variant{ID: "classic"}, Version: version, Status: replay.Active}
	if ended != game.ReasonNone {
		s.Status, s.Result = replay.Finished, &replay.Result{Reason: ended}
	}
	return s
}

func TestMetrics(t *testing.T) {
	t.Parallel()
	m := New("v1", "abc")
	m.Live(func() int { return 3 }, func() int { return 4 }, func() int { return 2 }, func() int { return 5 })
	m.File(func() (file, log int64) { return 6, 7 })
	for _, e := range []struct {
		action replay.Action
		ended  game.Reason
	}{
		{replay.Created{}, game.ReasonNone},
		{replay.Moved{}, game.ReasonNone},
		{replay.Moved{}, game.NoMoves},
		{replay.Created{}, game.ReasonNone},
		{replay.Undone{}, game.ReasonNone},
		{replay.Resigned{}, game.Resigned},
		{replay.Abandoned{}, game.Abandoned},
	} {
		m.Appended(&replay.Event{Entry: replay.Entry{Action: e.action}, State: state(2, e.ended)})
	}
	m.Recorded(state(3, game.NoMoves))
	m.Conflicted()
	m.Conflated()
	m.Delivered(20_000)
	m.Delivered(1)
	m.FanOut(3 * time.Millisecond)
	m.StorageFailed(context.DeadlineExceeded)
	m.StorageUp(true)

	answer := httptest.NewRecorder()
	m.Handler().ServeHTTP(answer, httptest.NewRequestWithContext(t.Context(), http.MethodGet, "/metrics", nil))
	for _, line := range []string{
		`gridstand_moves_total{variant="classic"} 2`,
		`gridstand_games_created_total{variant="classic"} 2`,
		`gridstand_games_finished_total{reason="abandoned",variant="classic"} 1`,
		`gridstand_games_finished_total{reason="no_moves_left",variant="classic"} 1`,
		`gridstand_games_finished_total{reason="resigned",variant="classic"} 1`,
		`gridstand_results_recorded_total{variant="classic"} 1`,
		`gridstand_append_conflicts_total 1`,
		`gridstand_conflations_total 1`,
		`gridstand_events_delivered_total 20001`,
		`gridstand_fan_out_lag_seconds_bucket{le="0.0025"} 0`,
		`gridstand_fan_out_lag_seconds_bucket{le="0.005"} 1`,
		`gridstand_redis_errors_total{kind="timeout"} 1`,
		`gridstand_redis_up 1`,
		`gridstand_games_live 3`,
		`gridstand_watchers 4`,
		`gridstand_file_bytes 6`,
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
