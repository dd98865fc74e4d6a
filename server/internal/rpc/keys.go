package rpc

import (
	"context"
	"errors"
	"strings"
	"time"

	"google.golang.org/grpc"
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
	if err != nil {
		return nil, err
	}
	return &pb.AddKeyResponse{Key: key(added)}, nil
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
	if err != nil {
		return nil, err
	}
	return &pb.RemoveKeyResponse{}, nil
}

func key(k store.Key) *pb.Key {
	return &pb.Key{Fingerprint: k.Fingerprint, Comment: k.Comment, CreateTime: timestamppb.New(k.Added)}
}

// actingEvery is the minimum interval between two log messages about SSH hosts that act
// for the player with a given key.
const actingEvery = 10 * time.Minute

// authenticateHost authenticates an SSH host's call. It returns a context with the key's
// player, or with only the key if the call creates the player.
func (s *Service) authenticateHost(ctx context.Context, method, credential, key string) (context.Context, error) {
	host, err := s.verifyCredential(ctx, credential)
	if err != nil {
		return ctx, err
	}
	s.Meter.HostCalled(host)
	if !account.ValidFingerprint(key) {
		return ctx, account.ErrBadCredential
	}
	call := &callerContext{Context: ctx, key: key}
	if method == pb.PlayerService_CreatePlayer_FullMethodName {
		return call, nil
	}
	if !possibleOverSSH(method) {
		return ctx, errNotOverSSH
	}
	call.by, err = s.Keys.Player(ctx, key)
	if errors.Is(err, account.ErrKeyNotLinked) {
		return ctx, errKeyNotLinked
	}
	if err != nil {
		return ctx, err
	}
	if s.acting.Take(key) {
		s.Logger.Info("an SSH host acts for a player", "id", "ssh-host-acts", "credential", host, "player", call.by.ID, "key", key, "address", s.Address(ctx))
	}
	return call, nil
}

// possibleOverSSH reports whether an SSH host may call a method for a player. It excludes
// methods that would let a stolen credential obtain tokens or lock players out.
func possibleOverSSH(method string) bool {
	switch method {
	case pb.PlayerService_GetPlayer_FullMethodName, pb.PlayerService_ListKeys_FullMethodName:
		return true
	}
	for _, service := range []*grpc.ServiceDesc{
		&pb.GameService_ServiceDesc, &pb.LeaderboardService_ServiceDesc, &pb.ChallengeService_ServiceDesc,
	} {
		if strings.HasPrefix(method, "/"+service.ServiceName+"/") {
			return true
		}
	}
	return false
}

// sshKey returns the fingerprint of the player's SSH key if the call comes from an SSH
// host, and "" otherwise.
func sshKey(ctx context.Context) string {
	if key, ok := ctx.Value(sshKeyKey{}).(*string); ok {
		return *key
	}
	return ""
}
