package rpc

import (
	"context"
	"errors"
	"math/rand/v2"
	"time"

	middleware "github.com/grpc-ecosystem/go-grpc-middleware/v2"
	"google.golang.org/grpc"

	"github.com/gridstand/gridstand/game/replay"
	pb "github.com/gridstand/gridstand/proto/gridstand/v1"
	"github.com/gridstand/gridstand/proto/translate"
	"github.com/gridstand/gridstand/server/internal/invalid"
	"github.com/gridstand/gridstand/server/internal/match"
)

// Watch implements pb.GameServiceServer.
func (s *Service) Watch(request *pb.WatchRequest, stream grpc.ServerStreamingServer[pb.WatchResponse]) error {
	v, err := s.OpenWatch(request, stream)
	if err != nil {
		return err
	}
	defer v.Close()
	if err := v.begin(); err != nil {
		return err
	}
	return v.follow()
}

// OpenWatch performs all of Watch's checks and adds a watcher to the game. Begin and
// Follow send the messages. If err is nil, the caller must close the view.
//
// A stream that does not use gRPC may implement Encoder and Aborter. The stream's context
// stays in memory while the view is open.
func (s *Service) OpenWatch(request *pb.WatchRequest, stream grpc.ServerStream) (_ *View, err error) {
	id, err := gameID(request.GetGameId())
	if err != nil {
		return nil, err
	}
	if request.GetAfterVersion() < 0 {
		return nil, invalid.Field("after_version", "must not be negative")
	}
	address := s.Address(stream.Context())
	player := caller(stream.Context())
	v := &View{
		service: s, address: address, stream: innermost(stream),
		everyEvent: request.GetEveryEvent(), playerID: player.ID,
	}
	v.form = formOf(v.stream)
	defer func() {
		if err != nil {
			v.Close()
		}
	}()
	var state *replay.State
	if v.match, state, err = s.openMatch(stream.Context(), id); err != nil {
		return nil, err
	}
	if request.AfterVersion == nil {
		v.first = state
	} else if err := v.resume(request.GetAfterVersion(), state); err != nil {
		return nil, err
	}
	role := match.Spectator
	switch {
	case len(state.SeatsOf(player.ID)) > 0:
		role = match.Uncounted
	case request.GetPreview():
		role = match.Preview
	}
	if err := s.admit(v, role); err != nil {
		return nil, err
	}
	v.admitted = true
	return v, nil
}

// openMatch returns a game's match and the state that the caller may see, as confirmed by
// the log. If err is nil, the caller must release the match. openMatch is a separate
// function so that its stack frame is gone while the watcher waits.
func (s *Service) openMatch(ctx context.Context, id string) (*match.Match, *replay.State, error) {
	ctx, cancel := context.WithTimeout(ctx, maxCall)
	defer cancel()
	m, err := s.Hub.Acquire(ctx, id)
	if err != nil {
		return nil, nil, err
	}
	state, err := m.Confirm(ctx)
	if err == nil {
		state, err = s.show(ctx, state)
	}
	if err != nil {
		m.Release()
		return nil, nil, err
	}
	return m, state, nil
}

// watchersRetry is how long a client should wait before a retry if a game has too many watchers.
const watchersRetry = 5 * time.Second

// admit adds v as a watcher unless the game has reached its limit. It admits one watcher
// at a time, so that concurrent watchers cannot exceed the limit.
func (s *Service) admit(v *View, role match.Role) error {
	s.admitting.Lock()
	defer s.admitting.Unlock()
	if limit := s.Limits.WatchersPerGame; limit > 0 && role != match.Uncounted && v.match.Limited() >= limit {
		return s.Limits.Exceeded(&s.Limits.WatchersPerGame, "watchers of one game", watchersRetry)
	}
	v.match.Watch(v.stream.Context(), &v.watcher, role)
	return nil
}

// innermost unwraps a Watch stream. The wrappers neither change nor count messages, but
// each one adds a load from memory that makes a delivery 2 to 5% more expensive.
func innermost(stream grpc.ServerStream) grpc.ServerStream {
	for {
		switch outer := stream.(type) {
		case *grpc.GenericServerStream[pb.WatchRequest, pb.WatchResponse]:
			stream = outer.ServerStream
		case *grpc.GenericServerStream[pb.WatchChallengeRequest, pb.WatchChallengeResponse]:
			stream = outer.ServerStream
		case *middleware.WrappedServerStream: // It has the caller, which later updates do not need.
			stream = outer.ServerStream
		case interface{ Unwrap() grpc.ServerStream }:
			stream = outer.Unwrap()
		default:
			return stream
		}
	}
}

