package fault

import (
	"context"
	"fmt"
	"math/rand/v2"
	"slices"
	"sync"
	"testing"
	"time"

	"github.com/stretchr/testify/require"
	"google.golang.org/protobuf/proto"

	"github.com/gridstand/gridstand/internal/id"
	watchtest "github.com/gridstand/gridstand/internal/testkit/watch"
	pb "github.com/gridstand/gridstand/proto/gridstand/v1"
)

// Who may sit in a new game.
var (
	me      = &pb.SeatRequest{Occupant: &pb.SeatRequest_Caller{Caller: &pb.Caller{}}}
	anyone  = &pb.SeatRequest{Occupant: &pb.SeatRequest_Open{Open: &pb.Open{}}}
	greedy  = &pb.SeatRequest{Occupant: &pb.SeatRequest_Bot{Bot: "greedy"}}
	chance  = &pb.SeatRequest{Occupant: &pb.SeatRequest_Bot{Bot: "random"}}
	minimax = &pb.SeatRequest{Occupant: &pb.SeatRequest_Bot{Bot: "minimax"}}
)

// table creates a game of Tribolo that the test needs.
func (c *caller) table(t *testing.T, request *pb.CreateGameRequest) *pb.Game {
	t.Helper()
	request.Variant, request.RequestId = "tribolo", id.New()
	game, err := c.create(t.Context(), request)
	require.NoError(t, err)
	return game
}

// join takes a seat, the one that the server chooses.
func (c *caller) join(ctx context.Context, gameID string) (*pb.Game, error) {
	var response *pb.JoinGameResponse
	err := c.insist(ctx, func(ctx context.Context) (err error) {
		response, err = c.games.JoinGame(c.authorized(ctx), &pb.JoinGameRequest{GameId: gameID})
		return err
	})
	if err != nil {
		return nil, checkError(err)
	}
	return response.GetGame(), c.w.told.game(response.GetGame())
}

// jump moves in Tribolo.
func (c *caller) jump(ctx context.Context, gameID string, version int32, to *pb.Cell) (*pb.Event, error) {
	response, err := c.games.Move(c.authorized(ctx), &pb.MoveRequest{
		GameId: gameID, Version: version, Move: &pb.MoveRequest_Cell{Cell: to},
	})
	if err != nil {
		return nil, checkError(err)
	}
	e := response.GetEvent()
	if e.GetGameId() != gameID || e.GetVersion() != version+1 || !proto.Equal(e.GetMoved().GetCell(), to) {
		return nil, fmt.Errorf("jumping to %v at version %d was answered with %v", to, version, e)
	}
	return e, c.w.told.event(e)
}

// sitter is one who reads every event of a game, whichever of its servers is
// alive, and moves at random where an own seat is to move.
type sitter struct {
	gameID  string
	clients []*caller // one account on several servers
	rng     *rand.Rand
	// idle never moves.
	idle bool
	// returns takes a seat back that a stand-in holds.
	returns bool
	// pace is how long the player thinks about a move.
	pace time.Duration

	seats   []*pb.Seat
	history *watchtest.History

	mu      sync.Mutex
	events  []*pb.Event
	changed chan struct{} // closed and replaced at each event
	done    chan struct{}
	err     error
}

// sit lets somebody follow a game, and play if seated, until its end.
func sit(t *testing.T, s *sitter) *sitter {
	t.Helper()
	s.changed, s.done = make(chan struct{}), make(chan struct{})
	s.history = watchtest.Begin(&pb.WatchRequest{GameId: s.gameID, AfterVersion: fromStart(), EveryEvent: true})
	if s.rng == nil {
		s.rng = seeded(t)
	}
	ctx, cancel := context.WithCancel(t.Context())
	t.Cleanup(func() { cancel(); <-s.done })
	go func() {
		defer close(s.done)
		if s.err = s.run(ctx); s.err != nil && ctx.Err() == nil {
			t.Errorf("somebody in the game, after version %d: %v", s.last().GetVersion(), s.err)
		}
	}()
	return s
}

func (s *sitter) run(ctx context.Context) error {
	for n := 0; ; n++ {
		again, err := s.follow(ctx, s.clients[n%len(s.clients)])
		if !again {
			return err
		}
		if err := pause(ctx); err != nil {
			return err
		}
	}
}

