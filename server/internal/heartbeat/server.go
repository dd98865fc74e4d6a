package heartbeat

import (
	"context"
	"fmt"
	"strconv"
	"strings"
	"time"
)

// Server is what is stored of a server, by Redis's clock.
type Server struct {
	// At is its last heartbeat and Since its first.
	At, Since time.Time
	// Left reports that it stopped in order.
	Left bool
}

// missing reports whether the server has sent no heartbeat for too long, without
// having stopped in order.
func (s Server) missing(now time.Time) bool { return !s.Left && now.Sub(s.At) > missingAfter }

// String is the server as heartbeat.lua stores it, without its mark.
func (s Server) String() string { return fmt.Sprintf("%d %d", s.At.UnixMilli(), s.Since.UnixMilli()) }

// parseServer reads what heartbeat.lua stores of a server.
func parseServer(value string) (s Server, err error) {
	words := strings.Fields(value)
	if len(words) < 2 {
		return s, fmt.Errorf("not a heartbeat: %q", value)
	}
	if s.At, err = unixMilli(words[0]); err == nil {
		s.Since, err = unixMilli(words[1])
	}
	s.Left = len(words) > 2 && words[2] == "left"
	return s, err
}

// unixMilli reads a time as heartbeat.lua writes it.
func unixMilli(text string) (time.Time, error) {
	ms, err := strconv.ParseInt(text, 10, 64)
	return time.UnixMilli(ms), err
}

// aliveWithin is how much older than a copy of Redis a server's last heartbeat in
// it may be for the server to count as alive when the copy was made.
const aliveWithin = 3 * time.Second

// Rollback is a rollback of Redis.
type Rollback struct {
	// At is when it was detected; the Unix epoch if there never was one.
	At time.Time
	// Copied is a moment before the copy was made that Redis holds now, the Unix
	// epoch if unknown, and Before a later moment that is lost. Both are before At.
	Copied, Before time.Time
	// Quarantined reports that the games that lost moves have been quarantined.
	Quarantined bool
}

// ID tells one rollback from another; 0 for none.
func (r Rollback) ID() int64 { return r.At.UnixMilli() }

// Pending reports whether there was a rollback that is still being dealt with.
func (r Rollback) Pending() bool { return r.ID() != 0 && !r.Quarantined }

// AliveInCopy returns the ids of the servers that were alive when the copy was
// made that Redis holds now.
func (r Rollback) AliveInCopy(servers map[string]Server) []string {
	var ids []string
	for id, s := range servers {
		if !s.Left && !s.Since.After(r.Before) && s.At.After(r.Copied.Add(-aliveWithin)) {
			ids = append(ids, id)
		}
	}
	return ids
}

// Quarantined records that the games that lost moves in a rollback have been
// quarantined.
func (m *Monitor) Quarantined(ctx context.Context, r Rollback) error {
	return m.Client.HSet(ctx, rollbackKey, "swept", r.ID()).Err()
}
