package heartbeat

import (
	"context"

	"github.com/gridstand/gridstand/server/internal/store"
)

// A store that went back in time is found in two ways. If its last heartbeat is older than this
// server's, the engine reports it (heartbeat.lua, sqlite/heartbeats.go). If the store's process
// was replaced, writes after the last heartbeat may be lost, so recovery compares this server's
// games with their logs, and calls Verified.

// compareRun compares two successive heartbeats. If the store's process was replaced between
// them, last becomes the suspect.
func (m *Monitor) compareRun(last, next *Result) {
	if last != nil && last.Run != "" && next.Run != last.Run {
		m.suspect.CompareAndSwap(nil, last)
	}
}

// Suspect returns the last heartbeat before the store's process was replaced; writes after
// that heartbeat may be lost. It returns nil if the process has not been replaced, and after
// Verified.
func (m *Monitor) Suspect() *Result { return m.suspect.Load() }

// Verified must be called when this server has compared its games with their logs because the
// store's process was replaced after suspect. If lost is set, entries were lost, and Verified
// records a rollback.
func (m *Monitor) Verified(ctx context.Context, suspect *Result, lost bool) error {
	if lost {
		b, err := m.record(ctx, suspect, store.Heartbeat{Lost: true, MissingAfter: missingAfter})
		if err != nil {
			return err
		}
		m.report(b, suspect)
	}
	m.suspect.CompareAndSwap(suspect, nil)
	return nil
}
