//go:build slow

package fault

import (
	"strings"
	"testing"
	"time"

	waittest "github.com/gridstand/gridstand/internal/testkit/wait"

	"github.com/redis/go-redis/v9"
	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
	"google.golang.org/protobuf/proto"
	sqlite3 "zombiezen.com/go/sqlite"
	"zombiezen.com/go/sqlite/sqlitex"

	pb "github.com/gridstand/gridstand/proto/gridstand/v1"
	"github.com/gridstand/gridstand/server/internal/store"
)

// heartbeats returns the time of each server's last heartbeat.
func (env *env) heartbeats(t *testing.T) map[string]time.Time {
	t.Helper()
	now, err := env.ports().Heartbeats.Servers(t.Context())
	require.NoError(t, err)
	last := map[string]time.Time{}
	for id, s := range now.Servers {
		last[id] = s.At
	}
	return last
}

// awaitAckedHeartbeats waits until every running server has had a heartbeat acknowledged that
// it sent after this call began.
func (env *env) awaitAckedHeartbeats(t *testing.T, servers int) {
	t.Helper()
	began := env.heartbeats(t)
	for range 2 { // Once it sends a second heartbeat, the server knows that the first one was stored.
		waittest.Until(t, "every server has sent a heartbeat", func() bool {
			newer := 0
			for id, at := range env.heartbeats(t) {
				if at.After(began[id]) {
					newer++
				}
			}
			return newer == servers
		})
		began = env.heartbeats(t)
	}
}

// awaitQuarantine waits until a server has quarantined a game.
func (env *env) awaitQuarantine(t *testing.T, gameID string) {
	t.Helper()
	waittest.Until(t, "the game is quarantined", func() bool {
		tail, err := env.ports().Games.Tail(t.Context(), gameID)
		require.NoError(t, err)
		return tail.Quarantined()
	})
}

// requirePlayable requires that a game can be continued from the given event.
func (c *caller) requirePlayable(t *testing.T, last *pb.Event) {
	t.Helper()
	direction := last.GetPosition().GetTwenty48().GetLegalMoves()[0]
	assert.Equal(t, last.GetVersion()+1, resend(t, c, last.GetGameId(), last.GetVersion(), direction).GetVersion())
}

// Ensure that a server that notices that its store went back in time quarantines the games in its
// memory that lost entries, so that no server continues them, and no others.
func TestRolledBack(t *testing.T) {
	t.Parallel()
	for name, newEnv := range map[string]func(*testing.T) *env{
		"Redis": newRedisEnv, "SQLite": newSQLiteEnv,
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			env := newEnv(t)
			running := env.player(env.serve())
			start := func() *pb.Event { return running.playTo(t, running.start(t, "6x6"), 5) }
			lost, kept := start(), start()
			restore := env.save(t, lost.GetGameId())
			lost = running.playTo(t, after(lost), 9)
			watcher := env.anonymous(running.server).watch(t, lost.GetGameId(), watching{})
			watcher.awaitVersion(t, 9)
			env.damaged[lost.GetGameId()] = true
			env.awaitAckedHeartbeats(t, 1)
			restore()
			for id, at := range env.heartbeats(t) {
				server := &store.DumpedServer{ServerID: id, ServerHeartbeat: store.ServerHeartbeat{At: at.Add(-time.Minute)}}
				require.NoError(t, env.ports().Dumper.Restore(t.Context(), []store.Item{{Server: server}}))
			}

			env.awaitQuarantine(t, lost.GetGameId())
			wantRefused(t, running, lost)
			wantDamaged(t, watcher.awaitEnd(t), "5")
			running.requirePlayable(t, kept)
			running.server.stop()
			fresh := running.on(env.serve())
			wantRefused(t, fresh, lost)
			_, err := fresh.resign(t.Context(), kept.GetGameId())
			require.NoError(t, err)
		})
	}
}

// save returns a function that takes a game's log back to its current state.
func (env *env) save(t *testing.T, gameID string) (restore func()) {
	t.Helper()
	if env.redis != nil {
		past := map[string]string{}
		for _, key := range []string{logKey(gameID), "game:{" + gameID + "}:meta"} {
			value, err := env.redis.Dump(t.Context(), key).Result()
			require.NoError(t, err)
			past[key] = value
		}
		return func() {
			_, err := env.redis.TxPipelined(t.Context(), func(p redis.Pipeliner) error {
				for key, value := range past {
					p.RestoreReplace(t.Context(), key, 0, value)
				}
				return nil
			})
			require.NoError(t, err)
		}
	}
	run := func(text string) {
		c, err := sqlite3.OpenConn(env.path())
		require.NoError(t, err)
		require.NoError(t, sqlitex.ExecuteScript(c, strings.ReplaceAll(text, "?", "'"+gameID+"'"), nil))
		require.NoError(t, c.Close())
	}
	run("CREATE TABLE past AS SELECT * FROM games WHERE id = ?")
	return func() {
		run(`INSERT OR REPLACE INTO games SELECT * FROM past; DROP TABLE past;
			DELETE FROM entries WHERE EXISTS (SELECT 1 FROM games g WHERE g.id = ? AND g.game = entries.game AND g.version < entries.version)`)
	}
}

func logKey(gameID string) string { return "game:{" + gameID + "}:log" }

// wantRefused requires that every call on a game is refused, because its log is damaged after version 5.
func wantRefused(t *testing.T, c *caller, last *pb.Event) {
	t.Helper()
	gameID := last.GetGameId()
	for _, d := range last.GetPosition().GetTwenty48().GetLegalMoves() {
		_, err := c.move(t.Context(), gameID, last.GetVersion(), d)
		wantDamaged(t, err, "5")
	}
	_, err := c.resign(t.Context(), gameID)
	wantDamaged(t, err, "5")
	_, err = c.get(t.Context(), gameID)
	wantDamaged(t, err, "5")
	for _, after := range []*int32{nil, fromStart(), proto.Int32(3), proto.Int32(last.GetVersion())} {
		wantDamaged(t, c.watch(t, gameID, watching{after: after}).awaitEnd(t), "5")
	}
}
