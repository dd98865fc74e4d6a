package rpc

import (
	"context"
	"time"

	"google.golang.org/grpc"
	"google.golang.org/protobuf/proto"
	"google.golang.org/protobuf/types/known/timestamppb"

	pb "github.com/gridstand/gridstand/proto/gridstand/v1"
	"github.com/gridstand/gridstand/server/internal/front"
)

// WatchChallenge implements pb.ChallengeServiceServer.
func (s *Service) WatchChallenge(request *pb.WatchChallengeRequest, stream grpc.ServerStreamingServer[pb.WatchChallengeResponse]) error {
	v, err := s.OpenWatchChallenge(stream.Context(), request, stream)
	if err != nil {
		return err
	}
	defer v.Close()
	return v.follow()
}

// OpenWatchChallenge performs all of WatchChallenge's checks and waits for the first
// snapshot. As with OpenWatch, Start sends the messages, and the caller must close
// the view if err is nil.
func (s *Service) OpenWatchChallenge(ctx context.Context, request *pb.WatchChallengeRequest, stream grpc.ServerStream) (*View, error) {
	id, err := challengeID(request.GetChallengeId())
	if err != nil {
		return nil, err
	}
	ctx, cancel := context.WithTimeout(ctx, maxCall)
	defer cancel()
	budget := front.BudgetOf(ctx)
	if err := budget.Check(1); err != nil { // in addition to that of each call
		return nil, err
	}
	leave, err := budget.Enter(ctx, front.Reading)
	if err != nil {
		return nil, err
	}
	defer leave()
	v := &challengeView{
		View: View{
			service: s, method: pb.ChallengeService_WatchChallenge_FullMethodName, stream: stream, form: formOf(stream),
			done: stream.Context().Done(),
		},
		playerID: caller(ctx).ID, address: front.AddressOf(ctx),
	}
	v.updates = v
	v.live = s.addStream(ctx, id, v.address)
	first, err := v.live.first(ctx)
	if err != nil {
		v.Close()
		return nil, err
	}
	if first.message.GetEtag() == request.GetEtag() {
		v.sent = first
	}
	return &v.View, nil
}

// challengeView is a view of a challenge.
type challengeView struct {
	View
	live *liveChallenge
	// playerID and address are those of the caller; playerID is empty without a token.
	playerID, address string
	sent              *challengeSnapshot // last snapshot that the client has
}

// Close implements updates.
func (v *challengeView) Close() { v.service.removeStream(v.live, v.playerID, v.address) }

// Over implements updates.
func (v *challengeView) Over() bool {
	latest := v.live.latest.Load()
	return latest.final && latest == v.sent
}

// next returns the latest snapshot whenever there is a new one. A slow client misses the
// snapshots in between. If the first is older than freshFor, it gets the present time, by which
// clients count down.
func (v *challengeView) next() (message any, changed <-chan struct{}, err error) {
	latest := v.live.latest.Load()
	switch {
	case latest.err != nil:
		return nil, nil, latest.err
	case v.sent == nil && time.Since(latest.at) > freshFor:
		v.sent = latest
		m := proto.CloneOf(latest.message)
		m.Now = timestamppb.New(m.GetNow().AsTime().Add(time.Since(latest.at)))
		return v.encode(m), nil, nil
	case latest != v.sent:
		v.sent = latest
		return latest.Encoded(v.form, func() any { return v.encode(latest.message) }), nil, nil
	}
	return nil, latest.replaced, context.Cause(v.stream.Context())
}
