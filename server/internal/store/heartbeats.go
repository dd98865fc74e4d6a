package store

import (
	"context"
	"time"
)

// Heartbeats stores the heartbeats of the running servers, and the last outage, which follows
// from them. Times are by the store's clock, to the millisecond.
type Heartbeats interface {
	// Record stores a server's heartbeat, and detects outages. If the store went back in time, Record
	// only reports that.
	Record(ctx context.Context, b Heartbeat) (HeartbeatResult, error)
	// Servers returns the stored servers and the store's time.
	Servers(ctx context.Context) (ServersNow, error)
}

// Span is a period of time.
type Span struct{ From, To time.Time }

// Heartbeat is a heartbeat to store.
type Heartbeat struct {
	ServerID string
	// Acknowledged is the time of the server's last acknowledged heartbeat, or zero before
	// the first. If the store has an older one or none, it went back in time.
	Acknowledged time.Time
	// Leaves is set in the last heartbeat of a server that shuts down cleanly. Until another
	// one, the server does not count as running.
	Leaves bool
	// OutageAfter is how long the store may go without a heartbeat before that counts as an
	// outage. If it begins within Joins of the end of the last one, both count as one, because
	// what became due in the first may not have been processed in between.
	OutageAfter, Joins time.Duration
	// Keep is how long servers are kept, and MaxServers is the maximum number to keep.
	Keep       time.Duration
	MaxServers int
}

// HeartbeatResult is the result of a heartbeat.
type HeartbeatResult struct {
	Now time.Time
	// Outage is the last outage, or zero if there has been none. It ends Now if this heartbeat
	// ended it.
	Outage Span
	// At is the heartbeat's time as stored.
	At time.Time
	// RolledBack reports that the store went back in time. The heartbeat is then not stored, and
	// only At, Run and, on Redis, Now are set.
	RolledBack bool
	// Run identifies the store's process; it is "" if unknown, or if it is the server's own.
	// If it changes, the store may have lost acknowledged writes.
	Run string
}

// ServersNow holds the stored servers and the time at which they were read.
type ServersNow struct {
	Now     time.Time
	Servers map[string]ServerHeartbeat
}

// ServerHeartbeat is the stored state of a server.
type ServerHeartbeat struct {
	// At is the time of the server's last heartbeat.
	At time.Time
	// Left reports whether the server shut down cleanly.
	Left bool
}
