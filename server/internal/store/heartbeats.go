package store

import (
	"context"
	"time"
)

// Heartbeats are the servers that run, the outages that follow from their heartbeats,
// and the rollbacks that they noticed. Times are the store's, to the millisecond.
type Heartbeats interface {
	// Beat stores a server's heartbeat, and detects outages, rollbacks and missing
	// servers.
	Beat(ctx context.Context, b Beat) (BeatResult, error)
	// Leave stores that a server has stopped in order, with its last heartbeat.
	Leave(ctx context.Context, serverID string, s ServerBeat) error
	// Servers returns what is stored of all servers, the last rollback, and the time.
	Servers(ctx context.Context) (ServersNow, error)
	// Outages returns the outages that ended at a moment or later.
	Outages(ctx context.Context, since time.Time) ([]Span, error)

	// Resolve records that a rollback has been dealt with.
	Resolve(ctx context.Context, rollback time.Time) error
	// A rollback is named by the time at which it was detected. Vouch records that games are intact after a rollback, and Attest that a server
	// has vouched for all that it knows. Both are remembered for keep.
	Vouch(ctx context.Context, rollback time.Time, gameIDs []string, keep time.Duration) error
	Attest(ctx context.Context, rollback time.Time, serverID string, keep time.Duration) error
	// Vouched returns those of the games that were vouched for, and Attested the
	// servers that attested.
	Vouched(ctx context.Context, rollback time.Time, gameIDs []string) (map[string]bool, error)
	Attested(ctx context.Context, rollback time.Time) (map[string]bool, error)

	// Claim gives a piece of work to one server for a time, and reports whether this
	// call got it.
	Claim(ctx context.Context, work string, d time.Duration) (bool, error)
}

// Span is the time between two moments.
type Span struct{ From, To time.Time }

// Beat is a heartbeat to store.
type Beat struct {
	ServerID string
	// Acknowledged is the server's last heartbeat that was acknowledged and Since its
	// first, zero for none.
	Acknowledged, Since time.Time
	// Lost says that the store lost an entry that it acknowledged after Acknowledged.
	Lost bool
	// MissingAfter is the time without a heartbeat after which a server is missing.
	MissingAfter time.Duration
	// OutageAfter is the time without a heartbeat or an append that is an outage.
	OutageAfter time.Duration
	// Keep is how long outages and servers are kept, and MaxServers how many servers.
	Keep       time.Duration
	MaxServers int
	// Appends are the times in which this server's appends succeeded since
	// Acknowledged, in order.
	Appends []Span
	// Known are the other servers that had not left, as they were stored at
	// Acknowledged. After a rollback those that are not stored are stored again.
	Known map[string]ServerBeat
}

// BeatResult is what a heartbeat showed.
type BeatResult struct {
	ServersNow
	// Outage is how long nothing could be appended, if that ends now.
	Outage time.Duration
	// At is the heartbeat as it is stored, and Since the server's first one.
	At, Since time.Time
	// RolledBack reports that this server is the first to see a rollback.
	RolledBack bool
	// Missing is how many servers have become missing since the last heartbeat of any
	// server.
	Missing int
	// Run names the process of the store, "" if unknown: another one may have lost
	// what the first acknowledged.
	Run string
}

// ServersNow is what is stored of all servers.
type ServersNow struct {
	Now      time.Time
	Servers  map[string]ServerBeat
	Rollback Rollback
}

// ServerBeat is what is stored of a server.
type ServerBeat struct {
	// At is its last heartbeat and Since its first.
	At, Since time.Time
	// Left reports that it stopped in order.
	Left bool
}

// Rollback is a time at which the store lost what it had acknowledged.
type Rollback struct {
	// At is when it was detected; zero if there never was one.
	At time.Time
	// Copied is a moment before the copy was made that the store holds now, zero if
	// unknown, and Before a later moment that is lost. Both are before At.
	Copied, Before time.Time
	// Resolved reports that it has been dealt with.
	Resolved bool
}

// Pending reports whether there was a rollback that has not been dealt with.
func (r Rollback) Pending() bool { return !r.At.IsZero() && !r.Resolved }
