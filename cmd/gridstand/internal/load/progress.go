package load

import (
	"sync"
	"sync/atomic"
	"time"
)

// tick is the time between two reports of the progress.
const tick = 250 * time.Millisecond

// phase is the current phase of a run.
type phase struct {
	name string
	of   int
	done func() int
	load bool // moves and events are counted
}

// counted begins a phase of so many things, and returns the counter of those that are
// done.
func (r *run) counted(name string, of int) *atomic.Int64 {
	done := new(atomic.Int64)
	r.phase.Store(&phase{name: name, of: of, done: func() int { return int(done.Load()) }})
	return done
}

// tell reports the progress until the function that it returns is called.
func (r *run) tell() (stop func()) {
	if r.Progress == nil {
		return func() {}
	}
	done := make(chan struct{})
	var telling sync.WaitGroup
	telling.Go(func() {
		ticker := time.NewTicker(tick)
		defer ticker.Stop()
		then, moves, events := time.Now(), int64(0), int64(0)
		for {
			select {
			case <-done:
				return
			case <-ticker.C:
			}
			p := r.phase.Load()
			if p == nil {
				continue
			}
			progress := Progress{Phase: p.name, Done: p.done(), Of: p.of}
			now := time.Now()
			m, e := r.moves.Load(), r.events.Load()
			if p.load {
				seconds := now.Sub(then).Seconds()
				progress.MovesPerSecond = float64(m-moves) / seconds
				progress.EventsPerSecond = float64(e-events) / seconds
			}
			then, moves, events = now, m, e
			r.Progress(progress)
		}
	})
	return func() {
		close(done)
		telling.Wait()
	}
}
