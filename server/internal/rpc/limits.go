package rpc

import (
	"context"
	"errors"
	"fmt"

	"github.com/gridstand/gridstand/server/internal/account"
)

// Address returns the client address that the limits apply to.
func (s *Service) Address(ctx context.Context) string { return s.Budgets.Address(ctx) }

// Charge counts reads by the client of an HTTP request. If they exceed its limit, Charge returns the
// status that a call would get.
func (s *Service) Charge(ctx context.Context, reads int) error {
	if err := s.Budgets.Check(s.Address(ctx), reads); err != nil {
		return s.toStatus(ctx, "", err)
	}
	return nil
}

// takeQuota counts one use of the quota with the given name. key is the player or address
// that it applies to. Uses on all servers count. A limit of 0 means no limit.
func (s *Service) takeQuota(ctx context.Context, name, key string, limit *int, text string) error {
	if *limit <= 0 {
		return nil
	}
	wait, err := s.Quotas.Take(ctx, name, key, *limit)
	if err != nil {
		return fmt.Errorf("counting a use of a quota: %w", err)
	}
	if wait > 0 {
		return s.Limits.Exceeded(limit, text, wait)
	}
	return nil
}

// takeGameQuotas counts a new game toward the quotas of the player and of the caller's
// address.
func (s *Service) takeGameQuotas(ctx context.Context, playerID string) error {
	if err := s.takeQuota(ctx, "games", playerID, &s.Limits.NewGamesPerMinute, "new games a minute"); err != nil {
		return err
	}
	address := s.Address(ctx)
	if err := s.takeQuota(ctx, "games-from", address, &s.Limits.NewGamesPerAddressPerMinute, "new games from one address a minute"); err != nil {
		return err
	}
	s.Planner.Creates(playerID, address)
	return nil
}

// takeChallengeQuota counts a new public challenge toward the quota of the caller's address.
func (s *Service) takeChallengeQuota(ctx context.Context) error {
	return s.takeQuota(ctx, "challenges-from", s.Address(ctx), &s.Limits.NewChallengesPerAddressPerMinute,
		"new public challenges from one address a minute")
}

// limitedCaller returns the calling player and counts the call toward the move rate limit.
// It returns an error if the call has no token or the player exceeds the limit.
func (s *Service) limitedCaller(ctx context.Context) (account.Player, error) {
	p := caller(ctx)
	switch {
	case p.ID == "":
		return p, errNoToken
	case !s.moves.Take(p.ID):
		return p, s.Limits.Exceeded(&s.Limits.MovesPerSecond, "moves a second", s.moves.Wait())
	}
	return p, nil
}

// limitWrong returns err, or a refusal if err is the error wrong and too many earlier calls from the
// caller's address failed with it. It comes after the check, so that the wrong tokens of others never
// lock out a valid one.
func (s *Service) limitWrong(ctx context.Context, wrong, err error) error {
	if s.Limits.WrongTokensPerMinute == 0 || !errors.Is(err, wrong) {
		return err
	}
	address := s.Address(ctx)
	if s.wrong.Spent(address) {
		return s.Limits.Exceeded(&s.Limits.WrongTokensPerMinute, "wrong tokens a minute", s.wrong.Wait())
	}
	s.wrong.Take(address)
	return err
}
