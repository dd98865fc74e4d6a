package rpc

import (
	"context"
	"errors"
	"math/rand/v2"
	"time"

	"google.golang.org/grpc"
	"google.golang.org/grpc/metadata"
	"google.golang.org/grpc/peer"
	"google.golang.org/grpc/status"

	"github.com/gridstand/gridstand/game/replay"
	pb "github.com/gridstand/gridstand/proto/gridstand/v1"
	"github.com/gridstand/gridstand/proto/translate"
	"github.com/gridstand/gridstand/server/internal/invalid"
	"github.com/gridstand/gridstand/server/internal/match"
)

// Watch implements the contract.
func (s *Service) Watch(request *pb.WatchRequest, stream grpc.ServerStreamingServer[pb.WatchResponse]) error {
	id, err := gameID(request.GetGameId())
	if err != nil {
		return err
	}
	if request.GetAfterVersion() < 0 {
		return invalid.Field("after_version", "must not be negative")
	}
	visitors, err := s.watching(stream.Context())
	if err != nil {
		return err
	}
	defer visitors.leave()
	m, state, err := s.enter(stream.Context(), id)
	if err != nil {
		return err
	}
	defer m.Release()
	player := caller(stream.Context())
	v := &view{
		service: s, match: m, visitors: visitors, stream: innermost(stream), everyEvent: request.GetEveryEvent(), playerID: player.ID,
	}
	if err := s.admit(v, len(state.SeatsOf(player.ID)) == 0); err != nil {
		return err
	}
	defer v.watcher.Close()
	defer s.Planner.Watched(state, visitors.address)()
	if request.AfterVersion == nil {
		err = v.sendGame(state)
	} else {
		err = v.resume(request.GetAfterVersion(), state)
		if err == nil {
			// A reader who resumes may wait long for the first event; the header
			// tells that the stream stands.
			err = stream.SendHeader(nil)
		}
	}
	if err != nil {
		return err
	}
	return v.follow()
}

// enter returns a game and its state as the log bears it out. It has to be
// released unless there is an error. What it needs on the way is gone when a
// watcher settles down.
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

// admit adds a watcher unless the game has as many as it may. One at a time is
// admitted, so that those who come together are not more.
func (s *Service) admit(v *view, counted bool) error {
	s.admitting.Lock()
	defer s.admitting.Unlock()
	if limit := s.Limits.WatchersPerGame; limit > 0 && counted && v.match.Watchers() >= limit {
		return s.exceeded(&s.Limits.WatchersPerGame, "watchers of one game", fullRetry)
	}
	ctx := v.stream.Context()
	v.match.Watch(ctx, &v.watcher, counted, func() { s.onStall(ctx) })
	return nil
}

// innermost returns what is within a stream of Watch, whose messages nothing
// around it changes or counts: each layer is one more place in memory that an
// event has to fetch for each watcher, and took 2 to 5 % of what it costs.
func innermost(stream grpc.ServerStream) grpc.ServerStream {
	for {
		switch outer := stream.(type) {
		case *grpc.GenericServerStream[pb.WatchRequest, pb.WatchResponse]:
			stream = outer.ServerStream
		case interface{ Unwrap() grpc.ServerStream }:
			stream = outer.Unwrap()
		default:
			return stream
		}
	}
}

// view is a watcher's stream and how far it has come.
type view struct {
	// What each event needs comes first, side by side.
	version    int32 // that the reader has
	owed       int32 // version up to which the reader asked for every event
	over       bool  // the game's end was sent
	everyEvent bool
	stream     grpc.ServerStream // the innermost
	watcher    match.Watcher

	service  *Service
	match    *match.Match
	visitors *visitors // of the same address
	playerID string    // of the reader, empty for nobody
}

// resume begins after a version that the reader has, in a game at state.
func (v *view) resume(after int32, state *replay.State) error {
	if after > state.Version {
		return &match.VersionConflictError{Version: state.Version}
	}
	v.version, v.owed = after, state.Version
	v.over = state.Status == replay.Finished && after == state.Version
	return nil
}

