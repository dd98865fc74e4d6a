// Package cached lets many callers share one read.
package cached

import (
	"context"
	"sync"
	"time"

	"golang.org/x/sync/semaphore"
)

// maxKeys is the maximum number of keys. If there are more, all are forgotten.
const maxKeys = 64

// Reads keeps the results of reads for a while, by key, so that many callers share one. The zero
// value is empty. It is safe for concurrent use.
type Reads[K comparable, V any] struct {
	mu  sync.Mutex
	all map[K]*result[V]
}

// result is what the last successful read for a key returned.
type result[V any] struct {
	using *semaphore.Weighted // held while the other fields are accessed, and during a read
	value V
	at    time.Time // when the read ended; zero before the first
}

// Get returns the result of a read for the given key that ended less than maxAge ago. If there is
// none, one caller calls read, while the others wait for it. If read fails, which may be because of
// the caller's context, only that caller gets the error, and the next one calls read again.
func (r *Reads[K, V]) Get(
	ctx context.Context, key K, maxAge time.Duration, read func() (V, error),
) (value V, err error) {
	last := r.result(key)
	if err := last.using.Acquire(ctx, 1); err != nil {
		return value, err
	}
	defer last.using.Release(1)
	if !last.at.IsZero() && time.Since(last.at) < maxAge {
		return last.value, nil
	}
	if value, err = read(); err == nil {
		last.value, last.at = value, time.Now()
	}
	return value, err
}

// Forget makes the next Get for the given key call read, even if another read is running.
func (r *Reads[K, V]) Forget(key K) {
	r.mu.Lock()
	defer r.mu.Unlock()
	delete(r.all, key)
}

func (r *Reads[K, V]) result(key K) *result[V] {
	r.mu.Lock()
	defer r.mu.Unlock()
	last := r.all[key]
	if last == nil {
		if r.all == nil || len(r.all) >= maxKeys {
			r.all = map[K]*result[V]{}
		}
		last = &result[V]{using: semaphore.NewWeighted(1)}
		r.all[key] = last
	}
	return last
}
