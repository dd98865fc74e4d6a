package fault

import (
	"maps"
	"net"
	"slices"
	"strconv"
	"strings"
	"testing"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
	"google.golang.org/grpc/codes"
	"google.golang.org/protobuf/proto"

	"github.com/gridstand/gridstand/internal/testkit/longtest"
	redistest "github.com/gridstand/gridstand/internal/testkit/redis"
	pb "github.com/gridstand/gridstand/proto/gridstand/v1"
)

// heartbeats is when each server of a world last sent a heartbeat.
func (w *world) heartbeats(t *testing.T) map[string]int64 {
	t.Helper()
	stored, err := w.store.HGetAll(t.Context(), heartbeatsKey).Result()
	require.NoError(t, err)
	last := map[string]int64{}
	for id, value := range stored {
		at, _, _ := strings.Cut(value, " ")
		last[id], err = strconv.ParseInt(at, 10, 64)
		require.NoError(t, err)
	}
	return last
}

const (
	heartbeatsKey = "heartbeats:{beat}"
	rollbackKey   = "rewound:{beat}"
)

// beat is when one of them last did.
func (w *world) beat(t *testing.T) int64 {
	t.Helper()
	return slices.Max(slices.Collect(maps.Values(w.heartbeats(t))))
}

// acknowledged waits until every server that is there has heard that a heartbeat
// was stored which it sends from now on.
func (w *world) acknowledged(t *testing.T, servers int) {
	t.Helper()
	began := w.heartbeats(t)
	for range 2 { // It has heard of one when it sends the next.
		require.Eventually(t, func() bool {
			newer := 0
			for id, at := range w.heartbeats(t) {
				if at > began[id] {
					newer++
				}
			}
			return newer == servers
		}, patience, 20*time.Millisecond)
		began = w.heartbeats(t)
	}
}

// beatsOn waits until the servers have said that they are alive once more.
func (w *world) beatsOn(t *testing.T, since int64) {
	t.Helper()
	require.Eventually(t, func() bool { return w.beat(t) > since }, patience, 20*time.Millisecond)
}

// recovered waits until the servers have dealt with a rollback.
func (w *world) recovered(t *testing.T) {
	t.Helper()
	require.Eventually(t, func() bool {
		r := w.store.HGetAll(t.Context(), rollbackKey).Val()
		return r["at"] != "" && r["at"] == r["swept"]
	}, patience, 20*time.Millisecond)
}

// damaged waits until a server says that a game is damaged, and requires that
// it goes on saying so in answer to everything.
func (c *caller) damaged(t *testing.T, gameID, version string) {
	t.Helper()
	var err error
	require.Eventually(t, func() bool {
		_, err = c.get(t.Context(), gameID)
		return refusalOf(err).code == codes.DataLoss
	}, patience, 50*time.Millisecond, "%s", gameID)
	wantDamaged(t, err, version)
	wantDamaged(t, c.watch(t, gameID, watching{after: fromStart()}).ends(t), version)
}

// goesOn requires that a game at a version is played on.
func (c *caller) goesOn(t *testing.T, last *pb.Event) {
	t.Helper()
	direction := last.GetPosition().GetTwenty48().GetLegalMoves()[0]
	assert.Equal(t, last.GetVersion()+1, again(t, c, last.GetGameId(), last.GetVersion(), direction).GetVersion())
}

// Ensure that games that were under way are damaged for everybody when Redis is
// restarted empty under a running server, also for servers that come later, and
// that new games work.
func TestRestartedEmpty(t *testing.T) {
	t.Parallel()
	redis := redistest.StartRedis(t)
	w := newWorld(t, redis.Addr())
	running := w.player(w.serve(w.addr))
	game, idle := running.start(t, "6x6"), running.start(t, "6x6")
	last := running.playTo(t, seeded(t), game, whole)
	guest := w.anybody(running.server).watch(t, game.GetId(), watching{})
	guest.sees(t, whole)
	_, err := running.get(t.Context(), idle.GetId()) // brings it into memory
	require.NoError(t, err)
	w.spoil(game.GetId())
	w.spoil(idle.GetId())
	w.beatsOn(t, w.beat(t))
	redis.Restart()

	wantDamaged(t, guest.ends(t), "0")
	running.damaged(t, game.GetId(), "0")
	running.damaged(t, idle.GetId(), "0")
	require.Eventually(t, func() bool { return w.store.Exists(t.Context(), metaKey(game.GetId())).Val() == 1 }, patience, 20*time.Millisecond)
	fresh := w.anybody(w.serve(w.addr))
	fresh.damaged(t, game.GetId(), "0")
	wantDamaged(t, fresh.watch(t, game.GetId(), watching{after: proto.Int32(last.GetVersion())}).ends(t), "0")

	// Nothing lasts longer than the fence says, and what is new is sound.
	assert.Positive(t, w.store.PTTL(t.Context(), metaKey(game.GetId())).Val())
	for _, server := range []*testServer{running.server, fresh.server} {
		c := w.player(server)
		c.scored(t)
		c.goesOn(t, c.playTo(t, seeded(t), c.start(t, "6x6"), whole))
	}
}

