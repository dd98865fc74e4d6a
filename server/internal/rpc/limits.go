package rpc

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"sync"
	"time"

	"golang.org/x/sync/semaphore"
	"google.golang.org/grpc/metadata"
	"google.golang.org/grpc/peer"

	"github.com/gridstand/gridstand/server/internal/account"
)

// replayShare bounds how many streams of an address may read a game's past at the
// same time: one in so many of those that it may have. Each takes milliseconds, and
// some hundred kilobytes of memory until its client has read what it sends.
const replayShare = 512

// replaysPerAddress is how many streams of an address may read a game's past at the
// same time.
func (s *Service) replaysPerAddress() int { return max(1, s.Limits.WatchesPerAddress/replayShare) }

// newSlots returns a semaphore of size n; nil, which acquireSlot always grants, if limit
// is 0 for no limit.
func newSlots(limit, n int) *semaphore.Weighted {
	if limit == 0 {
		return nil
	}
	return semaphore.NewWeighted(int64(n))
}

// acquireSlot takes a slot, which the caller gives back with release. If none comes free
// in time it returns the error full.
func acquireSlot(ctx context.Context, slots *semaphore.Weighted, within time.Duration, full error) (release func(), err error) {
	if slots == nil {
		return func() {}, nil
	}
	waiting, cancel := context.WithTimeout(ctx, within)
	defer cancel()
	if slots.Acquire(waiting, 1) != nil {
		return nil, cmp.Or(ctx.Err(), full)
	}
	return sync.OnceFunc(func() { slots.Release(1) }), nil
}

// turnTime is how long a stream may send of a game's past before others get their
// turn. A slow client takes longer, but without work for the server.
const turnTime = 20 * time.Millisecond

// turn reads and sends a part of a game's past when a slot of the server is free.
func (s *Service) turn(ctx context.Context, read, send func() error) error {
	release, err := acquireSlot(ctx, s.replaying, fullRetry,
		s.Limits.Exceeded(&s.Limits.ReplaysAtOnce, "streams that are sent a game's past at once", fullRetry))
	if err != nil {
		return s.slotError(err)
	}
	defer release()
	if err := read(); err != nil {
		return err
	}
	defer time.AfterFunc(turnTime, release).Stop()
	return send()
}

// How long a client should wait before a retry: if it opens streams too fast, and if
// it has as many open as allowed.
const (
	opensRetry = time.Second
	fullRetry  = 5 * time.Second
)

// Address returns the address that limits count a call for.
func (s *Service) Address(ctx context.Context) string {
	p, ok := peer.FromContext(ctx)
	if !ok {
		return ""
	}
	return s.Proxies.Of(p.Addr, metadata.ValueFromIncomingContext(ctx, "x-forwarded-for"))
}

// takeQuota counts one time of what for a player or address, on all servers. A limit of
// 0 allows any number.
func (s *Service) takeQuota(ctx context.Context, what, key string, limit *int, text string) error {
	if *limit <= 0 {
		return nil
	}
	wait, err := s.Quotas.Take(ctx, what, key, *limit)
	if err != nil {
		return fmt.Errorf("asking for a quota: %w", err)
	}
	if wait > 0 {
		return s.Limits.Exceeded(limit, text, wait)
	}
	return nil
}

// checkMoveRate counts a move, or another change, of a player. It returns an error if
// that exceeds the limit.
func (s *Service) checkMoveRate(playerID string) error {
	if s.moves.Take(playerID) {
		return nil
	}
	return s.Limits.Exceeded(&s.Limits.MovesPerSecond, "moves a second", s.moves.Wait())
}

// enterWatch counts a watch stream of the caller's address. The caller calls
// s.addressStreams.Leave unless there is an error.
func (s *Service) enterWatch(ctx context.Context) (address string, replays *semaphore.Weighted, err error) {
	address = s.Address(ctx)
	if !s.opens.Take(address) {
		return "", nil, s.Limits.Exceeded(&s.Limits.WatchesPerAddressPerSecond, "streams of one address opened in a second", opensRetry)
	}
	replays, ok := s.addressStreams.Enter(address, s.Limits.WatchesPerAddress)
	if !ok {
		return "", nil, s.Limits.Exceeded(&s.Limits.WatchesPerAddress, "streams of one address at once", fullRetry)
	}
	return address, replays, nil
}

// verify is Accounts.Verify, unless the address sent too many wrong tokens: each costs
// a read of the store.
func (s *Service) verify(ctx context.Context, token string) (account.Player, error) {
	if player, ok := s.Accounts.Verified(token); ok {
		return player, nil
	}
	var player account.Player
	err := s.limitWrong(ctx, account.ErrBadToken, func() (err error) {
		player, err = s.Accounts.Verify(ctx, token)
		return err
	})
	return player, err
}

// verifyCredential is verify for the credential of an SSH host, whose name it returns.
func (s *Service) verifyCredential(ctx context.Context, credential string) (name string, err error) {
	if name, ok := s.Credentials.Verified(credential); ok {
		return name, nil
	}
	err = s.limitWrong(ctx, account.ErrBadCredential, func() (err error) {
		name, err = s.Credentials.Verify(ctx, credential)
		return err
	})
	return name, err
}

// limitWrong verifies what a call brings, unless its address sent too much that was
// wrong: that verify returned the error wrong for.
func (s *Service) limitWrong(ctx context.Context, wrong error, verify func() error) error {
	address := ""
	if s.Limits.WrongTokensPerMinute > 0 {
		if address = s.Address(ctx); s.wrong.Spent(address) {
			return s.Limits.Exceeded(&s.Limits.WrongTokensPerMinute, "wrong tokens a minute", s.wrong.Wait())
		}
	}
	err := verify()
	if errors.Is(err, wrong) {
		s.wrong.Take(address)
	}
	return err
}