// View is a watcher's stream and the watcher's progress. It must not be used concurrently.
type View struct {
	version    int32 // last version sent
	everyUntil int32 // send every event up to this version
	over       bool  // set once the client has been sent the end of the game
	everyEvent bool
	admitted   bool // set once watcher is registered
	form       match.Form
	stream     grpc.ServerStream // innermost stream
	watcher    match.Watcher

	service  *Service
	sharing  *sharing      // nil unless the view may join a fanout
	match    *match.Match  // nil until the game is loaded
	first    *replay.State // sent by begin; nil if the view resumes
	address  string        // address that the stream counts toward
	playerID string        // the watcher's player ID; empty without a token
}

// Close ends the watch and releases the game.
func (v *View) Close() {
	if v.admitted {
		v.watcher.Close()
	}
	if v.match != nil {
		v.match.Release()
	}
}

// Over reports whether the client has the last event of a finished game.
func (v *View) Over() bool { return v.over }

// Begin sends the headers and, unless the view resumes, the game. Like Follow, it returns
// errors that are statuses of the contract.
func (v *View) Begin() error { return v.translate(v.begin()) }

// Follow sends updates until the watch ends. It returns nil if the game is over.
func (v *View) Follow() error {
	return v.translate(v.service.recovered(pb.GameService_Watch_FullMethodName, v.follow))
}

func (v *View) translate(err error) error {
	if err == nil {
		return nil
	}
	return v.service.toStatus(v.stream.Context(), pb.GameService_Watch_FullMethodName, err)
}

func (v *View) begin() error {
	if state := v.first; state != nil {
		v.first = nil
		return v.sendGame(state)
	}
	// A client that resumes may wait a long time for its first event. The headers tell it
	// that the stream is open.
	return v.stream.SendHeader(nil)
}

// Only one delivery in latencySampleRate is timed, because calling time.Now makes a
// delivery about 5% more expensive.
const latencySampleRate = 16

// follow sends updates until the game is over or the watcher leaves.
func (v *View) follow() error {
	for !v.over {
		update, changed := v.watcher.Next(v.version)
		var err error
		switch {
		case update.Event != nil:
			err = v.sendEvent(update.Event)
			if rand.Uint32()%latencySampleRate == 0 {
				v.service.Meter.FanOut(time.Since(update.Event.Seen))
			}
		case update.Missed != nil && (v.everyEvent || v.version < v.everyUntil):
			err = v.replay()
		case update.Missed != nil:
			v.service.Meter.Conflated()
			err = v.sendGame(update.Missed)
		case update.Audience != nil:
			err = v.send(v.encodeAudience(update.Audience))
		case update.Err != nil:
			err = update.Err
		case v.form == match.Record && v.sharing != nil:
			err = v.join()
		default:
			// match.Watcher also signals when the stream ends, because waiting on two
			// channels would take twice as long.
			<-changed
		}
		if err != nil {
			return err
		}
	}
	return nil
}

func (v *View) sendGame(state *replay.State) error {
	v.version, v.over = state.Version, state.Status == replay.Finished
	if len(state.SeatsOf(v.playerID)) > 0 {
		v.watcher.Discount()
	}
	state, err := v.service.revealed(v.stream.Context(), state)
	if err != nil {
		return err
	}
	return v.send(&pb.WatchResponse{Update: &pb.WatchResponse_Game{
		Game: translate.Game(state, v.match.Spectators()),
	}})
}

func (v *View) sendEvent(e *match.Event) error {
	v.version, v.over = e.Version(), e.State.Status == replay.Finished
	v.discountIfJoined(e)
	if v.over && e.State.IsAttempt() {
		return v.sendEndOfAttempt(e.Event)
	}
	return v.send(v.encodeEvent(e))
}

// discountIfJoined removes a watcher from the audience count if the event makes the
// watcher a player.
func (v *View) discountIfJoined(e *match.Event) {
	if joined, ok := e.Entry.Action.(replay.Joined); ok && joined.Player.ID == v.playerID {
		v.watcher.Discount()
	}
}

func (v *View) send(m any) error { return sent(v.stream.SendMsg(m)) }

// sent returns the error with which a stream ends if a message could not be sent.
func sent(err error) error {
	if err == nil {
		return nil
	}
	// The connection or the stream has ended, so the client gets no response.
	return errors.Join(context.Canceled, err)
}
