package heartbeat

import (
	"time"

	"github.com/gridstand/gridstand/server/internal/store"
)

// missing reports whether a server has sent no heartbeat for too long without having shut
// down cleanly.
func missing(s store.ServerHeartbeat, now time.Time) bool {
	return !s.Left && now.Sub(s.At) > missingAfter
}

// A server counts as alive at the time of a copy of the store if its last heartbeat was
// then less than aliveWithin old.
const aliveWithin = 3 * time.Second

// AliveInCopy returns the ids of the servers that were alive at the time to which the store
// was rolled back.
func AliveInCopy(r store.Rollback, servers map[string]store.ServerHeartbeat) []string {
	var ids []string
	for id, s := range servers {
		if !s.Left && !s.Since.After(r.Before) && s.At.After(r.Copied.Add(-aliveWithin)) {
			ids = append(ids, id)
		}
	}
	return ids
}
