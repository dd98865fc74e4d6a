package rpc

import (
	"context"
	"errors"
	"math/rand/v2"
	"time"

	middleware "github.com/grpc-ecosystem/go-grpc-middleware/v2"
	"golang.org/x/sync/semaphore"
	"google.golang.org/grpc"

	"github.com/gridstand/gridstand/game/replay"
	pb "github.com/gridstand/gridstand/proto/gridstand/v1"
	"github.com/gridstand/gridstand/proto/translate"
	"github.com/gridstand/gridstand/server/internal/invalid"
	"github.com/gridstand/gridstand/server/internal/match"
)

// Watch implements the contract.
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

// OpenWatch makes all checks of Watch and adds a watcher to the game. Nothing is sent
// until Begin and Follow are called. The caller closes the view unless there is an error.
//
// A stream of another protocol than gRPC may implement Encoder and Aborter. Its context
// stays in memory for as long as the view is open.
func (s *Service) OpenWatch(request *pb.WatchRequest, stream grpc.ServerStream) (_ *View, err error) {
	id, err := gameID(request.GetGameId())
	if err != nil {
		return nil, err
	}
	if request.GetAfterVersion() < 0 {
		return nil, invalid.Field("after_version", "must not be negative")
	}
	address, replays, err := s.enterWatch(stream.Context())
	if err != nil {
		return nil, err
	}
	player := caller(stream.Context())
	v := &View{
		service: s, address: address, replays: replays, stream: innermost(stream),
		everyEvent: request.GetEveryEvent(), playerID: player.ID,
	}
	v.form = formOf(v.stream)
	defer func() {
		if err != nil {
			v.Close()
		}
	}()
	var state *replay.State
	if v.match, state, err = s.enter(stream.Context(), id); err != nil {
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
		role = match.Player
	case request.GetPreview():
		role = match.Preview
	}
	if err := s.admit(v, role); err != nil {
		return nil, err
	}
	v.left = s.Planner.Watched(state, address)
	return v, nil
}

// enter returns a game and its state, confirmed by the log. The caller releases the
// game unless there is an error. It is a function of its own so that its stack is
// free while the watcher waits.
func (s *Service) enter(ctx context.Context, id string) (*match.Match, *replay.State, error) {
	ctx, cancel := context.WithTimeout(ctx, maxCall)
	defer cancel()
	m, err := s.Hub.Acquire(ctx, id)
	if err != nil {
		return nil, nil, err
	}
	state, err := m.Confirm(ctx)
	if err != nil {
		m.Release()
		return nil, nil, err
	}
	return m, state, nil
}

// admit adds a watcher unless the game has as many as allowed. It admits one at a
// time, so that concurrent watchers cannot exceed the limit.
func (s *Service) admit(v *View, role match.Role) error {
	s.admitting.Lock()
	defer s.admitting.Unlock()
	if limit := s.Limits.WatchersPerGame; limit > 0 && role != match.Player && v.match.Limited() >= limit {
		return s.Limits.Exceeded(&s.Limits.WatchersPerGame, "watchers of one game", fullRetry)
	}
	v.match.Watch(v.stream.Context(), &v.watcher, role, v.onStall)
	return nil
}

// innermost returns the stream inside the wrappers of a Watch stream, none of which
// changes or counts messages. Each wrapper costs 2 to 5 % of a delivery, for one more
// place in memory to load.
func innermost(stream grpc.ServerStream) grpc.ServerStream {
	for {
		switch outer := stream.(type) {
		case *grpc.GenericServerStream[pb.WatchRequest, pb.WatchResponse]:
			stream = outer.ServerStream
		case *middleware.WrappedServerStream: // with the caller, whom later updates do not need
			stream = outer.ServerStream
		case interface{ Unwrap() grpc.ServerStream }:
			stream = outer.Unwrap()
		default:
			return stream
		}
	}
}

