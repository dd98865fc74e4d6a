package client_test

import (
	"context"
	"sync"
	"time"

	"google.golang.org/grpc/codes"

	"github.com/gridstand/gridstand/game"
	"github.com/gridstand/gridstand/game/replay"
	"github.com/gridstand/gridstand/game/variants"
	pb "github.com/gridstand/gridstand/proto/gridstand/v1"
	"github.com/gridstand/gridstand/proto/translate"
)

// table is a server with the real rules, at which one game is played: from a
// fixed seed, so that what happens at it can be told beforehand.
type table struct {
	*accounts

	mu     sync.Mutex
	state  *replay.State // nil before the game
	events []*pb.Event
	more   chan struct{} // closed and replaced with each event
}

func newTable() *table {
	t := &table{accounts: newAccounts(pb.Storage_STORAGE_EMBEDDED), more: make(chan struct{})}
	t.createGame = t.open
	t.move = t.slide
	t.watch = t.show
	return t
}

// append adds what happened; t.mu is held.
func (t *table) append(e *replay.Event) *pb.Event {
	t.state = e.State
	t.events = append(t.events, translate.Event(e))
	close(t.more)
	t.more = make(chan struct{})
	return t.events[len(t.events)-1]
}

func (t *table) open(_ int, r *pb.CreateGameRequest) (*pb.Game, error) {
	t.mu.Lock()
	defer t.mu.Unlock()
	variant, ok := variants.Current(r.GetVariant())
	if !ok {
		return nil, refuse(codes.NotFound, pb.ReasonVariantNotFound)
	}
	seed, err := game.SeedFromBytes(make([]byte, game.SeedSize))
	if err != nil {
		return nil, err
	}
	var seats []replay.Seat
	for _, p := range t.players {
		seats = append(seats, replay.Seat{Player: replay.Player{ID: p.GetId(), Name: p.GetName(), Bot: p.GetBot()}})
	}
	e, err := replay.Start(gameID, replay.Entry{Seat: game.NoSeat, Action: replay.Created{
		Variant: variant.ID, Revision: variant.Revision, Seats: seats, Commitment: seed.Commitment(),
	}}, seed, time.Now())
	if err != nil {
		return nil, err
	}
	t.append(e)
	return translate.Game(t.state, 0), nil
}

func (t *table) slide(_ int, _ context.Context, r *pb.MoveRequest) (*pb.Event, error) {
	t.mu.Lock()
	defer t.mu.Unlock()
	direction, _ := translate.Direction(r.GetDirection())
	e, err := t.state.Apply(replay.Entry{Action: replay.Moved{Move: game.Slide(direction), ByBot: r.GetByBot()}}, time.Now())
	if err != nil {
		return nil, refuse(codes.FailedPrecondition, pb.ReasonIllegalMove)
	}
	return t.append(e), nil
}

func (t *table) show(_ int, r *pb.WatchRequest, s watchStream) error {
	for version := int(r.GetAfterVersion()); ; {
		t.mu.Lock()
		events, over, more := t.events, t.state.Status == replay.Finished, t.more
		t.mu.Unlock()
		for ; version < len(events); version++ {
			if err := s.Send(&pb.WatchResponse{Update: &pb.WatchResponse_Event{Event: events[version]}}); err != nil {
				return err
			}
		}
		if over {
			return nil
		}
		select {
		case <-more:
		case <-s.Context().Done():
			return s.Context().Err()
		}
	}
}
