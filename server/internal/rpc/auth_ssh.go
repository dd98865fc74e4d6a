package rpc

import (
	"context"
	"time"

	pb "github.com/gridstand/gridstand/proto/gridstand/v1"
	"github.com/gridstand/gridstand/server/internal/account"
	"github.com/gridstand/gridstand/server/internal/front"
)

// sshKeyHeader is the metadata key that an SSH host uses to send the fingerprint of a
// player's SSH key.
const sshKeyHeader = "gridstand-ssh-key"

// actingEvery is the minimum interval between two log messages about SSH hosts that act
// for the player with a given key.
const actingEvery = 10 * time.Minute

// authenticateHost authenticates an SSH host's call. It returns a context with the key's
// player, or with only the key if the call creates the player. may says who may call the method.
func (s *Service) authenticateHost(
	ctx context.Context, method string, may callers, credential, key string,
) (context.Context, error) {
	host, err := s.Credentials.Verify(ctx, credential)
	if err != nil {
		return ctx, err
	}
	s.Metrics.HostCalled(host)
	if !account.ValidFingerprint(key) {
		return ctx, account.ErrBadCredential
	}
	by := identity{key: key}
	if method == pb.PlayerService_CreatePlayer_FullMethodName {
		return context.WithValue(ctx, identityKey{}, by), nil
	}
	if !may.host {
		return ctx, errNotOverSSH
	}
	by.player, err = s.Keys.Player(ctx, key, may.anew)
	if err != nil {
		return ctx, err
	}
	if s.acting.take(key, 1) == nil {
		s.Logger.Info("an SSH host acts for a player",
			"id", "ssh-host-acts", "credential", host, "player", by.player.ID, "key", key, "address", front.AddressOf(ctx))
	}
	return context.WithValue(ctx, identityKey{}, by), nil
}
