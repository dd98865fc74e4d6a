package rpc

import (
	"cmp"
	"context"
	"sync"
	"time"

	"golang.org/x/sync/semaphore"
)

// countStream counts a watch stream toward the limits of the caller's address. If err is
// nil, the caller must call s.addressStreams.Leave when the stream ends.
func (s *Service) countStream(ctx context.Context) (address string, replays *semaphore.Weighted, err error) {
	address = s.Address(ctx)
	if !s.opens.Take(address) {
		return "", nil, s.Limits.Exceeded(&s.Limits.WatchesPerAddressPerSecond, "streams opened from one address a second", opensRetry)
	}
	replays, ok := s.addressStreams.Enter(address, s.Limits.WatchesPerAddress)
	if !ok {
		return "", nil, s.Limits.Exceeded(&s.Limits.WatchesPerAddress, "streams from one address at once", fullRetry)
	}
	return address, replays, nil
}

// replayShare sets how many of an address's streams may read a game's history
// concurrently: one in replayShare of the streams that the address may have open. A read
// takes milliseconds, and occupies a few hundred kilobytes of memory until the client has
// received the events.
const replayShare = 512

// replaysPerAddress returns how many of an address's streams may read a game's history
// concurrently.
func (s *Service) replaysPerAddress() int { return max(1, s.Limits.WatchesPerAddress/replayShare) }

// newSlots returns a semaphore of size n, or nil if limit is 0, which means no limit.
// acquireSlot always succeeds on a nil semaphore.
func newSlots(limit, n int) *semaphore.Weighted {
	if limit == 0 {
		return nil
	}
	return semaphore.NewWeighted(int64(n))
}

// acquireSlot acquires a slot. If none becomes free in time, it returns the error full.
// The caller frees the slot with release.
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

// turnTime is how long a stream may keep its slot while it sends a game's history. If
// sending takes longer, the stream is waiting for a slow client and no longer needs the
// slot.
const turnTime = 20 * time.Millisecond

// turn reads and sends part of a game's history once the server has a free slot.
func (s *Service) turn(ctx context.Context, read, send func() error) error {
	release, err := acquireSlot(ctx, s.replaying, fullRetry,
		s.Limits.Exceeded(&s.Limits.ReplaysAtOnce, "streams that read a game's history at once", fullRetry))
	if err != nil {
		return err
	}
	defer release()
	if err := read(); err != nil {
		return err
	}
	defer time.AfterFunc(turnTime, release).Stop()
	return send()
}

// How long a client should wait before a retry: if it opens streams too fast, and if it
// has too many open.
const (
	opensRetry = time.Second
	fullRetry  = 5 * time.Second
)
