package fault

import (
	"context"
	"errors"
	"fmt"
	"io"
	"maps"
	"math/rand/v2"
	"slices"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	"github.com/anishathalye/porcupine"
	"github.com/stretchr/testify/require"
	"golang.org/x/sync/errgroup"
	"google.golang.org/protobuf/proto"
	"google.golang.org/protobuf/types/known/durationpb"

	"github.com/gridstand/gridstand/client"
	"github.com/gridstand/gridstand/internal/id"
	watchtest "github.com/gridstand/gridstand/internal/testkit/watch"
	pb "github.com/gridstand/gridstand/proto/gridstand/v1"
)

const (
	soloists, circles, inquirers = 8, 3, 2
	// turnLimit is such that clocks run out in long faults and in no others.
	turnLimit = 2 * time.Second
	// thinking is how long a player takes for a move, so that there are not more
	// of them than can be kept in mind.
	thinking = 20 * time.Millisecond
	// wondering is how long those of an arena take before a call, so that a fault
	// or two come into each history, and not too many calls.
	wondering = 50 * time.Millisecond
	// botSeat is the bot's at each table.
	botSeat = 2
)

// crowd is people who play one game after the other, and watch each other, with
// clients of the client library, until they go home.
type crowd struct {
	s     *storm
	name  *testServer // of all hosts
	ctx   context.Context
	home  chan struct{} // closed when they are to end
	group *errgroup.Group

	games, moves, undone, watches, conflated atomic.Int64

	mu       sync.Mutex
	watchers []*watcher
	sitters  []*sitter
	arenas   []*arena

	asked, unanswered int // of all arenas, once they were judged
}

// crowd brings people, whose choices are drawn from a seed.
func (s *storm) crowd(seed uint64) *crowd {
	s.t.Helper()
	fronts := make([]*testServer, 0, len(s.hosts))
	for _, h := range s.hosts {
		fronts = append(fronts, h.entrance())
	}
	c := &crowd{s: s, name: behind(fronts...), home: make(chan struct{})}
	ctx, cancel := context.WithCancel(s.t.Context())
	c.group, c.ctx = errgroup.WithContext(ctx)
	s.t.Cleanup(func() {
		cancel()
		_ = c.group.Wait()
	})
	for n := range soloists {
		player, spectator := s.w.player(c.name), s.w.anybody(c.name)
		rng := rand.New(rand.NewPCG(seed, uint64(100+n)))
		c.group.Go(func() error { return c.solo(rng, player, spectator) })
	}
	for n := range circles {
		players := []*caller{s.w.player(c.name), s.w.player(c.name), s.w.anybody(c.name)}
		rng := rand.New(rand.NewPCG(seed, uint64(200+n)))
		c.group.Go(func() error { return c.circle(rng, players) })
	}
	for n := range inquirers {
		clients := accounts(s.w, fronts...)
		rng := rand.New(rand.NewPCG(seed, uint64(300+n)))
		c.group.Go(func() error { return c.inquire(rng, clients) })
	}
	return c
}

func (c *crowd) over() bool {
	select {
	case <-c.home:
		return true
	default:
		return c.ctx.Err() != nil
	}
}

// solo plays games of 2048, now and then taking a move back, while somebody
// watches each.
func (c *crowd) solo(rng *rand.Rand, player, spectator *caller) error {
	all := solo()
	people, err := client.Dial(client.Config{Target: c.name.addr, Token: player.token})
	if err != nil {
		return err
	}
	defer func() { _ = people.Close() }()
	for !c.over() {
		game, err := player.create(c.ctx, ofVariant(all[rng.IntN(len(all))].ID))
		if err != nil {
			return fmt.Errorf("creating a game: %w", err)
		}
		c.games.Add(1)
		if rng.IntN(2) == 0 {
			c.watch(spectator, game.GetId(), watching{cut: rng.IntN(40)})
		} else {
			c.group.Go(func() error { return c.follow(people, game.GetId()) })
		}
		if err := c.play(rng, people.Seat(game), game, int32(20+rng.IntN(100))); err != nil {
			return fmt.Errorf("playing %s: %w", game.GetId(), err)
		}
	}
	return nil
}

