package heartbeat

import (
	"sync"
	"time"

	"github.com/gridstand/gridstand/server/internal/store"
)

// A store that went back in time is found in two ways. If its last heartbeat of this server is
// older than the one that it acknowledged, the engine reports that. If the store's process was
// replaced, writes after the last heartbeat may be lost. In both cases this server's games have to
// be compared with their logs.

// Suspicion is the suspicion that the store has lost writes.
type Suspicion struct {
	// since is the time of the last acknowledged heartbeat before the loss.
	since  time.Time
	logged sync.Once
}

// Suspicion returns the current suspicion, or nil if there is none.
func (m *Monitor) Suspicion() *Suspicion { return m.suspicion.Load() }

// Resolve ends the suspicion s, because all games in memory have been compared with their logs.
func (m *Monitor) Resolve(s *Suspicion) { m.suspicion.CompareAndSwap(s, nil) }

// Confirm logs that the store has lost writes, once for each suspicion.
func (m *Monitor) Confirm(s *Suspicion) {
	s.logged.Do(func() {
		// The loss happened at most one interval after the last heartbeat that it includes.
		before := s.since.Add(Interval).UTC().Format(time.RFC3339Nano)
		m.Logger.Error("store rollback: acknowledged writes were lost; the command quarantines the games that this server cannot check",
			"id", "redis-rolled-back", "command", "gridstand-server quarantine --before "+before)
	})
}

// suspect begins a suspicion of the loss of writes after the given heartbeat.
func (m *Monitor) suspect(last *store.HeartbeatResult) *Suspicion {
	s := &Suspicion{since: last.At}
	m.suspicion.Store(s)
	return s
}
