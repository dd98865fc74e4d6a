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

// Record implements store.Heartbeats. It also checks that the file and its log have not
// been deleted or replaced.
func (h heartbeats) Record(ctx context.Context, b store.Heartbeat) (result store.HeartbeatResult, err error) {
	if err := h.db.verify(); err != nil {
		return result, err
	}
	err = h.db.writeUnsynced(ctx, func(c *sqlite3.Conn) (err error) {
		result, err = recordHeartbeat(c, b, h.db.now())
		return err
	})
	return result, err
}

// recordHeartbeat stores a heartbeat.
func recordHeartbeat(c *sqlite3.Conn, b store.Heartbeat, now time.Time) (r store.HeartbeatResult, err error) {
	var newest, mine time.Time
	var stored int
	err = query(c, "SELECT max(time), max(time) FILTER (WHERE id = ?), count(*) FROM servers", func(s *sqlite3.Stmt) {
		newest, mine, stored = timeAt(s, 0), timeAt(s, 1), s.ColumnInt(2)
	}, b.ServerID)
	if err != nil {
		return r, err
	}
	if b.Acknowledged.After(mine) {
		return store.HeartbeatResult{At: mine, RolledBack: true}, nil
	}
	r.Now = now
	if err := exec(c, `DELETE FROM servers WHERE id = (SELECT id FROM servers WHERE id <> ?1 ORDER BY time LIMIT 1) AND (time < ?2 OR ?3)`,
		b.ServerID, now.Add(-b.Keep), stored > b.MaxServers); err != nil {
		return r, err
	}
	r.At = later(now, mine)
	if err := putServer(c, b.ServerID, store.ServerHeartbeat{At: r.At, Left: b.Leaves}); err != nil {
		return r, err
	}
	err = query(c, "SELECT since, until FROM outages ORDER BY until DESC LIMIT 1", func(s *sqlite3.Stmt) {
		r.Outage = store.Span{From: timeAt(s, 0), To: timeAt(s, 1)}
	})
	if err != nil || newest.IsZero() || now.Sub(newest) <= b.OutageAfter {
		return r, err
	}
	if newest.Sub(r.Outage.To) > b.Joins {
		r.Outage.From = newest
	}
	r.Outage.To = now
	if err := exec(c, "DELETE FROM outages"); err != nil {
		return r, err
	}
	return r, exec(c, "INSERT INTO outages (since, until) VALUES (?, ?)", r.Outage.From, r.Outage.To)
}

func putServer(c *sqlite3.Conn, serverID string, s store.ServerHeartbeat) error {
	return exec(c, "INSERT OR REPLACE INTO servers (id, time, stopped, missing) VALUES (?, ?, ?, 0)", serverID, s.At, s.Left)
}

func (h heartbeats) Servers(ctx context.Context) (store.ServersNow, error) {
	result := store.ServersNow{Now: h.db.now(), Servers: map[string]store.ServerHeartbeat{}}
	err := h.db.read(ctx, func(c *sqlite3.Conn) error {
		return query(c, "SELECT id, time, stopped FROM servers", func(s *sqlite3.Stmt) {
			result.Servers[s.ColumnText(0)] = store.ServerHeartbeat{At: timeAt(s, 1), Left: s.ColumnBool(2)}
		})
	})
	return result, err
}
