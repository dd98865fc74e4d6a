package rpc

import (
	"context"
	"errors"
	"strings"
	"time"

	"google.golang.org/protobuf/types/known/timestamppb"

	pb "github.com/gridstand/gridstand/proto/gridstand/v1"
	"github.com/gridstand/gridstand/server/internal/account"
	"github.com/gridstand/gridstand/server/internal/store"
)

// AddKey implements the contract.
func (s *Service) AddKey(ctx context.Context, request *pb.AddKeyRequest) (*pb.AddKeyResponse, error) {
	p, err := s.keysOwner(ctx)
	if err != nil {
		return nil, err
	}
	added, err := s.Keys.Add(ctx, p.ID, request.GetSignature(), request.GetComment())
	if err != nil {
		return nil, err
	}
	return &pb.AddKeyResponse{Key: key(added)}, nil
}

// ListKeys implements the contract.
func (s *Service) ListKeys(ctx context.Context, _ *pb.ListKeysRequest) (*pb.ListKeysResponse, error) {
	p, err := s.keysOwner(ctx)
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

// RemoveKey implements the contract.
func (s *Service) RemoveKey(ctx context.Context, request *pb.RemoveKeyRequest) (*pb.RemoveKeyResponse, error) {
	p, err := s.keysOwner(ctx)
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

// keysOwner returns the caller, unless the caller makes too many calls for keys.
func (s *Service) keysOwner(ctx context.Context) (account.Player, error) {
	p, err := mustCaller(ctx)
	if err == nil {
		err = s.checkMoveRate(p.ID)
	}
	return p, err
}

func key(k store.Key) *pb.Key {
	return &pb.Key{Fingerprint: k.Fingerprint, Comment: k.Comment, CreateTime: timestamppb.New(k.Added)}
}

// actingEvery is how often the log says at most that an SSH host acts for the player of
// a key.
const actingEvery = 10 * time.Minute

// authenticateHost puts the player of a key into the context of a call that an SSH host
// makes, or the key alone if the call creates the player.
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

// possibleOverSSH reports whether an SSH host may call a method for a player. A stolen
// credential must not yield tokens or lock players out.
func possibleOverSSH(method string) bool {
	switch method {
	case pb.PlayerService_GetPlayer_FullMethodName, pb.PlayerService_ListKeys_FullMethodName:
		return true
	default:
		return strings.HasPrefix(method, "/"+pb.GameService_ServiceDesc.ServiceName+"/") ||
			strings.HasPrefix(method, "/"+pb.LeaderboardService_ServiceDesc.ServiceName+"/")
	}
}

// sshKey returns the SSH key that an SSH host calls for, "" for other callers.
func sshKey(ctx context.Context) string {
	if key, ok := ctx.Value(sshKeyKey{}).(*string); ok {
		return *key
	}
	return ""
}
