package rpc

import (
	"context"
	"time"

	"golang.org/x/sync/semaphore"
)

// countStream counts a watch stream toward the limits of the caller's address. If err is
// nil, the caller must call s.addressStreams.Leave when the stream ends.
func (s *Service) countStream(ctx context.Context) (address string, err error) {
	address = s.Address(ctx)
	if !s.opens.Take(address) {
		return "", s.Limits.Exceeded(&s.Limits.WatchesPerAddressPerSecond, "streams opened from one address a second", opensRetry)
	}
	if _, ok := s.addressStreams.Enter(address, s.Limits.WatchesPerAddress); !ok {
		return "", s.Limits.Exceeded(&s.Limits.WatchesPerAddress, "streams from one address at once", fullRetry)
	}
	return address, nil
}

// newSlots returns a semaphore of size n, or nil if limit is 0, which means no limit.
func newSlots(limit, n int) *semaphore.Weighted {
	if limit == 0 {
		return nil
	}
	return semaphore.NewWeighted(int64(n))
}

// How long a client should wait before a retry: if it opens streams too fast, and if it
// has too many open.
const (
	opensRetry = time.Second
	fullRetry  = 5 * time.Second
)
