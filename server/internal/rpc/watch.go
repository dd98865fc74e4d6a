package rpc

import (
	"context"
	"math/rand/v2"
	"sync/atomic"
	"time"

	"google.golang.org/grpc"
	"google.golang.org/grpc/mem"

	"github.com/gridstand/gridstand/game"
	"github.com/gridstand/gridstand/game/replay"
	pb "github.com/gridstand/gridstand/proto/gridstand/v1"
	"github.com/gridstand/gridstand/proto/translate"
	"github.com/gridstand/gridstand/server/internal/front"
	"github.com/gridstand/gridstand/server/internal/invalid"
	"github.com/gridstand/gridstand/server/internal/match"
)

// Watch implements pb.GameServiceServer.
func (s *Service) Watch(request *pb.WatchRequest, stream grpc.ServerStreamingServer[pb.WatchResponse]) error {
	v, err := s.OpenWatch(stream.Context(), request, stream)
	if err != nil {
		return err
	}
	defer v.Close()
	return v.follow()
}

// OpenWatch performs all of Watch's checks and adds a watcher to the game. Start
// sends the messages. If err is nil, the caller must close the view. ctx contains the caller;
// the stream and its own context stay in memory while the view is open.
func (s *Service) OpenWatch(ctx context.Context, request *pb.WatchRequest, stream grpc.ServerStream) (_ *View, err error) {
	if request.GetAfterVersion() < 0 {
		return nil, invalid.Field("after_version", "must not be negative")
	}
	player := caller(ctx)
	v := &gameView{
		View:       View{service: s, method: pb.GameService_Watch_FullMethodName, stream: stream, form: formOf(stream)},
		everyEvent: request.GetEveryEvent(), preview: request.GetPreview(), budget: front.BudgetOf(ctx), playerID: player.ID,
	}
	v.updates = v
	v.sharer, _ = stream.(Sharer)
	var state *replay.State
	if v.match, state, err = s.openMatch(ctx, request.GetGameId()); err != nil {
		return nil, err
	}
	role := match.Spectator
	switch {
	case v.preview:
		role = match.Uncounted
	case len(state.SeatsOf(player.ID)) > 0:
		role = match.Player
	}
	reads, err := v.begin(request.AfterVersion, state)
	if err == nil {
		err = v.budget.Check(reads)
	}
	if err != nil {
		v.match.Release()
		return nil, err
	}
	v.match.Watch(stream.Context(), &v.watcher, role)
	return &v.View, nil
}

// openMatch returns a game's match and the state that the caller may see, as confirmed by
// the log. If err is nil, the caller must release the match. openMatch is a separate
// function so that its stack frame is gone while the watcher waits.
func (s *Service) openMatch(ctx context.Context, givenID string) (*match.Match, *replay.State, error) {
	ctx, cancel := context.WithTimeout(ctx, maxCall)
	defer cancel()
	m, err := s.acquire(ctx, givenID, game.NoSeat)
	if err != nil {
		return nil, nil, err
	}
	var state *replay.State
	tip, err := m.Confirm(ctx)
	if err == nil {
		state, err = s.show(ctx, tip.State)
	}
	if err != nil {
		m.Release()
		return nil, nil, err
	}
	return m, state, nil
}

// gameView is a view of a game.
type gameView struct {
	View
	version    int32 // last version sent
	everyUntil int32 // send every event up to this version
	over       bool  // set once the client has been sent the end of the game
	everyEvent bool
	preview    bool
	watcher    match.Watcher // next to the fields above, because a delivery uses all of them

	match    *match.Match
	first    *replay.State  // the first message; nil if the view resumes
	past     *match.History // the events that are no longer in memory, while the client is sent them
	page     []any          // messages with events from past that were not sent yet
	written  chan struct{}  // closed when gRPC has written the last page; nil in other protocols
	budget   *front.Budget  // budget that the stream counts toward
	playerID string         // the watcher's player ID; empty without a token

	sharer Sharer                 // the stream, or nil if its protocol has no fanouts
	in     atomic.Pointer[fanout] // nil while the view is running on its own
	index  int                    // index in the fanout's members; guarded by the fanout's mu
}

// begin sets what the view sends first: the game, or what follows the last version that the
// client has. It returns the number of reads that events in memory count as; others count when
// they are read.
func (v *gameView) begin(after *int32, state *replay.State) (reads int, err error) {
	switch {
	case after == nil:
		v.first = state
	case *after > state.Version:
		return 0, &match.VersionConflictError{Version: state.Version}
	default:
		v.version, v.everyUntil = *after, state.Version
		v.over = state.Status == replay.Finished && *after == state.Version
	}
	return int(min(v.everyUntil-v.version, match.RingSize)) / front.EventsPerRead, nil
}

// Close implements updates.
func (v *gameView) Close() {
	v.watcher.Close()
	v.match.Release()
}

// Over implements updates.
func (v *gameView) Over() bool { return v.over && len(v.page) == 0 }

