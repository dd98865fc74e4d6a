package rpc

import (
	"context"
	"errors"
	"strings"
	"time"

	pb "github.com/gridstand/gridstand/proto/gridstand/v1"
	"github.com/gridstand/gridstand/server/internal/account"
)

// sshKeyHeader is the metadata key that an SSH host uses to send the fingerprint of a
// player's SSH key.
const sshKeyHeader = "gridstand-ssh-key"

// actingEvery is the minimum interval between two log messages about SSH hosts that act
// for the player with a given key.
const actingEvery = 10 * time.Minute

// authenticateHost authenticates an SSH host's call. It returns a context with the key's
// player, or with only the key if the call creates the player.
func (s *Service) authenticateHost(ctx context.Context, method, credential, key string) (context.Context, error) {
	host, err := s.Credentials.Verify(ctx, credential)
	if err != nil { // Wrong credentials count toward the same limit as wrong tokens.
		return ctx, s.limitWrong(ctx, account.ErrBadCredential, err)
	}
	s.Metrics.HostCalled(host)
	if !account.ValidFingerprint(key) {
		return ctx, account.ErrBadCredential
	}
	by := identity{key: key}
	if method == pb.PlayerService_CreatePlayer_FullMethodName {
		return context.WithValue(ctx, identityKey{}, by), nil
	}
	if !possibleOverSSH(method) {
		return ctx, errNotOverSSH
	}
	by.player, err = s.Keys.Player(ctx, key, ofAccount(method))
	if errors.Is(err, account.ErrKeyNotLinked) {
		return ctx, errKeyNotLinked
	}
	if err != nil {
		return ctx, err
	}
	if s.acting.take(key, 1) {
		s.Logger.Info("an SSH host acts for a player",
			"id", "ssh-host-acts", "credential", host, "player", by.player.ID, "key", key, "address", s.Address(ctx))
	}
	return context.WithValue(ctx, identityKey{}, by), nil
}

// possibleOverSSH reports whether an SSH host may call a method for a player. It excludes
// methods that would let a stolen credential obtain tokens or lock players out.
func possibleOverSSH(method string) bool {
	return possibleForOthers(method) || method == pb.PlayerService_CreateSessionLink_FullMethodName
}

// possibleForOthers reports whether sessions and SSH hosts may both call a method.
func possibleForOthers(method string) bool {
	switch method {
	case pb.PlayerService_GetPlayer_FullMethodName, pb.PlayerService_GetProfile_FullMethodName,
		pb.PlayerService_Rename_FullMethodName, pb.PlayerService_ListKeys_FullMethodName,
		pb.PlayerService_ListSessions_FullMethodName, pb.PlayerService_EndSession_FullMethodName:
		return true
	}
	return !ofAccount(method)
}

// ofAccount reports whether a method is not one of the services for games, boards and challenges.
// Because its effect on the account may last, the store verifies the token or key for each call:
// after a rotation, the old token adds no key or session, and neither renames the account nor
// replaces the new token.
func ofAccount(method string) bool {
	switch service, _, _ := strings.Cut(strings.TrimPrefix(method, "/"), "/"); service {
	case pb.GameService_ServiceDesc.ServiceName, pb.LeaderboardService_ServiceDesc.ServiceName,
		pb.ChallengeService_ServiceDesc.ServiceName:
		return false
	}
	return true
}
