package rpc

import (
	"context"
	"errors"
	"sync"
	"time"

	"golang.org/x/sync/semaphore"
	"google.golang.org/grpc/metadata"
	"google.golang.org/grpc/peer"

	"github.com/gridstand/gridstand/server/internal/account"
	"github.com/gridstand/gridstand/server/limits"
)

// crowd is the watch streams of each address.
type crowd struct {
	limits *limits.Limits

	mu   sync.Mutex
	open map[string]*visitors // those that have any
}

// visitors are the watch streams of one address.
type visitors struct {
	crowd   *crowd
	address string
	streams int // guarded by the crowd's mu
	// replays bounds how many of them read a game's past at once; nil for any
	// number.
	replays *semaphore.Weighted
}

// replayShare is of how many streams of an address one may read a game's past at
// the same time. It takes milliseconds, and some hundred kilobytes of memory: of
// one who asks for it and does not read, for as long as that is borne.
const replayShare = 512

func (c *crowd) mayReplay() int { return max(1, c.limits.WatchesPerAddress/replayShare) }

// enter counts a stream until it leaves, unless the address has as many as it
// may; then it returns nil.
func (c *crowd) enter(address string) *visitors {
	c.mu.Lock()
	defer c.mu.Unlock()
	v := c.open[address]
	if v == nil {
		v = &visitors{crowd: c, address: address}
		if c.limits.WatchesPerAddress > 0 {
			v.replays = semaphore.NewWeighted(int64(c.mayReplay()))
		}
		c.open[address] = v
	}
	if c.limits.WatchesPerAddress > 0 && v.streams >= c.limits.WatchesPerAddress {
		return nil
	}
	v.streams++
	return v
}

func (v *visitors) leave() {
	v.crowd.mu.Lock()
	defer v.crowd.mu.Unlock()
	if v.streams--; v.streams == 0 {
		delete(v.crowd.open, v.address)
	}
}

// replay does what reads a game's past, once few enough others of the address
// do.
func (v *visitors) replay(ctx context.Context, do func() error) error {
	if v.replays == nil {
		return do()
	}
	waiting, cancel := context.WithTimeout(ctx, fullRetry)
	defer cancel()
	if err := v.replays.Acquire(waiting, 1); err != nil {
		if ctx.Err() != nil {
			return ctx.Err()
		}
		return v.crowd.limits.Exceeded(&v.crowd.limits.WatchesPerAddress, v.crowd.mayReplay(),
			"streams of one address that read a game's past at once", fullRetry)
	}
	defer v.replays.Release(1)
	return do()
}

// turnTime is how long a stream that is sent a game's past keeps its turn. One
// whose client reads slowly waits for it longer, but without work for the server.
const turnTime = 20 * time.Millisecond

// turn works on a piece of a game's past once few enough other streams of the
// server do.
func (s *Service) turn(ctx context.Context, work func() error) error {
	if s.replaying == nil {
		return work()
	}
	waiting, cancel := context.WithTimeout(ctx, fullRetry)
	defer cancel()
	if err := s.replaying.Acquire(waiting, 1); err != nil {
		if ctx.Err() != nil {
			return ctx.Err()
		}
		return s.exceeded(&s.Limits.ReplaysAtOnce, "streams that are sent a game's past at once", fullRetry)
	}
	release := sync.OnceFunc(func() { s.replaying.Release(1) })
	defer release()
	defer time.AfterFunc(turnTime, release).Stop()
	return work()
}

// opensRetry is after what time an address that opens streams too fast has room
// for a second's worth.
const opensRetry = time.Second

// fullRetry is after what time somebody may come again who has as much open as
// allowed.
const fullRetry = 5 * time.Second

// address is from where a call comes.
func (s *Service) address(ctx context.Context) string {
	p, ok := peer.FromContext(ctx)
	if !ok {
		return ""
	}
	return s.Proxies.Of(p.Addr, metadata.ValueFromIncomingContext(ctx, "x-forwarded-for"))
}

// exceeded refuses for a limit, which is one of s.Limits.
func (s *Service) exceeded(limit *int, what string, retry time.Duration) error {
	return s.Limits.Exceeded(limit, *limit, what, retry)
}

// quota takes one from what somebody may do in a minute, on all servers.
func (s *Service) quota(ctx context.Context, what, who string, limit *int, text string) error {
	wait, err := s.Quotas.Take(ctx, what, who, *limit)
	if err == nil && wait > 0 {
		return s.exceeded(limit, text, wait)
	}
	return err
}

// checkMoveRate refuses a player who moves, or changes something else, faster than the
// limit.
func (s *Service) checkMoveRate(playerID string) error {
	if s.moves.Take(playerID) {
		return nil
	}
	return s.exceeded(&s.Limits.MovesPerSecond, "moves a second", s.moves.Wait())
}

// watching counts a watch stream of an address, until it leaves.
func (s *Service) watching(ctx context.Context) (*visitors, error) {
	address := s.address(ctx)
	if !s.opens.Take(address) {
		return nil, s.exceeded(&s.Limits.WatchesPerAddressPerSecond, "streams of one address opened in a second", opensRetry)
	}
	v := s.crowd.enter(address)
	if v == nil {
		return nil, s.exceeded(&s.Limits.WatchesPerAddress, "streams of one address at once", fullRetry)
	}
	return v, nil
}

// verify is Accounts.Verify for tokens of which an address has not shown too
// many wrong ones: each costs a look into the store.
func (s *Service) verify(ctx context.Context, token string) (account.Player, error) {
	if player, ok := s.Accounts.Verified(token); ok {
		return player, nil
	}
	address := ""
	if s.Limits.WrongTokensPerMinute > 0 {
		if address = s.address(ctx); s.wrong.Spent(address) {
			return account.Player{}, s.exceeded(&s.Limits.WrongTokensPerMinute, "wrong tokens a minute", s.wrong.Wait())
		}
	}
	player, err := s.Accounts.Verify(ctx, token)
	if errors.Is(err, account.ErrBadToken) {
		s.wrong.Take(address)
	}
	return player, err
}