// Only one delivery in latencySampleRate is timed, because calling time.Now makes a
// delivery about 5% more expensive.
const latencySampleRate = 16

// next implements updates. The channel is also closed when the stream ends.
func (v *gameView) next() (message any, changed <-chan struct{}, err error) {
	if v.first != nil || len(v.page) > 0 {
		message, err = v.nextStored()
		return message, nil, err
	}
	update, changed := v.watcher.Next(v.version)
	if update == (match.Update{}) && v.opened && v.sharer != nil && v.sharer.CanTry() {
		if update, err = v.join(); err != nil {
			return nil, nil, err // If it has joined, v belongs to the fanout.
		}
	}
	if update.Missed == nil {
		v.past = nil
	}
	switch {
	case update.Event != nil:
		if rand.Uint32()%latencySampleRate == 0 {
			v.service.Metrics.FanOut(time.Since(update.Event.Seen))
		}
		message, err = v.event(update.Event)
	case update.Missed != nil && (v.everyEvent || v.version < v.everyUntil):
		if err = v.replay(); err == nil {
			return v.next()
		}
	case update.Missed != nil:
		v.service.Metrics.Conflated()
		message, err = v.game(update.Missed)
	case update.Audience != nil:
		message = v.encodeAudience(update.Audience)
	case update.Err != nil:
		err = update.Err
	}
	return message, changed, err
}

// nextStored returns the first message, or the next one of the page that replay read.
func (v *gameView) nextStored() (any, error) {
	if state := v.first; state != nil {
		v.first = nil
		return v.game(state)
	}
	message := v.page[0]
	v.page[0], v.page = nil, v.page[1:]
	return message, nil
}

// replay reads a page of the events that are no longer in memory. It keeps only their messages: a client
// that does not read would otherwise hold twice as much memory. gRPC queues 64 kB of messages, which take
// three times as much memory, so replay waits until it has written the page before.
func (v *gameView) replay() error {
	if v.past == nil {
		v.past = v.match.History(v.version)
	}
	ctx := v.stream.Context()
	if v.written != nil {
		select {
		case <-v.written:
		case <-ctx.Done():
			return context.Cause(ctx)
		}
	}
	read, err := v.past.Next(ctx, func(e *match.Event) error {
		message, err := v.event(e)
		v.page = append(v.page, message)
		return err
	})
	if err != nil {
		return err
	}
	if read == 0 {
		v.past = nil
		return nil
	}
	v.budget.Charge(1) // to encode and send the page
	if last, ok := v.page[len(v.page)-1].(mem.BufferSlice); ok && grpc.ServerTransportStreamFromContext(ctx) != nil {
		written := make(chan struct{})
		v.written = written
		v.page[len(v.page)-1] = front.Notify(last, func() { close(written) })
	}
	return nil
}

func (v *gameView) game(state *replay.State) (any, error) {
	v.version, v.over = state.Version, state.Status == replay.Finished
	if !v.preview && len(state.SeatsOf(v.playerID)) > 0 {
		v.watcher.SetRole(match.Player)
	}
	state, err := v.service.Challenges.Reveal(v.stream.Context(), state)
	if err != nil {
		return nil, err
	}
	return &pb.WatchResponse{Update: &pb.WatchResponse_Game{
		Game: translate.Game(state, v.match.Spectators()),
	}}, nil
}

func (v *gameView) event(e *match.Event) (any, error) {
	v.version, v.over = e.Version(), e.State.Status == replay.Finished
	v.seatIfJoined(e)
	if !v.over || !e.State.IsAttempt() {
		return v.encodeEvent(e), nil
	}
	// Streams do not share the encoding of an attempt's last event, because whether it
	// contains the seed depends on the time.
	state, err := v.service.Challenges.Reveal(v.stream.Context(), e.State)
	if err != nil {
		return nil, err
	}
	shown := *e.Event
	shown.State = state
	return v.encode(eventResponse(&shown)), nil
}

// seatIfJoined changes the watcher's role if the event makes the watcher a player. A player who only sees
// a preview is not present.
func (v *gameView) seatIfJoined(e *match.Event) {
	if joined, ok := e.Entry.Action.(replay.Joined); ok && joined.Player.ID == v.playerID && !v.preview {
		v.watcher.SetRole(match.Player)
	}
}

// encodeEvent encodes an event that is not the last event of an attempt.
func (v *gameView) encodeEvent(e *match.Event) any {
	return e.Encoded(v.form, func() any {
		return v.encode(eventResponse(e.Event))
	})
}

func eventResponse(e *replay.Event) *pb.WatchResponse {
	return &pb.WatchResponse{Update: &pb.WatchResponse_Event{Event: translate.Event(e)}}
}

func (v *gameView) encodeAudience(a *match.Audience) any {
	return a.Encoded(v.form, func() any {
		response := &pb.WatchResponse{Update: &pb.WatchResponse_Audience{Audience: int32(a.Spectators)}}
		if a.Reactions.Any() {
			response.Reactions = a.Reactions[:]
		}
		return v.encode(response)
	})
}
