package match

import (
	"context"
	"fmt"
	"maps"
	"slices"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	"github.com/redis/go-redis/v9"
	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/gridstand/gridstand/game"
	"github.com/gridstand/gridstand/game/replay"
	"github.com/gridstand/gridstand/internal/id"
	redistest "github.com/gridstand/gridstand/internal/testkit/redis"
	replaytest "github.com/gridstand/gridstand/internal/testkit/replay"
	"github.com/gridstand/gridstand/internal/testkit/testmain"
	waittest "github.com/gridstand/gridstand/internal/testkit/wait"
	"github.com/gridstand/gridstand/server/internal/gamelog"
	"github.com/gridstand/gridstand/server/internal/store"
	"github.com/gridstand/gridstand/server/internal/store/storetest"
)

func TestMain(m *testing.M) { testmain.Run(m, redistest.StillDialing) }

// env is a Redis server with any number of game servers that use it.
type env struct {
	t      *testing.T
	client *redis.Client
	addr   string
}

// each runs a test on every available kind of Redis server.
func each(t *testing.T, test func(t *testing.T, env *env)) {
	t.Helper()
	redistest.Each(t, func(t *testing.T, client *redis.Client) { test(t, newEnv(t, client)) })
}

func newEnv(t *testing.T, client *redis.Client) *env {
	t.Helper()
	return &env{t: t, client: client, addr: client.Options().Addr}
}

// server is a Hub with its dependencies.
type server struct {
	*Hub
	t    *testing.T
	seen *observer
	work *work
	stop func()
}

var servers atomic.Int64

// serve starts a server that uses the Redis server at addr and stops when the test ends.
func (env *env) serve(addr string) *server { return env.serveWithin(waittest.Patience, addr) }

// serveWithin is like serve, but if Redis does not answer in time, the server's calls fail.
func (env *env) serveWithin(timeout time.Duration, addr string) *server {
	s := env.stillWithin(timeout, addr)
	s.run(s.Hub.Run)
	return s
}

// still is like serve, but the server's hub does not run its periodic checks.
func (env *env) still(addr string) *server { return env.stillWithin(waittest.Patience, addr) }

func (env *env) stillWithin(timeout time.Duration, addr string) *server {
	env.t.Helper()
	on := storetest.OnRedisWithin(env.t, timeout, addr)
	return newServer(env.t, on, on.Games)
}

// newServer returns a server that uses a store, with the given games, and whose hub does not run its
// periodic checks.
func newServer(t *testing.T, on *store.Store, games store.Games) *server {
	t.Helper()
	s := &server{t: t, seen: &observer{}}
	s.work = &work{observer: s.seen}
	s.Hub = NewHub(Config{
		Log: gamelog.New(games), Feed: on.Feed, Jobs: s.work, Delivered: s.seen.delivers,
		ServerID: fmt.Sprint("server-", servers.Add(1)), Idle: time.Hour,
	})
	t.Cleanup(s.Hub.close) // Wait for the hub's goroutines, unless the test has already done so.
	s.run(on.Run)
	return s
}

// run runs f in a goroutine. When s.stop is called or the test ends, it cancels f's context
// and waits for f.
func (s *server) run(f func(context.Context)) {
	ctx, cancel := context.WithCancel(context.Background())
	done := make(chan struct{}, 1)
	go func() {
		f(ctx)
		done <- struct{}{}
	}()
	s.stop = sync.OnceFunc(func() {
		cancel()
		waittest.Receive(s.t, "the function to return", done)
	})
	s.t.Cleanup(s.stop)
}

// match acquires the match of the given game and releases it when the test ends.
func (s *server) match(gameID string) *Match {
	s.t.Helper()
	m, err := s.Acquire(waittest.Context(s.t), gameID)
	require.NoError(s.t, err)
	s.t.Cleanup(m.Release)
	return m
}

// newWatcher returns a new watcher of the match.
func (m *Match) newWatcher(ctx context.Context, role Role) *Watcher {
	w := &Watcher{}
	m.Watch(ctx, w, role)
	return w
}

// work is a Jobs that records calls.
type work struct {
	*observer

	mu    sync.Mutex
	soon  []string
	ended []*replay.State
	err   error
	// attended and planned are the numbers of calls of Attended and Plan.
	attended, planned int
}

func (w *work) Hold(_ context.Context, gameID string, _, latest time.Time) (time.Time, error) {
	w.mu.Lock()
	defer w.mu.Unlock()
	w.soon = append(w.soon, gameID)
	return latest, w.err
}

func (w *work) Plan(context.Context, *replay.State) error {
	w.mu.Lock()
	defer w.mu.Unlock()
	w.planned++
	return w.err
}

func (w *work) Appended(_ context.Context, final *replay.State) {
	if final.Status != replay.Finished {
		return
	}
	w.mu.Lock()
	defer w.mu.Unlock()
	w.ended = append(w.ended, final)
}

func (w *work) Attended(context.Context, *Match) {
	w.mu.Lock()
	defer w.mu.Unlock()
	w.attended++
}

// counts returns the number of calls to Hold, and the number of finished games passed to
// Appended.
func (w *work) counts() (soon, ended int) {
	w.mu.Lock()
	defer w.mu.Unlock()
	return len(w.soon), len(w.ended)
}

// observer records the calls that need no answer.
type observer struct {
	mu         sync.Mutex
	appended   []int32
	spectators int // number of spectators at the last call of Changed
	delivered  int // number of deliveries; an event counts once per watcher
}

func (o *observer) delivers(watchers int) {
	o.mu.Lock()
	defer o.mu.Unlock()
	o.delivered += watchers
}