// View is a watcher's stream and its progress. It is for one goroutine at a time.
type View struct {
	// The fields that each event needs come first, in one cache line.
	version    int32 // the last one sent
	owed       int32 // up to this version every event is sent
	over       bool  // the game's end was sent
	everyEvent bool
	form       match.Form
	stream     grpc.ServerStream // the innermost
	sharing    *sharing          // nil unless the view may join a fanout
	watcher    match.Watcher

	service  *Service
	match    *match.Match        // nil until the game was loaded
	first    *replay.State       // what begin sends; nil if the view resumes
	left     func()              // ends what Planner.Watched noted; nil until the view is a watcher
	address  string              // that the stream is counted for
	replays  *semaphore.Weighted // slots of the watcher's address for reading the past
	playerID string              // of the watcher; empty without a token
}

// Close ends the watch.
func (v *View) Close() {
	if v.left != nil {
		v.left()
		v.watcher.Close()
	}
	if v.match != nil {
		v.match.Release()
	}
	v.service.addressStreams.Leave(v.address)
}

// Over reports whether the client has the last event of a finished game.
func (v *View) Over() bool { return v.over }

// Begin sends the headers and, unless the view resumes, the game. Like those of Follow,
// its errors are a status of the contract.
func (v *View) Begin() error { return v.translate(v.begin()) }

// Follow sends updates until the game is over, which is no error, or the watch ends.
func (v *View) Follow() error { return v.translate(v.recovered(v.follow)) }

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
	// A client that resumes may wait long for the first event; the headers tell it that
	// the stream is open.
	return v.stream.SendHeader(nil)
}

// resume starts after a version that the watcher has, in a game at state.
func (v *View) resume(after int32, state *replay.State) error {
	if after > state.Version {
		return &match.VersionConflictError{Version: state.Version}
	}
	v.version, v.owed = after, state.Version
	v.over = state.Status == replay.Finished && after == state.Version
	return nil
}

// latencySampleRate is the number of deliveries of which one is timed. time.Now costs
// about 5 % of a delivery.
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
		case update.Missed != nil && (v.everyEvent || v.version < v.owed):
			err = v.replay()
		case update.Missed != nil:
			v.service.Meter.Conflated()
			err = v.sendGame(update.Missed)
		case update.Audience != nil:
			err = v.send(v.encodeAudience(update.Audience))
		case update.Err != nil:
			err = update.Err
		case v.sharing != nil:
			err = v.join()
		default:
			// match.Watcher also signals the end of the stream: waiting on two
			// channels would take twice the time.
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
	return v.send(&pb.WatchResponse{Update: &pb.WatchResponse_Game{
		Game: translate.Game(state, v.match.Watchers()),
	}})
}

func (v *View) sendEvent(e *match.Event) error {
	v.version, v.over = e.Version(), e.State.Status == replay.Finished
	v.discountIfJoined(e)
	return v.send(v.encodeEvent(e))
}

// discountIfJoined takes a watcher off the audience that became a player by an event.
func (v *View) discountIfJoined(e *match.Event) {
	if joined, ok := e.Entry.Action.(replay.Joined); ok && joined.Player.ID == v.playerID {
		v.watcher.Discount()
	}
}

// replay sends the past that is no longer in memory.
func (v *View) replay() error {
	ctx, s := v.stream.Context(), v.service
	full := s.Limits.Exceeded(&s.Limits.WatchesPerAddress, "streams of one address that read a game's past at once", fullRetry)
	full.Value = s.replaysPerAddress()
	release, err := acquireSlot(ctx, v.replays, fullRetry, full)
	if err != nil {
		return err
	}
	defer release()
	turn := func(read, send func() error) error { return s.turn(ctx, read, send) }
	return v.match.Replay(ctx, v.version, turn, v.sendEvent)
}

func (v *View) send(m any) error {
	v.watcher.BeginSend()
	err := v.stream.SendMsg(m)
	if !v.watcher.EndSend() {
		return errStalled
	}
	if err != nil {
		// The connection or the stream has ended: the client gets no answer.
		return errors.Join(context.Canceled, err)
	}
	return nil
}
