package web

import (
	"context"
	"maps"
	"slices"
	"time"

	"github.com/gridstand/gridstand/internal/periodic"
)

// peekEvery is how often the server checks whether readers have closed their connections.
// Without the check, only a write would detect that, and a game may have no events for a
// long time.
const peekEvery = 2 * time.Second

// start starts sending a stream's updates. When they end, it closes the stream. start
// returns false if the server has stopped.
func (s *Server) start(e *eventStream) bool {
	s.mu.Lock()
	defer s.mu.Unlock()
	if s.closed {
		return false
	}
	s.streams[e] = struct{}{}
	s.group.Add(1)
	e.view.Start(func(err error) {
		defer s.group.Done()
		s.mu.Lock()
		delete(s.streams, e)
		s.mu.Unlock()
		e.end(err)
		e.close()
	})
	return true
}

// Run ends the streams of disconnected clients until ctx is done. Then it ends all event
// streams and waits for them.
func (s *Server) Run(ctx context.Context) {
	periodic.Run(ctx, peekEvery, func() {
		for _, e := range s.snapshot() {
			if e.raw != nil && hasInput(e.raw) {
				e.drop()
			}
		}
	})
	s.mu.Lock()
	s.closed = true
	s.mu.Unlock()
	for _, e := range s.snapshot() {
		e.drop()
	}
	s.group.Wait()
	s.config.Service.WaitShared()
}

func (s *Server) snapshot() []*eventStream {
	s.mu.Lock()
	defer s.mu.Unlock()
	return slices.Collect(maps.Keys(s.streams))
}