// restored is games on a Redis that is about to go back in time.
type restored struct {
	redis *redistest.Server
	proxy *redistest.Proxy // before running
	// running had lost, kept and later in memory before; fresh is a server
	// that starts after.
	running, fresh *caller
	// lost was played on after the copy was made, and later began after it.
	// kept stands as in the copy, and running has followed it; so does unknown,
	// but no server knows.
	lost, kept, later, unknown *pb.Event
}

// goBack plays, copies Redis, plays on, and puts the copy in Redis's place, as if
// it had been made so long before.
func goBack(t *testing.T, age time.Duration) (*world, *restored) {
	t.Helper()
	redis := redistest.StartRedis(t)
	w := newWorld(t, redis.Addr())
	r := &restored{redis: redis, proxy: redistest.StartProxy(t, redis.Addr())}
	r.running = w.player(w.serve(r.proxy.Addr()))
	leaving := r.running.on(w.serve(w.addr))
	start := func(c *caller) *pb.Event { return c.playTo(t, seeded(t), c.start(t, "6x6"), 5) }
	r.lost, r.kept, r.unknown = start(r.running), start(r.running), start(leaving)
	w.anybody(r.running.server).watch(t, r.kept.GetGameId(), watching{}).sees(t, 5)
	leaving.server.stop()
	w.acknowledged(t, 1)

	require.NoError(t, w.store.Save(t.Context()).Err())
	r.lost = r.running.playTo(t, seeded(t), after(r.lost), whole)
	r.later = start(r.running)
	w.spoil(r.lost.GetGameId())
	w.spoil(r.later.GetGameId())
	w.acknowledged(t, 1)

	r.proxy.Refuse()
	redis.Restart()
	for id, at := range w.heartbeats(t) {
		value := w.store.HGet(t.Context(), heartbeatsKey, id).Val()
		_, rest, _ := strings.Cut(value, " ")
		value = strconv.FormatInt(at-age.Milliseconds(), 10) + " " + rest
		require.NoError(t, w.store.HSet(t.Context(), heartbeatsKey, id, value).Err())
	}
	r.proxy.Accept()
	r.fresh = r.running.on(w.serve(w.addr))
	return w, r
}

// Ensure that a running server tells when Redis was restored from a copy: what
// was lost is damaged for everybody, the rest goes on.
func TestRestored(t *testing.T) {
	t.Parallel()
	w, r := goBack(t, 0)
	w.recovered(t)
	for _, c := range []*caller{r.running, r.fresh} {
		c.damaged(t, r.lost.GetGameId(), "5")
		c.damaged(t, r.later.GetGameId(), "0")
		c.scored(t)
	}
	wantRefused(t, r.fresh, r.lost, func(t *testing.T, err error) { wantDamaged(t, err, "5") })
	// The one server that was alive in the copy knows of all that was lost.
	r.fresh.goesOn(t, r.unknown)
	r.fresh.goesOn(t, r.kept)
}

// Ensure that after a copy from long before, games that no server can vouch for
// are damaged too.
func TestRestored_old_long(t *testing.T) {
	longtest.Skip(t)
	t.Parallel()
	w, r := goBack(t, time.Hour)
	w.spoil(r.unknown.GetGameId())
	young := r.fresh.playTo(t, seeded(t), r.fresh.start(t, "6x6"), whole)
	for _, c := range []*caller{r.running, r.fresh} {
		c.damaged(t, r.lost.GetGameId(), "5")
		c.damaged(t, r.later.GetGameId(), "0")
		c.damaged(t, r.unknown.GetGameId(), "5")
	}
	r.fresh.goesOn(t, r.kept)
	r.running.goesOn(t, young)
}

// Ensure that a server that starts just when Redis is restored from a copy does
// not hide from those that ran before that it went back: moves that are lost are
// not played over, through whichever server.
func TestRestored_anotherStarts(t *testing.T) {
	t.Parallel()
	redis := redistest.StartRedis(t)
	w := newWorld(t, redis.Addr())
	a := w.player(w.serve(w.addr))
	b := a.on(w.serve(w.addr))
	w.acknowledged(t, 2)
	var lost []*pb.Event
	for _, c := range []*caller{a, b} {
		for range 3 {
			lost = append(lost, c.playTo(t, seeded(t), c.start(t, "6x6"), 5))
		}
	}
	require.NoError(t, w.store.Save(t.Context()).Err())
	for i, event := range lost {
		c := []*caller{a, b}[i/3]
		lost[i] = c.playTo(t, seeded(t), after(event), whole)
		w.spoil(event.GetGameId())
	}
	w.acknowledged(t, 2)

	redis.Kill()
	starts := make(chan struct{})
	go func() {
		defer close(starts)
		redis.Restart()
	}()
	fresh := a.on(w.serve(w.addr)).elsewhere(t)
	<-starts
	defer w.recovered(t)
	for _, event := range lost {
		// This may be before it is known what was lost.
		if game, err := fresh.get(t.Context(), event.GetGameId()); err == nil {
			_, _ = fresh.move(t.Context(), game.GetId(), game.GetVersion(), game.GetPosition().GetTwenty48().GetLegalMoves()[0])
		}
	}
	for _, event := range lost {
		for _, c := range []*caller{a, b, fresh} {
			var err error
			require.Eventually(t, func() bool {
				_, err = c.get(t.Context(), event.GetGameId())
				return refusalOf(err).code == codes.DataLoss
			}, patience, 50*time.Millisecond, "%s is played on", event.GetGameId())
		}
	}
}

