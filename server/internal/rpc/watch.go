package rpc

import (
	"context"
	"errors"
	"math/rand/v2"
	"time"

	"golang.org/x/sync/semaphore"
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
	address, replays, err := s.enterWatch(stream.Context())
	if err != nil {
		return err
	}
	defer s.addressStreams.Leave(address)
	m, state, err := s.enter(stream.Context(), id)
	if err != nil {
		return err
	}
	defer m.Release()
	player := caller(stream.Context())
	v := &view{
		service: s, match: m, replays: replays, stream: innermost(stream), everyEvent: request.GetEveryEvent(), playerID: player.ID,
	}
	if grpc.ServerTransportStreamFromContext(stream.Context()) == nil {
		v.form = match.Message
	}
	role := match.Spectator
	switch {
	case len(state.SeatsOf(player.ID)) > 0:
		role = match.Player
	case request.GetPreview():
		role = match.Preview
	}
	if err := s.admit(v, role); err != nil {
		return err
	}
	defer v.watcher.Close()
	defer s.Planner.Watched(state, address)()
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
func (s *Service) admit(v *view, role match.Role) error {
	s.admitting.Lock()
	defer s.admitting.Unlock()
	if limit := s.Limits.WatchersPerGame; limit > 0 && role != match.Player && v.match.Limited() >= limit {
		return s.Limits.Exceeded(&s.Limits.WatchersPerGame, "watchers of one game", fullRetry)
	}
	ctx := v.stream.Context()
	v.match.Watch(ctx, &v.watcher, role, func() { s.onStall(ctx) })
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
		case interface{ Unwrap() grpc.ServerStream }:
			stream = outer.Unwrap()
		default:
			return stream
		}
	}
}

// view is a watcher's stream and its progress.
type view struct {
	// The fields that each event needs come first, in one cache line.
	version    int32 // the last one sent
	owed       int32 // up to this version every event is sent
	over       bool  // the game's end was sent
	everyEvent bool
	form       match.Form
	stream     grpc.ServerStream // the innermost
	watcher    match.Watcher

	service  *Service
	match    *match.Match
	replays  *semaphore.Weighted // slots of the watcher's address for reading the past
	playerID string              // of the watcher; empty without a token
}

// resume starts after a version that the watcher has, in a game at state.
func (v *view) resume(after int32, state *replay.State) error {
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
func (v *view) follow() error {
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
			err = v.send(update.Audience.Encoded(v.form, func() any { return v.encode(audience(update.Audience.Watchers)) }))
		case update.Err != nil:
			err = update.Err
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
	return v.send(e.Encoded(v.form, func() any {
		return v.encode(&pb.WatchResponse{Update: &pb.WatchResponse_Event{Event: translate.Event(e.Event)}})
	}))
}

// replay sends the past that is no longer in memory.
func (v *view) replay() error {
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

// encode marshals a message once for all watchers: marshalling it for each of 20,000
// streams halves their throughput. The result depends on the codec and the
// compressor; the server has one codec and no compressor.
func (v *view) encode(m *pb.WatchResponse) any {
	if v.form != match.Prepared {
		return m
	}
	prepared := &grpc.PreparedMsg{}
	if err := prepared.Encode(v.stream, m); err != nil {
		return m
	}
	return prepared
}

var errStalled = serverUnavailable("nothing was read from this stream for too long")

// onStall ends a stream whose handler waits in Send, from another goroutine. Ending
// Send's context would also end it, but with Canceled, after which clients must not
// retry.
//
// gRPC keeps the messages that it accepted, and the status, until the client reads
// them: some 100 kB for as long as the connection is open. So a client that goes on
// reading nothing loses the connection, too. match/watch_stalled.go finds such streams.
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
		s.HangUp(p.Addr, s.Hub.Stall)
	}
}

func (v *view) send(m any) error {
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
