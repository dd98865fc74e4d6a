package rpc

import (
	"cmp"
	"context"

	"google.golang.org/protobuf/types/known/timestamppb"

	"github.com/gridstand/gridstand/internal/convert"
	pb "github.com/gridstand/gridstand/proto/gridstand/v1"
	"github.com/gridstand/gridstand/server/internal/invalid"
	"github.com/gridstand/gridstand/server/internal/store"
)

// CreateSessionLink implements pb.PlayerServiceServer.
func (s *Service) CreateSessionLink(ctx context.Context, _ *pb.CreateSessionLinkRequest) (*pb.CreateSessionLinkResponse, error) {
	code, expires, err := s.Sessions.Offer(ctx, caller(ctx).ID)
	return &pb.CreateSessionLinkResponse{Code: code, ExpireTime: timestamppb.New(expires)}, err
}

// OpenSession implements pb.PlayerServiceServer.
func (s *Service) OpenSession(ctx context.Context, request *pb.OpenSessionRequest) (*pb.OpenSessionResponse, error) {
	p, token, err := s.Sessions.Open(ctx, request.GetCode(), request.GetSecret(), request.GetComment())
	return &pb.OpenSessionResponse{Player: fullPlayer(p), Token: token}, err
}

// ListSessions implements pb.PlayerServiceServer.
func (s *Service) ListSessions(ctx context.Context, _ *pb.ListSessionsRequest) (*pb.ListSessionsResponse, error) {
	all, err := s.Sessions.List(ctx, caller(ctx).ID)
	return &pb.ListSessionsResponse{Sessions: convert.All(all, session)}, err
}

func session(s store.Session) *pb.Session {
	return &pb.Session{Id: s.ID, Comment: s.Comment, CreateTime: timestamppb.New(s.Opened)}
}

// EndSession implements pb.PlayerServiceServer.
func (s *Service) EndSession(ctx context.Context, request *pb.EndSessionRequest) (*pb.EndSessionResponse, error) {
	by := identityOf(ctx)
	id := cmp.Or(request.GetSessionId(), by.session)
	switch {
	case id == "":
		return nil, invalid.Field("session_id", "must be set unless a session makes the call")
	case by.session != "" && id != by.session:
		return nil, errLimitedSession
	}
	return &pb.EndSessionResponse{}, s.Sessions.End(ctx, by.player.ID, id)
}