func (o *observer) deliveries() int {
	o.mu.Lock()
	defer o.mu.Unlock()
	return o.delivered
}

func (o *observer) Changed(m *Match) {
	o.mu.Lock()
	defer o.mu.Unlock()
	o.appended = append(o.appended, m.State().Version)
	o.spectators = m.Spectators()
}

func (o *observer) versions() []int32 {
	o.mu.Lock()
	defer o.mu.Unlock()
	return slices.Clone(o.appended)
}

func (o *observer) audience() int {
	o.mu.Lock()
	defer o.mu.Unlock()
	return o.spectators
}

var (
	ann = replay.Player{ID: id.Derive([]byte("ann")), Name: "Ann"}
	bob = replay.Player{ID: id.Derive([]byte("bob")), Name: "Bob"}
)

func name(s string) string { return id.Derive([]byte("game"), []byte(s)) }

var (
	seed = replaytest.Seed
	same = replaytest.Equal
)

// created is the first entry of a game of the given variant that Ann creates for herself,
// with bots in all other seats.
func created(t testing.TB, variant string, s game.Seed) replay.Created {
	t.Helper()
	return replaytest.Created(t, variant, ann, s)
}

// create creates a game for Ann.
func (s *server) create(gameID, variant string) *replay.State {
	s.t.Helper()
	sd := seed(s.t, gameID[0])
	state, err := s.Create(waittest.Context(s.t), gameID, created(s.t, variant, sd), sd, time.Time{})
	require.NoError(s.t, err)
	return state
}

// begin creates a game for Ann, and acquires its match.
func (s *server) begin(gameID, variant string) *Match {
	s.t.Helper()
	s.create(gameID, variant)
	return s.match(gameID)
}

// move returns Ann's call to make the nth legal move in the position.
func move(s *replay.State, nth int) Call {
	legal := s.LegalMoves()
	return Call{
		PlayerID: ann.ID, Version: s.Version, Seat: game.NoSeat,
		Action: replay.Moved{Move: legal[nth%len(legal)]},
	}
}

func resign(version int32) Call {
	return Call{PlayerID: ann.ID, Version: version, Seat: game.NoSeat, Action: replay.Resigned{}}
}

// do makes a call and requires that it succeeds.
func (m *Match) do(t *testing.T, call Call) *Event {
	t.Helper()
	event, err := m.Do(waittest.Context(t), call)
	require.NoError(t, err)
	return event
}

// confirm returns the match's state after it has asked the store for newer entries.
func (m *Match) confirm(t *testing.T) *replay.State {
	t.Helper()
	tip, err := m.Confirm(waittest.Context(t))
	require.NoError(t, err)
	return tip.State
}

// play makes n moves.
func (m *Match) play(t *testing.T, n int) *replay.State {
	t.Helper()
	for range n {
		call := move(m.State(), 0)
		call.Action = replaytest.Lasting(t, m.State())
		m.do(t, call)
	}
	return m.State()
}

func logKey(gameID string) string  { return "game:{" + gameID + "}:log" }
func metaKey(gameID string) string { return "game:{" + gameID + "}:meta" }

// content is everything that Redis stores about a game: its log and its metadata.
type content struct {
	log  []redis.XMessage
	meta map[string]string
}

func (env *env) content(gameID string) content {
	env.t.Helper()
	log, err := env.client.XRange(env.t.Context(), logKey(gameID), "-", "+").Result()
	require.NoError(env.t, err)
	meta, err := env.client.HGetAll(env.t.Context(), metaKey(gameID)).Result()
	require.NoError(env.t, err)
	delete(meta, "watchers")
	return content{log, meta}
}

// unwritten calls do and checks that it does not change the stored game.
func (env *env) unwritten(gameID string, do func()) {
	env.t.Helper()
	before := env.content(gameID)
	do()
	require.Equal(env.t, before, env.content(gameID), "the stored game has changed")
}

// put writes entries to a game's log.
func (env *env) put(gameID string, log []redis.XMessage) {
	env.t.Helper()
	for _, m := range log {
		values := make([]any, 0, 6)
		for _, field := range slices.Sorted(maps.Keys(m.Values)) {
			values = append(values, field, m.Values[field])
		}
		require.NoError(env.t, env.client.XAdd(env.t.Context(), &redis.XAddArgs{Stream: logKey(gameID), ID: m.ID, Values: values}).Err())
	}
}

// check checks the invariants of an undamaged game: its versions are contiguous, its log
// replays to the state that every server returns, and its metadata names the end of the log.
func (env *env) check(gameID string, on ...*server) *replay.State {
	env.t.Helper()
	ctx := waittest.Context(env.t)
	log := on[0].Log
	tail, err := log.Tail(ctx, gameID)
	require.NoError(env.t, err)
	require.True(env.t, tail.Sound(), "%+v", tail)
	events := on[0].logged(env.t, gameID)
	for i, e := range events {
		require.EqualValues(env.t, i+1, e.State.Version)
	}
	last := events[len(events)-1].State
	require.Equal(env.t, tail.Last.Version, last.Version)
	heads, err := log.Heads(ctx, []string{gameID})
	require.NoError(env.t, err)
	same(env.t, last, heads[0].State)
	for _, s := range on {
		m, err := s.Acquire(ctx, gameID)
		require.NoError(env.t, err)
		same(env.t, last, m.confirm(env.t))
		same(env.t, last, m.State())
		assert.Empty(env.t, m.writing, "the match is still locked for appends")
		m.Release()
	}
	return last
}

func damagedAt(t *testing.T, err error) int32 {
	t.Helper()
	var damaged *gamelog.DamagedError
	require.ErrorAs(t, err, &damaged)
	return damaged.Version
}
