package fault

import (
	"context"
	"math/rand/v2"
	"sync"
	"testing"

	"github.com/stretchr/testify/require"
	"golang.org/x/sync/errgroup"

	pb "github.com/gridstand/gridstand/proto/gridstand/v1"
)

// fleet is where movers find a server while one after another is killed.
type fleet struct {
	mu      sync.Mutex
	server  *testServer
	waiting int  // movers whose server is dead
	acks    int  // calls that this server acknowledged
	over    bool // movers are to end
	changed chan struct{}
}

func newFleet(s *testServer) *fleet { return &fleet{server: s, changed: make(chan struct{})} }

// change changes the fleet and wakes all who wait for it.
func (f *fleet) change(do func()) {
	f.mu.Lock()
	defer f.mu.Unlock()
	do()
	close(f.changed)
	f.changed = make(chan struct{})
}

func (f *fleet) current() *testServer {
	f.mu.Lock()
	defer f.mu.Unlock()
	return f.server
}

// replace puts a server in the place of a dead one.
func (f *fleet) replace(s *testServer) {
	f.change(func() { f.server, f.waiting, f.acks = s, 0, 0 })
}

// stop has the movers end their games and return.
func (f *fleet) stop() { f.change(func() { f.over = true }) }

func (f *fleet) stopped() bool {
	f.mu.Lock()
	defer f.mu.Unlock()
	return f.over
}

// after waits for the server that takes the place of a dead one.
func (f *fleet) after(ctx context.Context, dead *testServer) (*testServer, error) {
	f.change(func() {
		if f.server == dead {
			f.waiting++
		}
	})
	err := f.until(ctx, func() bool { return f.server != dead })
	return f.current(), err
}

// until waits for something that is asked under the lock.
func (f *fleet) until(ctx context.Context, is func() bool) error {
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

// acknowledged waits until the current server has acknowledged n calls.
func (f *fleet) acknowledged(t *testing.T, n int) {
	t.Helper()
	ctx, cancel := context.WithTimeout(t.Context(), patience)
	defer cancel()
	require.NoError(t, f.until(ctx, func() bool { return f.acks >= n }), "the movers do not come on")
}

// allWait waits until n movers wait for a new server.
func (f *fleet) allWait(t *testing.T, n int) {
	t.Helper()
	ctx, cancel := context.WithTimeout(t.Context(), patience)
	defer cancel()
	require.NoError(t, f.until(ctx, func() bool { return f.waiting == n }), "movers do not notice that their server is dead")
}

// mover is a player who plays on, on whatever server there is.
type mover struct {
	fleet   *fleet
	player  *caller
	clients map[*testServer]*caller

	// The game that is played, and its version as it was acknowledged last.
	// They stand still while the mover waits for a server.
	gameID string
	acked  int32
}

func newMover(p *caller, f *fleet) *mover {
	return &mover{fleet: f, player: p, clients: map[*testServer]*caller{p.server: p}}
}

func (m *mover) client(s *testServer) *caller {
	if m.clients[s] == nil {
		m.clients[s] = m.player.on(s)
	}
	return m.clients[s]
}

// crew has n new players move, whose choices are drawn from a seed, until the
// fleet stops or the test ends. The group's context is that of whoever else joins
// it.
func (f *fleet) crew(t *testing.T, w *world, n int, seed uint64) ([]*mover, *errgroup.Group, context.Context) {
	t.Helper()
	group, ctx := errgroup.WithContext(t.Context())
	ctx, cancel := context.WithCancel(ctx)
	t.Cleanup(func() { cancel(); _ = group.Wait() })
	var all []*mover
	for i := range n {
		m := newMover(w.player(f.current()), f)
		all = append(all, m)
		rng := rand.New(rand.NewPCG(uint64(i), seed))
		group.Go(func() error { return m.run(ctx, rng) })
	}
	return all, group, ctx
}

// run plays short games, one after the other, until the fleet stops.
func (m *mover) run(ctx context.Context, rng *rand.Rand) error {
	all := solo()
	for !m.fleet.stopped() {
		m.gameID, m.acked = "", 0
		request := ofVariant(all[rng.IntN(len(all))].ID)
		var game *pb.Game
		err := m.do(ctx, func(c *caller) (err error) {
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

// play moves at random and gives the game up at a version, 0 for when the fleet
// stops.
func (m *mover) play(ctx context.Context, rng *rand.Rand, game *pb.Game, giveUp int32) error {
	m.gameID, m.acked = game.GetId(), game.GetVersion()
	position := game.GetPosition()
	for over := false; !over; {
		resign := giveUp > 0 && m.acked >= giveUp || m.fleet.stopped()
		var direction pb.Direction
		if !resign {
			direction = random(rng, position)
		}
		var event *pb.Event
		err := m.do(ctx, func(c *caller) (err error) {
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

// do makes a call until a server answers it.
func (m *mover) do(ctx context.Context, call func(*caller) error) error {
	s := m.fleet.current()
	for {
		err := call(m.client(s))
		switch {
		case err == nil:
			m.fleet.change(func() { m.fleet.acks++ })
			return nil
		case !unavailable(err):
			return err
		case refusalOf(err).reason != "":
			err = pause(ctx)
		default: // Nobody answers.
			s, err = m.fleet.after(ctx, s)
		}
		if err != nil {
			return err
		}
	}
}
