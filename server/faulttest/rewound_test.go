package faulttest

import (
	"strconv"
	"testing"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
	"google.golang.org/grpc/codes"
	"google.golang.org/protobuf/proto"

	"github.com/gridstand/gridstand/internal/longtest"
	pb "github.com/gridstand/gridstand/proto/gridstand/v1"
	"github.com/gridstand/gridstand/server/redistest"
)

// beat is when the servers of a world last said that they are alive.
func (w *world) beat(t *testing.T) int64 {
	t.Helper()
	beat, err := w.store.Get(t.Context(), "beat").Int64()
	require.NoError(t, err)
	return beat
}

// beatsOn waits until the servers have said that they are alive once more.
func (w *world) beatsOn(t *testing.T, since int64) {
	t.Helper()
	require.Eventually(t, func() bool { return w.beat(t) > since }, patience, 20*time.Millisecond)
}

// damaged waits until a server says that a game is damaged, and requires that
// it goes on saying so in answer to everything.
func (c *client) damaged(t *testing.T, gameID, version string) {
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
func (c *client) goesOn(t *testing.T, last *pb.Event) {
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
	for _, server := range []*server{running.server, fresh.server} {
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
	running, fresh *client
	// lost was played on after the copy was made, and later began after it.
	// kept stands as in the copy; so does unknown, but no server knows.
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
	dying := r.running.on(w.serve(w.addr))
	start := func(c *client) *pb.Event { return c.playTo(t, seeded(t), c.start(t, "6x6"), 5) }
	r.lost, r.kept, r.unknown = start(r.running), start(r.running), start(dying)

	require.NoError(t, w.store.Save(t.Context()).Err())
	copied := w.beat(t)
	r.lost = r.running.playTo(t, seeded(t), after(r.lost), whole)
	r.later = start(r.running)
	w.spoil(r.lost.GetGameId())
	w.spoil(r.later.GetGameId())
	w.beatsOn(t, copied)
	dying.server.stop()
	// The one that runs on must have heard of a beat since all these games, which
	// are older in a copy. It has when it sends the next; of that one it may not.
	w.beatsOn(t, w.beat(t))
	heard := w.beat(t)
	w.beatsOn(t, heard)

	r.proxy.Refuse()
	redis.Restart()
	// However long all this took.
	require.NoError(t, w.store.Set(t.Context(), "beat", strconv.FormatInt(heard-1-age.Milliseconds(), 10), 0).Err())
	r.proxy.Accept()
	require.Eventually(t, func() bool { return w.store.Exists(t.Context(), "rewound:{beat}").Val() == 1 }, patience, 20*time.Millisecond)
	r.fresh = r.running.on(w.serve(w.addr))
	return w, r
}

// Ensure that a running server tells when Redis was restored from a copy: what
// was lost is damaged for everybody, the rest goes on.
func TestRestored(t *testing.T) {
	t.Parallel()
	_, r := goBack(t, 0)
	for _, c := range []*client{r.running, r.fresh} {
		c.damaged(t, r.lost.GetGameId(), "5")
		c.damaged(t, r.later.GetGameId(), "0")
		c.scored(t)
	}
	wantRefused(t, r.fresh, r.lost, func(t *testing.T, err error) { wantDamaged(t, err, "5") })
	// So little was lost that the running server would know.
	r.fresh.goesOn(t, r.unknown)
	r.fresh.goesOn(t, r.kept)
}

// Ensure that after a copy from long before, games that nobody can vouch for are
// damaged too.
func TestRestored_old_long(t *testing.T) {
	longtest.Skip(t)
	t.Parallel()
	w, r := goBack(t, time.Hour)
	w.spoil(r.unknown.GetGameId())
	young := r.fresh.playTo(t, seeded(t), r.fresh.start(t, "6x6"), whole)
	for _, c := range []*client{r.running, r.fresh} {
		c.damaged(t, r.lost.GetGameId(), "5")
		c.damaged(t, r.later.GetGameId(), "0")
		c.damaged(t, r.unknown.GetGameId(), "5")
	}
	r.fresh.goesOn(t, r.kept)
	r.running.goesOn(t, young)
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