// latencySampleRate is of how many events that were shown to somebody one is latencySampleRate: to look
// at the clock for each would take a twentieth of all that it costs to show it.
const latencySampleRate = 16

// follow sends what comes, until the game is over or the reader leaves.
func (v *view) follow() error {
	for !v.over {
		look, changed := v.watcher.Look(v.version)
		var err error
		switch {
		case look.Event != nil:
			err = v.sendEvent(look.Event)
			if rand.Uint32()%latencySampleRate == 0 {
				v.service.Meter.FanOut(time.Since(look.Event.Seen))
			}
		case look.Missed != nil && (v.everyEvent || v.version < v.owed):
			err = v.replay()
		case look.Missed != nil:
			v.service.Meter.Conflated()
			err = v.sendGame(look.Missed)
		case look.Audience != nil:
			err = v.send(look.Audience.Encoded(func() any { return v.encode(audience(look.Audience.Watchers)) }))
		case look.Err != nil:
			err = look.Err
		default:
			// Not also for the end of the stream: to wait on two channels takes
			// twice the time, for each event, and match.Watcher learns of it.
			<-changed
		}
		if err != nil {
			return err
		}
	}
	return nil
}

func audience(n int) *pb.WatchResponse {
	return &pb.WatchResponse{Update: &pb.WatchResponse_Audience{Audience: int32(n)}}
}

func (v *view) sendGame(state *replay.State) error {
	v.version, v.over = state.Version, state.Status == replay.Finished
	if len(state.SeatsOf(v.playerID)) > 0 {
		v.watcher.Discount()
	}
	return v.send(&pb.WatchResponse{Update: &pb.WatchResponse_Game{
		Game: translate.Game(state, v.match.Watchers()),
	}})
}

func (v *view) sendEvent(e *match.Event) error {
	v.version, v.over = e.Version(), e.State.Status == replay.Finished
	if joined, ok := e.Entry.Action.(replay.Joined); ok && joined.Player.ID == v.playerID {
		v.watcher.Discount()
	}
	return v.send(e.Encoded(func() any {
		return v.encode(&pb.WatchResponse{Update: &pb.WatchResponse_Event{Event: translate.Event(e.Event)}})
	}))
}

// replay sends the past that memory does not have.
func (v *view) replay() error {
	ctx := v.stream.Context()
	turn := func(work func() error) error { return v.service.turn(ctx, work) }
	return v.visitors.replay(ctx, func() error { return v.match.Replay(ctx, v.version, turn, v.sendEvent) })
}

// encode prepares a message once for all who get it: marshalling it anew for
// each of 20,000 streams costs more than half of their throughput. It is tied
// to the codec and compressor, of which the server has one and none.
func (v *view) encode(m *pb.WatchResponse) any {
	prepared := &grpc.PreparedMsg{}
	if err := prepared.Encode(v.stream, m); err != nil {
		return m
	}
	return prepared
}

var errStalled = serverUnavailable("nothing was read from this stream for too long")

// onStall ends a stream whose handler waits in Send, from another goroutine. The
// end of the context that Send waits on would get it out of there as well, but
// then gRPC tells the reader Canceled, which it must not take for a reason to
// come again.
//
// gRPC keeps what it took for the stream until the reader takes that, and the
// status after it. One who never does holds some 100 kB for as long as there is
// the connection, which is why that ends too.
func (s *Service) onStall(ctx context.Context) {
	stream, ok := grpc.ServerTransportStreamFromContext(ctx).(interface {
		SetTrailer(md metadata.MD) error
		WriteStatus(st *status.Status) error
	})
	if ok {
		_ = stream.SetTrailer(errStalled.trailer())
		_ = stream.WriteStatus(errStalled.GRPCStatus())
	}
	if p, ok := peer.FromContext(ctx); ok {
		s.HangUp(p.Addr)
	}
}

func (v *view) send(m any) error {
	v.watcher.Takes()
	err := v.stream.SendMsg(m)
	if !v.watcher.Took() {
		return errStalled
	}
	if err != nil {
		// The connection or the stream has ended; nobody hears the answer.
		return errors.Join(context.Canceled, err)
	}
	return nil
}