// seen returns the events seen so far.
func (s *sitter) seen() []*pb.Event {
	s.mu.Lock()
	defer s.mu.Unlock()
	return s.events
}

// last is the last event seen; nil before the first.
func (s *sitter) last() *pb.Event {
	events := s.seen()
	if len(events) == 0 {
		return nil
	}
	return events[len(events)-1]
}

// follow reads one stream, and plays meanwhile. It reports whether another one
// has to go on.
func (s *sitter) follow(ctx context.Context, c *caller) (again bool, _ error) {
	ctx, cancel := context.WithCancel(ctx)
	defer cancel()
	stream, err := c.games.Watch(c.authorized(ctx), s.history.Open(c.w.told.newest(s.gameID)))
	if err != nil {
		return unavailable(err), err
	}
	if s.last() != nil {
		if err := s.play(ctx, c, s.last()); err != nil {
			return unavailable(err), err
		}
	}
	for {
		message, err := stream.Recv()
		if err != nil {
			return s.history.End(checkError(c.rough(ctx, err)))
		}
		if err := s.history.Take(message); err != nil {
			return false, err
		}
		if message.GetEvent() == nil {
			continue
		}
		if err := s.take(c, message.GetEvent()); err != nil {
			return false, err
		}
		if err := s.play(ctx, c, message.GetEvent()); err != nil {
			return unavailable(err), err
		}
	}
}

// take notes an event.
func (s *sitter) take(c *caller, e *pb.Event) error {
	switch action := e.GetAction().(type) {
	case *pb.Event_Created:
		s.seats = slices.Clone(action.Created.GetSeats())
	case *pb.Event_Joined:
		s.seats[e.GetSeat()] = action.Joined.GetSeat()
	case *pb.Event_TimedOut:
		s.seats[e.GetSeat()] = proto.CloneOf(s.seats[e.GetSeat()])
		s.seats[e.GetSeat()].StandIn = action.TimedOut.GetStandIn()
	}
	s.mu.Lock()
	defer s.mu.Unlock()
	s.events = append(s.events, e)
	close(s.changed)
	s.changed = make(chan struct{})
	return c.w.told.event(e)
}

// play moves if an own seat is to move. Whatever came in between comes with the
// next event.
func (s *sitter) play(ctx context.Context, c *caller, e *pb.Event) error {
	p := e.GetPosition()
	if s.idle || p.Turn == nil {
		return nil
	}
	seat := s.seats[p.GetTurn()]
	if seat.GetPlayer().GetId() != c.id || c.id == "" {
		return nil
	}
	if s.pace > 0 {
		<-time.After(s.pace)
	}
	var err error
	if seat.GetStandIn() == "" {
		legal := p.GetTribolo().GetLegalMoves()
		_, err = c.jump(ctx, s.gameID, e.GetVersion(), legal[s.rng.IntN(len(legal))].GetCell())
	} else if s.returns {
		_, err = c.join(ctx, s.gameID)
	}
	err = c.rough(ctx, err)
	if r := refusalOf(err); r.reason == pb.ReasonVersionConflict || r.reason == pb.ReasonGameOver {
		return nil
	}
	return err
}

// sees waits for an event of which is is true, looking at those seen already
// too, and returns it.
func (s *sitter) sees(t *testing.T, what string, is func(*pb.Event) bool) *pb.Event {
	t.Helper()
	late := time.After(patience)
	for n := 0; ; {
		s.mu.Lock()
		events, changed := s.events, s.changed
		s.mu.Unlock()
		for ; n < len(events); n++ {
			if is(events[n]) {
				return events[n]
			}
		}
		select {
		case <-changed:
		case <-s.done:
			require.NoError(t, s.err)
			if len(s.events) == n {
				require.Fail(t, "the game ended without "+what, brief(s.last()))
			}
		case <-late:
			require.Fail(t, "not seen: "+what, brief(s.last()))
		}
	}
}

// ends waits for the end of the game, and returns all events.
func (s *sitter) ends(t *testing.T) []*pb.Event {
	t.Helper()
	select {
	case <-s.done:
		require.NoError(t, s.err)
	case <-time.After(patience):
		require.Fail(t, "the game does not end", brief(s.last()))
	}
	return s.events
}

// brief is an event without its board.
func brief(e *pb.Event) string {
	e = proto.CloneOf(e)
	if p := e.GetPosition(); p != nil {
		p.Board = nil
	}
	return fmt.Sprint(e)
}
