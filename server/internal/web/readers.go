package web

import (
	"context"
	"slices"
	"sync"
	"time"

	"github.com/gridstand/gridstand/server/internal/periodic"
	"github.com/gridstand/gridstand/server/internal/rpc"
)

// peekEvery is how often the connections of readers are checked for having been closed.
// Without that only a write would tell, and a game may have none for long.
const peekEvery = 2 * time.Second

// readers are the streams of events on connections taken over from net/http.
type readers struct {
	service *rpc.Service
	group   sync.WaitGroup

	mu     sync.Mutex
	all    []*eventStream
	closed bool
}

// start begins to send a stream's updates, and closes it at its end. It reports false if
// the server has stopped.
func (r *readers) start(s *eventStream) bool {
	r.mu.Lock()
	defer r.mu.Unlock()
	if r.closed {
		return false
	}
	s.index = len(r.all)
	r.all = append(r.all, s)
	r.group.Add(1)
	ended := func(err error) {
		defer r.group.Done()
		r.remove(s)
		s.end(err)
		s.close()
	}
	if s.raw != nil {
		s.view.FollowShared(ended)
	} else {
		go func() { ended(s.view.Follow()) }()
	}
	return true
}

func (r *readers) remove(s *eventStream) {
	r.mu.Lock()
	defer r.mu.Unlock()
	last := len(r.all) - 1
	moved := r.all[last]
	r.all[s.index], moved.index = moved, s.index
	r.all[last] = nil
	r.all = r.all[:last]
	if last == 0 {
		r.all = nil // There may have been many.
	}
}

// watch ends the streams whose clients have gone, until ctx ends. Then it ends all
// streams, and waits for them.
func (r *readers) watch(ctx context.Context) {
	periodic.Run(ctx, peekEvery, func() {
		for _, s := range r.snapshot() {
			if hasInput(socket(s.out.(conn).Conn)) {
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
	return slices.Clone(r.all)
}
