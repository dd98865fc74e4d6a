package rpc

import (
	"context"

	"google.golang.org/grpc"

	pb "github.com/gridstand/gridstand/proto/gridstand/v1"
	"github.com/gridstand/gridstand/server/internal/match"
)

// WatchChallenge implements pb.ChallengeServiceServer.
func (s *Service) WatchChallenge(request *pb.WatchChallengeRequest, stream grpc.ServerStreamingServer[pb.WatchChallengeResponse]) error {
	v, err := s.OpenWatchChallenge(request, stream)
	if err != nil {
		return err
	}
	defer v.Close()
	if err := v.begin(); err != nil {
		return err
	}
	return v.follow()
}

// OpenWatchChallenge performs all of WatchChallenge's checks and waits for the first
// snapshot. As with OpenWatch, Begin and Follow send the messages, and the caller must
// close the view if err is nil.
func (s *Service) OpenWatchChallenge(request *pb.WatchChallengeRequest, stream grpc.ServerStream) (_ *ChallengeView, err error) {
	id, err := challengeID(request.GetChallengeId())
	if err != nil {
		return nil, err
	}
	address := s.Address(stream.Context())
	v := &ChallengeView{service: s, stream: innermost(stream), etag: request.GetEtag()}
	v.form = formOf(v.stream)
	v.live = s.addStream(id, address)
	ctx, cancel := context.WithTimeout(stream.Context(), maxCall)
	defer cancel()
	if v.next, err = v.live.first(ctx); err != nil {
		v.Close()
		return nil, err
	}
	return v, nil
}

// ChallengeView is a client's stream of a challenge and the client's progress. It must not
// be used concurrently.
type ChallengeView struct {
	service *Service
	live    *liveChallenge
	stream  grpc.ServerStream // innermost stream
	form    match.Form

	etag string             // etag of the last snapshot sent
	next *challengeSnapshot // next snapshot to send, unless the client already has it
}

// Close ends the watch and removes the stream from the challenge.
func (v *ChallengeView) Close() {
	v.service.removeStream(v.live)
}

// Over reports whether the client has the final standings.
func (v *ChallengeView) Over() bool { return v.next.final && v.next.etag() == v.etag }

// Begin sends the headers and, unless the client already has it, the first snapshot. Like
// Follow, it returns only status errors that the contract defines.
func (v *ChallengeView) Begin() error { return v.translate(v.begin()) }

// Follow sends snapshots until the watch ends. It returns nil once the final standings
// have been sent.
func (v *ChallengeView) Follow() error {
	return v.translate(v.service.recovered(pb.ChallengeService_WatchChallenge_FullMethodName, v.follow))
}

func (v *ChallengeView) translate(err error) error {
	if err == nil {
		return nil
	}
	return v.service.toStatus(v.stream.Context(), pb.ChallengeService_WatchChallenge_FullMethodName, err)
}

func (v *ChallengeView) begin() error {
	if v.next.etag() != v.etag {
		return v.send(v.next)
	}
	// The client may wait a long time for its first snapshot.
	return v.stream.SendHeader(nil)
}

// follow sends the latest snapshot whenever there is a new one. A slow client misses the
// snapshots in between.
func (v *ChallengeView) follow() error {
	ctx := v.stream.Context()
	for !v.next.final {
		select {
		case <-v.next.replaced:
		case <-ctx.Done():
			return context.Cause(ctx)
		}
		v.next = v.live.latest.Load()
		if v.next.err != nil {
			return v.next.err
		}
		if v.next.etag() != v.etag || v.next.keepAlive {
			if err := v.send(v.next); err != nil {
				return err
			}
		}
	}
	return nil
}

func (v *ChallengeView) send(snapshot *challengeSnapshot) error {
	encoded := snapshot.Encoded(v.form, func() any { return encodeFor(v.stream, v.form, snapshot.message) })
	err := sent(v.stream.SendMsg(encoded))
	if err == nil {
		v.etag = snapshot.etag()
	}
	return err
}
