package heartbeat

import (
	"time"

	"github.com/gridstand/gridstand/server/internal/store"
)

// missing reports whether a server has sent no heartbeat for too long, without
// having stopped in order.
func missing(s store.ServerBeat, now time.Time) bool {
	return !s.Left && now.Sub(s.At) > missingAfter
}

// aliveWithin is how much older than a copy of the store a server's last heartbeat in
// it may be for the server to count as alive when the copy was made.
const aliveWithin = 3 * time.Second

// AliveInCopy returns the ids of the servers that were alive when the copy was
// made that the store holds after a rollback.
func AliveInCopy(r store.Rollback, servers map[string]store.ServerBeat) []string {
	var ids []string
	for id, s := range servers {
		if !s.Left && !s.Since.After(r.Before) && s.At.After(r.Copied.Add(-aliveWithin)) {
			ids = append(ids, id)
		}
	}
	return ids
}
