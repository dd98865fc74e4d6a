package rpc

import (
	"context"

	pb "github.com/gridstand/gridstand/proto/gridstand/v1"
)

// AddKey implements the contract.
func (s *Service) AddKey(ctx context.Context, _ *pb.AddKeyRequest) (*pb.AddKeyResponse, error) {
	return nil, keysUnavailable(ctx)
}

// ListKeys implements the contract.
func (s *Service) ListKeys(ctx context.Context, _ *pb.ListKeysRequest) (*pb.ListKeysResponse, error) {
	return nil, keysUnavailable(ctx)
}

// RemoveKey implements the contract.
func (s *Service) RemoveKey(ctx context.Context, _ *pb.RemoveKeyRequest) (*pb.RemoveKeyResponse, error) {
	return nil, keysUnavailable(ctx)
}

func keysUnavailable(ctx context.Context) error {
	if _, err := mustCaller(ctx); err != nil {
		return err
	}
	return serverUnavailable("this server does not keep SSH keys yet")
}
