package rpc

import (
	"context"

	"google.golang.org/protobuf/types/known/timestamppb"

	"github.com/gridstand/gridstand/internal/convert"
	pb "github.com/gridstand/gridstand/proto/gridstand/v1"
	"github.com/gridstand/gridstand/server/internal/store"
)

// AddKey implements pb.PlayerServiceServer.
func (s *Service) AddKey(ctx context.Context, request *pb.AddKeyRequest) (*pb.AddKeyResponse, error) {
	added, err := s.Keys.Add(ctx, caller(ctx).ID, request.GetSignature(), request.GetComment())
	return &pb.AddKeyResponse{Key: key(added)}, err
}

// ListKeys implements pb.PlayerServiceServer.
func (s *Service) ListKeys(ctx context.Context, _ *pb.ListKeysRequest) (*pb.ListKeysResponse, error) {
	all, err := s.Keys.List(ctx, caller(ctx).ID)
	return &pb.ListKeysResponse{Keys: convert.All(all, key)}, err
}

// RemoveKey implements pb.PlayerServiceServer.
func (s *Service) RemoveKey(ctx context.Context, request *pb.RemoveKeyRequest) (*pb.RemoveKeyResponse, error) {
	return &pb.RemoveKeyResponse{}, s.Keys.Remove(ctx, caller(ctx).ID, request.GetFingerprint())
}

func key(k store.Key) *pb.Key {
	return &pb.Key{Fingerprint: k.Fingerprint, Comment: k.Comment, CreateTime: timestamppb.New(k.Added)}
}
