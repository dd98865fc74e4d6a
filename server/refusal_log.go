package server

import (
	"log/slog"
	"sync"
	"time"

	"golang.org/x/time/rate"

	"github.com/gridstand/gridstand/server/internal/metrics"
)

// logEvery is the minimum interval between two log messages with the same reason.
const logEvery = time.Minute

// refusals counts refused calls and connections. For each reason, it logs the first refusal and
// then at most one every logEvery, with the client's address.
type refusals struct {
	metrics *metrics.Metrics
	logger  *slog.Logger

	reasons sync.Map // reasons with their *rate.Sometimes
}

// refused counts a refused stream or call. The number of different reasons must be
// bounded.
func (r *refusals) refused(reason, address string) {
	r.metrics.Refused(reason)
	known, ok := r.reasons.Load(reason)
	if !ok {
		known, _ = r.reasons.LoadOrStore(reason, &rate.Sometimes{Interval: logEvery})
	}
	known.(*rate.Sometimes).Do(func() {
		r.logger.Info("a client was refused", "id", "client-refused", "reason", reason, "address", address)
	})
}

// closed counts a connection that was closed because its client exceeded a limit.
func (r *refusals) closed(reason, address string) {
	r.metrics.ConnectionRefused()
	r.refused(reason, address)
}
