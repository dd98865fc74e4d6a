package fault

import (
	"context"
	"math/rand/v2"
	"sync"
	"testing"

	"github.com/stretchr/testify/require"
	"golang.org/x/sync/errgroup"

	playertest "github.com/gridstand/gridstand/internal/testkit/player"
	pb "github.com/gridstand/gridstand/proto/gridstand/v1"
)

// failover tells movers which server is current while servers are killed one after another.
type failover struct {
	mu      sync.Mutex
	server  *testServer
	waiting int  // number of movers whose server is dead
	acks    int  // number of calls that the current server has acknowledged
	over    bool // set when movers should finish
	changed chan struct{}
}

func newFailover(s *testServer) *failover { return &failover{server: s, changed: make(chan struct{})} }

// change calls do while holding the lock, and wakes all waiters.
func (f *failover) change(do func()) {
	f.mu.Lock()
	defer f.mu.Unlock()
	do()
	close(f.changed)
	f.changed = make(chan struct{})
}

func (f *failover) current() *testServer {
	f.mu.Lock()
	defer f.mu.Unlock()
	return f.server
}

// replace makes s the current server after the previous one was killed.
func (f *failover) replace(s *testServer) {
	f.change(func() { f.server, f.waiting, f.acks = s, 0, 0 })
}

// stop makes the movers end their games and return.
func (f *failover) stop() { f.change(func() { f.over = true }) }

func (f *failover) stopped() bool {
	f.mu.Lock()
	defer f.mu.Unlock()
	return f.over
}

// next waits for the server that replaces a dead one.
func (f *failover) next(ctx context.Context, dead *testServer) (*testServer, error) {
	f.change(func() {
		if f.server == dead {
			f.waiting++
		}
	})
	err := f.waitUntil(ctx, func() bool { return f.server != dead })
	return f.current(), err
}

// waitUntil waits until a condition is true. It evaluates the condition while holding the lock.
func (f *failover) waitUntil(ctx context.Context, is func() bool) error {
	for {
		f.mu.Lock()
		ok, changed := is(), f.changed
		f.mu.Unlock()
		if ok {
			return nil
		}
		select {
		case <-changed:
		case <-ctx.Done():
			return ctx.Err()
		}
	}
}

// awaitAcks waits until the current server has acknowledged n calls. It fails if no call is
// acknowledged for longer than patience.
func (f *failover) awaitAcks(t *testing.T, n int) {
	t.Helper()
	for at := 1; at <= n; at++ {
		f.await(t, func() bool { return f.acks >= at }, "the movers make no progress")
	}
}

// awaitWaiting waits until n movers are waiting for a new server.
func (f *failover) awaitWaiting(t *testing.T, n int) {
	t.Helper()
	f.await(t, func() bool { return f.waiting == n }, "movers did not notice that their server is dead")
}

func (f *failover) await(t *testing.T, is func() bool, otherwise string) {
	t.Helper()
	ctx, cancel := context.WithTimeout(t.Context(), patience)
	defer cancel()
	require.NoError(t, f.waitUntil(ctx, is), otherwise)
}

// mover is a player who plays one game after another on the current server.
type mover struct {
	failover *failover
	player   *caller
	clients  map[*testServer]*caller

	// gameID and acked are the current game and its last acknowledged version. They do not
	// change while the mover is waiting for a server.
	gameID string
	acked  int32
}

func newMover(p *caller, f *failover) *mover {
	return &mover{failover: f, player: p, clients: map[*testServer]*caller{p.server: p}}
}

func (m *mover) client(s *testServer) *caller {
	if m.clients[s] == nil {
		m.clients[s] = m.player.on(s)
	}
	return m.clients[s]
}

// startMovers starts n new players, whose choices are drawn from a seed. They run until the
// failover stops or the test ends. The caller may add more goroutines to the group.
func (f *failover) startMovers(t *testing.T, env *env, n int, seed uint64) ([]*mover, *errgroup.Group, context.Context) {
	t.Helper()
	group, ctx := errgroup.WithContext(t.Context())
	ctx, cancel := context.WithCancel(ctx)
	t.Cleanup(func() { cancel(); _ = group.Wait() })
	var all []*mover
	for i := range n {
		m := newMover(env.player(f.current()), f)
		all = append(all, m)
		rng := rand.New(rand.NewPCG(uint64(i), seed))
		group.Go(func() error { return m.run(ctx, rng) })
	}
	return all, group, ctx
}

// run plays short games, one after another, until the failover stops.
func (m *mover) run(ctx context.Context, rng *rand.Rand) error {
	all := solo()
	for !m.failover.stopped() {
		m.gameID, m.acked = "", 0
		request := ofVariant(all[rng.IntN(len(all))].ID)
		var game *pb.Game
		err := m.do(ctx, func(ctx context.Context, c *caller) (err error) {
			game, err = c.create(ctx, request)
			return err
		})
		if err != nil {
			return err
		}
		if err := m.play(ctx, rng, game, 3+rng.Int32N(12)); err != nil {
			return err
		}
	}
	return nil
}

// play makes random moves. It resigns when the failover stops or, unless giveUp is 0, at version
// giveUp.
func (m *mover) play(ctx context.Context, rng *rand.Rand, game *pb.Game, giveUp int32) error {
	m.gameID, m.acked = game.GetId(), game.GetVersion()
	position := game.GetPosition()
	for over := false; !over; {
		resign := giveUp > 0 && m.acked >= giveUp || m.failover.stopped()
		var direction pb.Direction
		if !resign {
			direction = random(rng, position)
		}
		var event *pb.Event
		err := m.do(ctx, func(ctx context.Context, c *caller) (err error) {
			if resign {
				event, err = c.resign(ctx, m.gameID)
			} else {
				event, err = c.move(ctx, m.gameID, m.acked, direction)
			}
			return err
		})
		if err != nil {
			return err
		}
		m.acked, position, over = event.GetVersion(), event.GetPosition(), event.GetResult() != nil
	}
	return nil
}

// do repeats a call until a server answers it. It does not leave that to the client, because after
// a server has died it has to wait for the next one.
func (m *mover) do(ctx context.Context, call func(context.Context, *caller) error) error {
	s := m.failover.current()
	for {
		try, cancel := context.WithTimeout(ctx, patience) // The client does not repeat calls with a deadline.
		err := call(try, m.client(s))
		cancel()
		switch {
		case err == nil:
			m.failover.change(func() { m.failover.acks++ })
			return nil
		case !unavailable(err):
			return err
		case refusalOf(err).reason != "":
			err = playertest.Pause(ctx)
		default: // no server answered
			s, err = m.failover.next(ctx, s)
		}
		if err != nil {
			return err
		}
	}
}
