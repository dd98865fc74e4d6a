package store

import (
	"context"
	"time"
)

// Heartbeats stores the heartbeats of the running servers, the outages that follow from
// them, and the rollbacks that servers noticed. Times are by the store's clock, to the
// millisecond.
type Heartbeats interface {
	// Record stores a server's heartbeat, and detects outages, rollbacks and missing
	// servers.
	Record(ctx context.Context, b Heartbeat) (HeartbeatResult, error)
	// Leave records that a server has shut down cleanly, and stores its last heartbeat,
	// s.
	Leave(ctx context.Context, serverID string, s ServerHeartbeat) error
	// Servers returns the stored servers, the last rollback, and the store's time.
	Servers(ctx context.Context) (ServersNow, error)
	// Outages returns the outages that ended at the given time or later.
	Outages(ctx context.Context, since time.Time) ([]Span, error)

	// Resolve marks a rollback as resolved. A rollback is identified by the time at which
	// it was detected.
	Resolve(ctx context.Context, rollback time.Time) error
	// AttestGames records that games are intact after a rollback, and AttestServer records
	// that a server has attested all intact games it knows. Both records expire after the
	// duration keep.
	AttestGames(ctx context.Context, rollback time.Time, gameIDs []string, keep time.Duration) error
	AttestServer(ctx context.Context, rollback time.Time, serverID string, keep time.Duration) error
	// AttestedGames returns those of the given games that a server has attested, and
	// AttestedServers returns the servers that are done.
	AttestedGames(ctx context.Context, rollback time.Time, gameIDs []string) (map[string]bool, error)
	AttestedServers(ctx context.Context, rollback time.Time) (map[string]bool, error)

	// Claim assigns the given work to one server for the duration d, and reports whether
	// this call claimed it.
	Claim(ctx context.Context, work string, d time.Duration) (bool, error)
}

// Span is a period of time.
type Span struct{ From, To time.Time }

// Heartbeat is a heartbeat to store.
type Heartbeat struct {
	ServerID string
	// Acknowledged is the time of the server's last acknowledged heartbeat, and Since
	// that of its first. Both are zero before the first heartbeat.
	Acknowledged, Since time.Time
	// Lost reports whether the store lost an entry that it acknowledged after
	// Acknowledged.
	Lost bool
	// MissingAfter is how long a server may go without a heartbeat before it counts as
	// missing.
	MissingAfter time.Duration
	// OutageAfter is how long the store may go without a heartbeat or an append before
	// that counts as an outage.
	OutageAfter time.Duration
	// Keep is how long outages and servers are kept, and MaxServers is the maximum number
	// of servers to keep.
	Keep       time.Duration
	MaxServers int
	// Appends holds the periods since Acknowledged during which this server's appends
	// succeeded, in order.
	Appends []Span
	// Known holds the other servers that had not left, as stored at Acknowledged. After a
	// rollback, the store adds those that it has lost.
	Known map[string]ServerHeartbeat
}

// HeartbeatResult is the result of a heartbeat.
type HeartbeatResult struct {
	ServersNow
	// Outage is the length of the outage that ends now, if any: the time during which
	// nothing could be appended.
	Outage time.Duration
	// At is the heartbeat's time as stored, and Since the time of the server's first one.
	At, Since time.Time
	// RolledBack reports whether this server is the first to detect a rollback.
	RolledBack bool
	// Missing is the number of servers that have become missing since the last heartbeat
	// of any server.
	Missing int
	// Run identifies the store's process; it is "" if unknown. If it changes, the store
	// may have lost acknowledged writes.
	Run string
}

// ServersNow holds the stored servers and the last rollback.
type ServersNow struct {
	Now      time.Time
	Servers  map[string]ServerHeartbeat
	Rollback Rollback
}

// ServerHeartbeat is the stored state of a server.
type ServerHeartbeat struct {
	// At is the time of the server's last heartbeat, and Since that of its first.
	At, Since time.Time
	// Left reports whether the server shut down cleanly.
	Left bool
}

// Rollback describes a loss of data that the store had acknowledged.
type Rollback struct {
	// At is when the rollback was detected, or zero if there has been none.
	At time.Time
	// After a rollback the store holds an old copy of its data. Copied is a time before
	// that copy was made, or zero if unknown. Before is a later time: the copy lacks
	// writes made then. Both precede At.
	Copied, Before time.Time
	// Resolved reports whether the rollback has been resolved.
	Resolved bool
}

// Pending reports whether there is a rollback that has not been resolved.
func (r Rollback) Pending() bool { return !r.At.IsZero() && !r.Resolved }
