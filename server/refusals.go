package server

import (
	"log/slog"
	"sync"
	"time"

	"github.com/gridstand/gridstand/server/internal/metrics"
)

// logEvery is how often a refusal is logged for each reason, at most.
const logEvery = 10 * time.Second

// refusals counts refused calls and connections. It logs, for each reason, the first
// one and then one every logEvery, with the client's address.
type refusals struct {
	metrics *metrics.Metrics
	logger  *slog.Logger

	mu      sync.Mutex
	reasons map[string]*refusal
}

// refusal is the state of the log for one reason.
type refusal struct {
	at   time.Time // of the last line
	more int       // refusals since
}

func newRefusals(m *metrics.Metrics, logger *slog.Logger) *refusals {
	return &refusals{metrics: m, logger: logger, reasons: map[string]*refusal{}}
}

// refused counts a stream or call that was refused. The number of reasons is bounded.
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
