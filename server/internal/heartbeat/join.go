package heartbeat

import (
	"context"
	"time"

	"github.com/gridstand/gridstand/server/internal/store"
)

const (
	// joinAfter is how long a new server waits for heartbeats of the servers that were
	// alive most recently. It is longer than a server takes to send a heartbeat once the
	// store is back.
	joinAfter = 2 * time.Second
	// joinAtMost limits the time that a new server waits for the recovery from a rollback. It
	// is twice the time that servers have to compare their games with the logs.
	joinAtMost = 20 * time.Second
	joinPoll   = 100 * time.Millisecond
)

// Join returns when a new server may start to serve. After a period without heartbeats, the
// store may have been restored from a copy or failed over. Servers that were already
// running detect this with their next heartbeat and then quarantine the games that lost
// moves. A new server cannot detect it, so it waits for them.
func (m *Monitor) Join(ctx context.Context) error {
	for began, logged := time.Now(), false; ; logged = true {
		wait, err := m.mustWait(ctx, time.Since(began))
		if err != nil || !wait {
			return err
		}
		if !logged {
			m.Logger.Info("waiting for other servers that may detect a rollback of the store", "for", joinAfter)
		}
		select {
		case <-ctx.Done():
			return ctx.Err()
		case <-time.After(joinPoll):
		}
	}
}

// mustWait reports whether a server that has already waited for the given time must continue
// to wait.
func (m *Monitor) mustWait(ctx context.Context, waited time.Duration) (bool, error) {
	stored, err := m.Heartbeats.Servers(ctx)
	if err != nil {
		return false, err
	}
	var newest time.Time
	alive := false // whether any server is running that can handle a rollback
	var gone []store.ServerHeartbeat
	for _, s := range stored.Servers {
		if missing(s, stored.Now) {
			gone = append(gone, s)
		}
		alive = alive || !s.Left && !missing(s, stored.Now)
		if s.At.After(newest) {
			newest = s.At
		}
	}
	if waited < joinAfter {
		for _, s := range gone {
			if newest.Sub(s.At) < aliveWithin {
				return true, nil
			}
		}
	}
	return stored.Rollback.Pending() && alive && waited < joinAtMost, nil
}