// Ensure that games which lost moves in a failover to a replica that lags are
// damaged for everybody, however little it lags, and that the others go on.
func TestFailover(t *testing.T) {
	t.Parallel()
	master := redistest.StartRedis(t, "--repl-diskless-sync-delay", "0")
	_, port, err := net.SplitHostPort(master.Addr())
	require.NoError(t, err)
	replica := redistest.StartRedis(t, "--replicaof", "127.0.0.1 "+port)
	promoted := redistest.NewClient(t, replica.Addr())
	proxy := redistest.StartProxy(t, master.Addr())
	w := newWorld(t, proxy.Addr())
	a := w.player(w.serve(w.addr))
	b := a.on(w.serve(w.addr))
	w.acknowledged(t, 2)
	var lost []*pb.Event
	for _, c := range []*caller{a, b} {
		lost = append(lost, c.playTo(t, seeded(t), c.start(t, "6x6"), 5))
	}
	kept := a.playTo(t, seeded(t), a.start(t, "6x6"), 5)
	require.Eventually(t, func() bool {
		return promoted.XLen(t.Context(), logKey(kept.GetGameId())).Val() == 5
	}, patience, 10*time.Millisecond)
	require.NoError(t, promoted.Do(t.Context(), "REPLICAOF", "NO", "ONE").Err())
	for i, event := range lost {
		c := []*caller{a, b}[i]
		lost[i] = c.playTo(t, seeded(t), after(event), 6)
		w.spoil(event.GetGameId())
	}
	master.Kill()
	proxy.Redirect(replica.Addr())
	proxy.Cut()

	for _, event := range lost {
		for _, c := range []*caller{a, b} {
			c.damaged(t, event.GetGameId(), "5")
		}
	}
	w.recovered(t)
	b.goesOn(t, kept)
}

// Ensure that games are damaged that a server played on which died together with
// Redis, although another one lived on that knew nothing of them.
func TestRestored_serverDied_long(t *testing.T) {
	longtest.Skip(t)
	t.Parallel()
	redis := redistest.StartRedis(t)
	w := newWorld(t, redis.Addr())
	running := w.player(w.serve(w.addr))
	dying := running.on(w.serveProcess(w.addr))
	var lost []*pb.Event
	for range 10 {
		lost = append(lost, dying.playTo(t, seeded(t), dying.start(t, "6x6"), 5))
	}
	kept := running.playTo(t, seeded(t), running.start(t, "6x6"), 5)
	w.anybody(running.server).watch(t, kept.GetGameId(), watching{}).sees(t, 5)
	w.acknowledged(t, 2)
	require.NoError(t, w.store.Save(t.Context()).Err())
	for i, event := range lost {
		lost[i] = dying.playTo(t, seeded(t), after(event), whole)
		w.spoil(event.GetGameId())
	}
	w.acknowledged(t, 2)

	dying.server.stop()
	redis.Restart()
	for _, event := range lost {
		running.damaged(t, event.GetGameId(), "5")
	}
	w.recovered(t)
	running.goesOn(t, kept)
}

// Ensure that where no server knew more, an operator says what is damaged: here
// all that was under way, before new servers start.
func TestRestored_freshOnly(t *testing.T) {
	t.Parallel()
	redis := redistest.StartRedis(t)
	w := newWorld(t, redis.Addr())
	before := w.player(w.serve(w.addr))
	over, _ := before.scored(t)
	lost := before.playTo(t, seeded(t), before.start(t, "6x6"), 5)
	require.NoError(t, w.store.Save(t.Context()).Err())
	last := before.playTo(t, seeded(t), after(lost), whole)
	before.server.stop()
	redis.Restart()
	w.spoil(lost.GetGameId())

	operator := w.operator(t.Context(), t)
	defer operator.Close()
	fenced, err := operator.FenceBefore(t.Context(), time.Time{})
	require.NoError(t, err)
	assert.Equal(t, []string{lost.GetGameId()}, fenced)
	fresh := before.on(w.serve(w.addr))
	wantRefused(t, fresh, last, func(t *testing.T, err error) { wantDamaged(t, err, "5") })
	_, err = fresh.get(t.Context(), over)
	require.NoError(t, err)
	fresh.scored(t)
	fresh.goesOn(t, fresh.playTo(t, seeded(t), fresh.start(t, "6x6"), whole))
}