// play moves up to a version, and then gives the game up.
func (c *crowd) play(rng *rand.Rand, seat *client.Seat, game *pb.Game, giveUp int32) error {
	version, position := game.GetVersion(), game.GetPosition()
	for {
		<-time.After(thinking)
		var event *pb.Event
		var err error
		n := rng.IntN(60)
		switch {
		case version >= giveUp || c.over():
			event, err = seat.Resign(c.ctx)
		case n == 0 && position.GetMoveCount() > 0:
			event, err = seat.Undo(c.ctx, version, nil)
			c.undone.Add(1)
		default:
			event, err = seat.Move(c.ctx, version, client.Slide(random(rng, position)), false)
		}
		if err != nil {
			return fmt.Errorf("after version %d: %w", version, err)
		}
		if event.GetVersion() != version+1 {
			return fmt.Errorf("version %d after version %d, of a game that nobody else plays", event.GetVersion(), version)
		}
		if err := c.s.w.told.event(event); err != nil {
			return err
		}
		c.moves.Add(1)
		if event.GetResult() != nil {
			return nil
		}
		version, position = event.GetVersion(), event.GetPosition()
	}
}

// watch has somebody watch a game to its end.
func (c *crowd) watch(spectator *caller, gameID string, how watching) {
	w := spectator.watch(c.s.t, gameID, how)
	c.watches.Add(1)
	c.mu.Lock()
	defer c.mu.Unlock()
	c.watchers = append(c.watchers, w)
}

// follow watches a game to its end with the client library, which resumes by
// itself.
func (c *crowd) follow(people *client.Client, gameID string) error {
	c.watches.Add(1)
	request := &pb.WatchRequest{GameId: gameID, AfterVersion: proto.Int32(0)}
	history := watchtest.Begin(request)
	// Not with the player's connection, which may be closed sooner.
	own, err := client.Dial(client.Config{Target: people.Target()})
	if err != nil {
		return err
	}
	defer func() { _ = own.Close() }()
	watcher := own.Watch(c.ctx, client.WatchOptions{GameID: gameID, AfterVersion: request.AfterVersion})
	defer watcher.Close()
	for {
		update, err := watcher.Next()
		message := &pb.WatchResponse{}
		switch {
		case errors.Is(err, io.EOF):
			_, err := history.End(err)
			c.conflated.Add(int64(history.Covered()))
			return err
		case err != nil:
			return fmt.Errorf("following %s after version %d: %w", gameID, history.Version(), err)
		case update.Event != nil:
			message.Update = &pb.WatchResponse_Event{Event: update.Event}
		case update.Game != nil:
			message.Update = &pb.WatchResponse_Game{Game: update.Game}
		default:
			continue
		}
		if err := history.Take(message); err != nil {
			return fmt.Errorf("following %s: %w", gameID, err)
		}
		if err := c.s.w.told.update(message); err != nil {
			return err
		}
	}
}

