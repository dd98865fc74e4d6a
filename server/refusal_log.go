package server

import (
	"log/slog"
	"sync"
	"time"

	"github.com/gridstand/gridstand/server/internal/metrics"
)

// logEvery is the minimum interval between two log messages with the same reason.
const logEvery = time.Minute

// refusals counts refused calls and connections. For each reason, it logs the first refusal and
// then at most one every logEvery, with the client's address.
type refusals struct {
	metrics *metrics.Metrics
	logger  *slog.Logger

	mu      sync.Mutex
	reasons map[string]*refusal
}

// refusal is the logging state for one reason.
type refusal struct {
	at   time.Time // when the last message was logged
	more int       // refusals since then that were not logged
}

func newRefusals(m *metrics.Metrics, logger *slog.Logger) *refusals {
	return &refusals{metrics: m, logger: logger, reasons: map[string]*refusal{}}
}

// refused counts a refused stream or call. The number of different reasons must be
// bounded.
func (r *refusals) refused(reason, address string) {
	r.metrics.Refused(reason)
	now := time.Now()
	r.mu.Lock()
	defer r.mu.Unlock()
	last := r.reasons[reason]
	if last == nil {
		last = &refusal{}
		r.reasons[reason] = last
	}
	if now.Sub(last.at) < logEvery {
		last.more++
		return
	}
	r.logger.Info("a client was refused", "id", "client-refused", "reason", reason, "address", address, "others_since_last_line", last.more)
	*last = refusal{at: now}
}

// closed counts a connection that was closed because its client exceeded a limit.
func (r *refusals) closed(reason, address string) {
	r.metrics.ConnectionRefused()
	r.refused(reason, address)
}
