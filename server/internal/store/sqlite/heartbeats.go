package sqlite

import (
	"context"
	"time"

	sqlite3 "zombiezen.com/go/sqlite"

	"github.com/gridstand/gridstand/server/internal/store"
)

// heartbeats implements store.Heartbeats for the server that is running and for the
// servers that ran before it. Its writes are unsynced, because otherwise an idle server
// would sync the disk twice a second. After a power failure the last heartbeats may be
// lost, but none that preceded the last durable append. The outage is then assumed to
// have started too early, so players' clocks are credited with too much time rather than
// too little.
type heartbeats struct{ db *db }

// Record implements store.Heartbeats. It also checks that the open files have not been
// deleted or replaced.
func (h heartbeats) Record(ctx context.Context, b store.Heartbeat) (result store.HeartbeatResult, err error) {
	err = h.db.verify()
	if err == nil {
		err = h.db.writeUnsynced(ctx, func(c *sqlite3.Conn) (err error) {
			result, err = recordHeartbeat(c, b, time.UnixMilli(h.db.now()).UTC())
			return err
		})
	}
	if err != nil {
		return store.HeartbeatResult{}, wrap("storing a heartbeat", err)
	}
	result.Run = h.db.run
	return result, nil
}

// recordHeartbeat stores a heartbeat.
func recordHeartbeat(c *sqlite3.Conn, b store.Heartbeat, now time.Time) (r store.HeartbeatResult, err error) {
	stored, err := readServers(c)
	if err != nil {
		return r, err
	}
	mine := stored[b.ServerID].At
	if b.Acknowledged.After(mine) {
		return store.HeartbeatResult{At: mine, RolledBack: true}, nil
	}
	r.Now = now
	var newest time.Time
	oldest, oldestAt := "", now
	for id, s := range stored {
		newest = latest(newest, s.At)
		if id != b.ServerID && s.At.Before(oldestAt) {
			oldest, oldestAt = id, s.At
		}
	}
	if err := exec(c, "UPDATE servers SET missing = 1 WHERE NOT missing AND NOT stopped AND time < ? AND id <> ?",
		now.Add(-b.MissingAfter), b.ServerID); err != nil {
		return r, err
	}
	r.Missing = c.Changes()
	if oldest != "" && (now.Sub(oldestAt) > b.Keep || len(stored) > b.MaxServers) {
		if err := exec(c, "DELETE FROM servers WHERE id = ?", oldest); err != nil {
			return r, err
		}
	}
	r.At = latest(now, mine)
	if err := putServer(c, b.ServerID, store.ServerHeartbeat{At: r.At}); err != nil {
		return r, err
	}
	r.Outage, err = recordOutages(c, b, newest, now)
	return r, err
}

// recordOutages removes the periods in which a server reported appends from the recorded
// outages, and records the outage that ends now, if any. It returns the length of that
// outage.
func recordOutages(c *sqlite3.Conn, b store.Heartbeat, newest, now time.Time) (time.Duration, error) {
	if len(b.Appends) > 0 {
		covered, err := readOutages(c, b.Appends[0].From)
		if err != nil {
			return 0, err
		}
		for _, outage := range covered {
			if err := exec(c, "DELETE FROM outages WHERE until = ? AND since = ?", outage.To, outage.From); err != nil {
				return 0, err
			}
			if _, err := recordOutage(c, b, outage); err != nil {
				return 0, err
			}
		}
	}
	if newest.IsZero() || now.Sub(newest) <= b.OutageAfter {
		return 0, nil
	}
	outage, err := recordOutage(c, b, store.Span{From: newest, To: now})
	if err != nil {
		return 0, err
	}
	return outage, exec(c, "DELETE FROM outages WHERE until <= ?", now.Add(-b.Keep))
}

// recordOutage records the parts of an outage during which the server reported no
// appends, and returns their total length.
func recordOutage(c *sqlite3.Conn, b store.Heartbeat, outage store.Span) (total time.Duration, err error) {
	piece := func(from, to time.Time) {
		if err == nil && to.Sub(from) > b.OutageAfter {
			err = exec(c, "INSERT OR IGNORE INTO outages VALUES (?, ?)", to, from)
			total += to.Sub(from)
		}
	}
	for _, s := range b.Appends {
		if s.To.After(outage.From) && s.From.Before(outage.To) {
			piece(outage.From, s.From)
			outage.From = s.To
		}
	}
	piece(outage.From, outage.To)
	return total, err
}

func (h heartbeats) Leave(ctx context.Context, serverID string, last time.Time) error {
	err := h.db.writeUnsynced(ctx, func(c *sqlite3.Conn) error {
		return putServer(c, serverID, store.ServerHeartbeat{At: last, Left: true})
	})
	return wrap("storing that a server left", err)
}

func putServer(c *sqlite3.Conn, serverID string, s store.ServerHeartbeat) error {
	return exec(c, "INSERT OR REPLACE INTO servers (id, time, stopped, missing) VALUES (?, ?, ?, 0)", serverID, s.At, s.Left)
}

func (h heartbeats) Servers(ctx context.Context) (store.ServersNow, error) {
	servers, err := readOne(ctx, h.db, readServers)
	return store.ServersNow{Now: time.UnixMilli(h.db.now()).UTC(), Servers: servers}, wrap("reading heartbeats", err)
}

func readServers(c *sqlite3.Conn) (map[string]store.ServerHeartbeat, error) {
	servers := map[string]store.ServerHeartbeat{}
	return servers, query(c, "SELECT id, time, stopped FROM servers", func(s *sqlite3.Stmt) {
		servers[s.ColumnText(0)] = store.ServerHeartbeat{At: timeAt(s, 1), Left: s.ColumnBool(2)}
	})
}

func (h heartbeats) Outages(ctx context.Context, since time.Time) ([]store.Span, error) {
	outages, err := readOne(ctx, h.db, func(c *sqlite3.Conn) ([]store.Span, error) { return readOutages(c, since) })
	return outages, wrap("reading outages", err)
}

// readOutages returns the outages that ended at the given time or later.
func readOutages(c *sqlite3.Conn, since time.Time) (outages []store.Span, err error) {
	return all(c, "SELECT since, until FROM outages WHERE until >= ? ORDER BY until", func(s *sqlite3.Stmt) store.Span {
		return store.Span{From: timeAt(s, 0), To: timeAt(s, 1)}
	}, since.UnixMilli())
}

func (h heartbeats) Claim(ctx context.Context, work string, d time.Duration) (claimed bool, err error) {
	err = h.db.writeUnsynced(ctx, func(c *sqlite3.Conn) error {
		now := h.db.now()
		err := exec(c, "INSERT INTO claims VALUES (?1, ?2) ON CONFLICT DO UPDATE SET expires = ?2 WHERE expires <= ?3",
			work, now+d.Milliseconds(), now)
		claimed = c.Changes() == 1
		return err
	})
	return claimed, wrap("claiming work", err)
}

func latest(a, b time.Time) time.Time {
	if b.After(a) {
		return b
	}
	return a
}
