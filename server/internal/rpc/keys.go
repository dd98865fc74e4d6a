package rpc

import (
	"context"
	"errors"

	"google.golang.org/protobuf/types/known/timestamppb"

	pb "github.com/gridstand/gridstand/proto/gridstand/v1"
	"github.com/gridstand/gridstand/server/internal/account"
	"github.com/gridstand/gridstand/server/internal/store"
)

// AddKey implements pb.PlayerServiceServer.
func (s *Service) AddKey(ctx context.Context, request *pb.AddKeyRequest) (*pb.AddKeyResponse, error) {
	p, err := s.limitedCaller(ctx)
	if err != nil {
		return nil, err
	}
	added, err := s.Keys.Add(ctx, p.ID, request.GetSignature(), request.GetComment())
	return &pb.AddKeyResponse{Key: key(added)}, err
}

// ListKeys implements pb.PlayerServiceServer.
func (s *Service) ListKeys(ctx context.Context, _ *pb.ListKeysRequest) (*pb.ListKeysResponse, error) {
	p, err := s.limitedCaller(ctx)
	if err != nil {
		return nil, err
	}
	all, err := s.Keys.List(ctx, p.ID)
	if err != nil {
		return nil, err
	}
	response := &pb.ListKeysResponse{}
	for _, k := range all {
		response.Keys = append(response.Keys, key(k))
	}
	return response, nil
}

// RemoveKey implements pb.PlayerServiceServer.
func (s *Service) RemoveKey(ctx context.Context, request *pb.RemoveKeyRequest) (*pb.RemoveKeyResponse, error) {
	p, err := s.limitedCaller(ctx)
	if err != nil {
		return nil, err
	}
	err = s.Keys.Remove(ctx, p.ID, request.GetFingerprint())
	if errors.Is(err, account.ErrKeyNotLinked) {
		err = errKeyNotFound
	}
	return &pb.RemoveKeyResponse{}, err
}

func key(k store.Key) *pb.Key {
	return &pb.Key{Fingerprint: k.Fingerprint, Comment: k.Comment, CreateTime: timestamppb.New(k.Added)}
}
