package web

import (
	"context"
	"maps"
	"slices"
	"sync"
	"time"

	"github.com/gridstand/gridstand/server/internal/periodic"
	"github.com/gridstand/gridstand/server/internal/rpc"
)

// peekEvery is how often the server checks whether readers have closed their connections.
// Without the check, only a write would detect that, and a game may have no events for a
// long time.
const peekEvery = 2 * time.Second

// readers contains the event streams whose connections are hijacked from net/http.
type readers struct {
	service *rpc.Service
	group   sync.WaitGroup

	mu     sync.Mutex
	all    map[*eventStream]struct{}
	closed bool
}

// start starts sending a stream's updates. When they end, it closes the stream. start
// returns false if the server has stopped.
func (r *readers) start(s *eventStream) bool {
	r.mu.Lock()
	defer r.mu.Unlock()
	if r.closed {
		return false
	}
	r.all[s] = struct{}{}
	r.group.Add(1)
	s.view.Start(func(err error) {
		defer r.group.Done()
		r.remove(s)
		s.end(err)
		s.close()
	})
	return true
}

func (r *readers) remove(s *eventStream) {
	r.mu.Lock()
	defer r.mu.Unlock()
	if delete(r.all, s); len(r.all) == 0 {
		r.all = map[*eventStream]struct{}{} // A map does not shrink.
	}
}

// watch ends the streams of disconnected clients until ctx is done. It then ends all
// streams and waits for them.
func (r *readers) watch(ctx context.Context) {
	periodic.Run(ctx, peekEvery, func() {
		for _, s := range r.snapshot() {
			if s.raw != nil && hasInput(s.raw) {
				s.drop()
			}
		}
	})
	r.mu.Lock()
	r.closed = true
	r.mu.Unlock()
	for _, s := range r.snapshot() {
		s.drop()
	}
	r.group.Wait()
	r.service.WaitShared()
}

func (r *readers) snapshot() []*eventStream {
	r.mu.Lock()
	defer r.mu.Unlock()
	return slices.Collect(maps.Keys(r.all))
}
