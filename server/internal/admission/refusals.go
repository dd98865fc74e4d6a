package admission

import (
	"time"

	"github.com/gridstand/gridstand/server/limits"
)

// refusals is the table of the limits on streams and requests, with their counters. The texts are
// the ends of messages to clients, which begin with "at most <limit>". The limits on connections are
// not in the table, because connections over a limit are closed without a message; see Control.enter.
func refusals(l *limits.Limits) map[*int]string {
	return map[*int]string{
		&l.StreamsPerAddress:              "streams from one address at once",                                    // addressState.open
		&l.IncompletePerAddress:           "streams from one address whose request has not arrived",              // addressState.late and .waiting
		&l.IncompletePerConnection:        "streams on one connection whose request has not arrived",             // conn.late
		&l.HeldBytesPerAddress:            "bytes held for one address: unread responses and headers of streams", // addressState.held and conn.unread
		&l.HealthWatchesPerAddress:        "health watches from one address at once",                             // addressState.healthWatches
		&l.ReflectionsPerAddress:          "reflection streams from one address at once",                         // addressState.reflections
		&l.ReflectionsPerAddressPerSecond: "reflection requests from one address a second",                       // Control.reflections
		&l.SSEPerAddress:                  "requests for Server-Sent Events from one address at once",            // addressState.sse
	}
}

// refuse reports that a client exceeds a limit in refusals, and returns an error with the status to
// send.
func (c *Control) refuse(limit *int, address string, retry time.Duration) error {
	e := c.Limits.Exceeded(limit, c.refusals[limit], retry)
	c.Refused(e.Field, address)
	return c.Refuse(e)
}

// refuse is Control.refuse for the address of the call.
func (s *call) refuse(limit *int) error { return s.conn.control.refuse(limit, s.from.key, retryAfter) }

// exceeds reports whether n exceeds limit. A limit of 0 means no limit.
func exceeds(n int64, limit int) bool { return limit > 0 && n > int64(limit) }
