package web

import (
	"context"
	"log/slog"
	"runtime/debug"
	"slices"
	"sync"
	"time"

	"github.com/gridstand/gridstand/server/internal/periodic"
)

// peekEvery is how often the connections of readers are checked for having been closed.
// Without that only a write would tell, and a game may have none for long.
const peekEvery = 2 * time.Second

// readers are the streams of events on connections taken over from net/http. Each has one
// goroutine, which only writes.
type readers struct {
	logger *slog.Logger
	group  sync.WaitGroup

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
	go r.run(s) // Group.Go would make its stack deeper.
	return true
}

// run is the goroutine of a stream. Its stack makes up half of what a reader costs.
func (r *readers) run(s *eventStream) {
	defer r.end(s)
	s.follow()
}

func (r *readers) end(s *eventStream) {
	defer r.group.Done()
	if p := recover(); p != nil {
		logPanic(r.logger, p, debug.Stack())
	}
	r.mu.Lock()
	last := len(r.all) - 1
	moved := r.all[last]
	r.all[s.index], moved.index = moved, s.index
	r.all[last] = nil
	r.all = r.all[:last]
	if last == 0 {
		r.all = nil // There may have been many.
	}
	r.mu.Unlock()
	s.close()
}

// watch ends the streams whose clients have gone, until ctx ends. Then it ends all
// streams, and waits for them.
func (r *readers) watch(ctx context.Context) {
	periodic.Run(ctx, peekEvery, func() {
		for _, s := range r.snapshot() {
			if hasInput(socket(s.out.(conn).Conn)) {
				s.Abort(nil)
			}
		}
	})
	r.mu.Lock()
	r.closed = true
	r.mu.Unlock()
	for _, s := range r.snapshot() {
		s.Abort(nil)
	}
	r.group.Wait()
}

func (r *readers) snapshot() []*eventStream {
	r.mu.Lock()
	defer r.mu.Unlock()
	return slices.Clone(r.all)
}
