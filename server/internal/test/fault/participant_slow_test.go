//go:build slow

package fault

import (
	"context"
	"fmt"
	"math/rand/v2"
	"slices"
	"testing"
	"time"

	"google.golang.org/protobuf/proto"

	pb "github.com/gridstand/gridstand/proto/gridstand/v1"
)

// greedyBot requests a seat for a bot.
var greedyBot = &pb.SeatRequest{Occupant: &pb.SeatRequest_Bot{Bot: "greedy"}}

// jump makes a move in Tribolo.
func (c *caller) jump(ctx context.Context, gameID string, version int32, to *pb.Cell) (*pb.Event, error) {
	response, err := c.games.Move(c.authorized(ctx), &pb.MoveRequest{
		GameId: gameID, Version: version, Move: &pb.MoveRequest_Cell{Cell: to},
	})
	if err != nil {
		return nil, checkError(err)
	}
	e := response.GetEvent()
	if e.GetGameId() != gameID || e.GetVersion() != version+1 || !proto.Equal(e.GetMoved().GetCell(), to) {
		return nil, fmt.Errorf("the answer to jumping to %v at version %d was %v", to, version, e)
	}
	return e, c.env.observed.event(e)
}

// participant is a watcher that reads every event of a game, from any running server, and makes a
// random move whenever it is its turn. It takes its seat back from a stand-in.
type participant struct {
	*watcher
	rng *rand.Rand
	// pace is the delay before a move.
	pace time.Duration

	seats  []*pb.Seat
	events []*pb.Event
}

// participate starts a participant in a game, which runs until the game ends.
func participate(t *testing.T, p *participant, gameID string, c *caller) *participant {
	t.Helper()
	p.watcher = &watcher{caller: c, gameID: gameID, watching: watching{after: fromStart(), every: true}, seen: p.see}
	p.start(t)
	return p
}

// see records an event and reacts to it, or, when a stream has been opened, reacts to the last one.
func (p *participant) see(ctx context.Context, message *pb.WatchResponse) error {
	e := message.GetEvent()
	switch action := e.GetAction().(type) {
	case *pb.Event_Created:
		p.seats = slices.Clone(action.Created.GetSeats())
	case *pb.Event_Joined:
		p.seats[e.GetSeat()] = action.Joined.GetSeat()
	case *pb.Event_TimedOut:
		p.seats[e.GetSeat()] = proto.CloneOf(p.seats[e.GetSeat()])
		p.seats[e.GetSeat()].StandIn = action.TimedOut.GetStandIn()
	}
	if e != nil {
		p.events = append(p.events, e)
	}
	if n := len(p.events); n > 0 && (e != nil || message == nil) {
		return p.play(ctx, p.events[n-1])
	}
	return nil
}

// play makes a move if it is the participant's turn. If the game has already advanced, the
// participant learns that from the next event.
func (p *participant) play(ctx context.Context, e *pb.Event) error {
	c := p.caller
	position := e.GetPosition()
	if position.Turn == nil {
		return nil
	}
	seat := p.seats[position.GetTurn()]
	if seat.GetPlayer().GetId() != c.id {
		return nil
	}
	<-time.After(p.pace)
	var err error
	if seat.GetStandIn() == "" {
		legal := position.GetTribolo().GetLegalMoves()
		_, err = c.jump(ctx, p.gameID, e.GetVersion(), legal[p.rng.IntN(len(legal))].GetCell())
	} else {
		_, err = c.join(ctx, p.gameID)
	}
	err = c.retryable(ctx, err)
	if r := refusalOf(err); r.Reason == pb.ReasonVersionConflict || r.Reason == pb.ReasonGameOver {
		return nil
	}
	return err
}