// circle plays games of Tribolo with a clock: two people, who take their seats
// back when a bot stood in, and a bot.
func (c *crowd) circle(rng *rand.Rand, players []*caller) error {
	for !c.over() {
		host, guest, spectator := players[0], players[1], players[2]
		game, err := host.create(c.ctx, &pb.CreateGameRequest{
			Variant: "tribolo", Seats: []*pb.SeatRequest{me, anyone, greedy},
			TurnLimit: durationpb.New(turnLimit), RequestId: id.New(),
		})
		if err != nil {
			return fmt.Errorf("creating a table: %w", err)
		}
		gameID := game.GetId()
		c.games.Add(1)
		c.watch(spectator, gameID, watching{})
		c.watch(spectator, gameID, watching{every: true, cut: 1 + rng.IntN(9)})
		if _, err := guest.join(c.ctx, gameID); err != nil {
			return fmt.Errorf("joining %s: %w", gameID, err)
		}
		var both []*sitter
		for _, p := range players[:2] {
			s := sit(c.s.t, &sitter{
				gameID: gameID, clients: []*caller{p}, returns: true, pace: thinking,
				rng: rand.New(rand.NewPCG(rng.Uint64(), 0)),
			})
			both = append(both, s)
		}
		c.mu.Lock()
		c.sitters = append(c.sitters, both...)
		c.mu.Unlock()
		for _, s := range both {
			select {
			case <-s.done:
			case <-c.ctx.Done():
				return c.ctx.Err()
			}
		}
	}
	return nil
}

// inquire has clients on each of the servers ask about one game after the other,
// all at once, and keeps what they were answered.
func (c *crowd) inquire(rng *rand.Rand, clients [maxPlayers][]*caller) error {
	names := slices.Sorted(maps.Keys(stages))
	for !c.over() {
		a, err := stages[names[rng.IntN(len(names))]].open(c.ctx, clients)
		if err != nil {
			return err
		}
		c.games.Add(1)
		a.pace = wondering
		if err := a.run(c.ctx, rng.Uint64()); err != nil {
			return fmt.Errorf("asking about %s: %w", a.game.GetId(), err)
		}
		c.mu.Lock()
		c.arenas = append(c.arenas, a)
		c.mu.Unlock()
	}
	return nil
}

// judge requires an order for the answers about each game of an arena.
func (c *crowd) judge(t *testing.T) {
	t.Helper()
	fresh := c.s.w.anybody(c.s.w.serve(c.s.w.addr))
	for _, a := range c.arenas {
		c.asked += len(a.history.all)
		c.unanswered += a.history.unknown()
		require.Equal(t, porcupine.Ok, a.judge(t, c.s.w.genesis(t, fresh, a.game)), a.game.GetVariant())
	}
}

// goHome lets everybody finish, and requires that all saw their games end.
func (c *crowd) goHome(t *testing.T) {
	t.Helper()
	close(c.home)
	gone := make(chan error, 1)
	go func() { gone <- c.group.Wait() }()
	select {
	case err := <-gone:
		require.NoError(t, err)
	case <-time.After(5 * patience): // Games have to end first.
		require.Fail(t, "people do not get home")
	}
	c.mu.Lock()
	defer c.mu.Unlock()
	for _, w := range c.watchers {
		require.NoError(t, w.ends(t), w.gameID)
		c.conflated.Add(int64(w.covered()))
	}
	for _, s := range c.sitters {
		s.ends(t)
	}
}

// sum is what the crowd did, in a line.
func (c *crowd) sum() string {
	timedOut, extended, seen, still := 0, 0, 0, time.Duration(0)
	for _, s := range c.sitters {
		for i, e := range s.events {
			seen++
			if i > 0 && s.events[i-1].GetPosition().GetTurn() == botSeat {
				still = max(still, e.GetTime().AsTime().Sub(s.events[i-1].GetTime().AsTime()))
			}
			if e.GetTimedOut() != nil {
				timedOut++
			}
			if e.GetClockExtended() != nil {
				extended++
			}
		}
	}
	return fmt.Sprintf("%d games, %d moves of solo players acknowledged (%d of them taken back), %d watchers, %d times a game in the place of events; "+
		"at tables %d events seen, %d time-outs, %d clocks extended, bots that stood still for %v at most; "+
		"%d histories of %d calls about a game, %d of unknown outcome, each with an order; lost: nothing",
		c.games.Load(), c.moves.Load(), c.undone.Load(), c.watches.Load(), c.conflated.Load(), seen, timedOut, extended, still,
		len(c.arenas), c.asked, c.unanswered)
}
