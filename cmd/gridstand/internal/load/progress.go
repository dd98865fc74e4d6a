package load

import (
	"sync"
	"sync/atomic"
	"time"
)

// tick is the interval between progress reports.
const tick = 250 * time.Millisecond

// phase is one phase of a run.
type phase struct {
	name string
	of   int
	done func() int
	load bool // whether moves and events are counted
}

// counted starts a phase with a number of steps, and returns the counter of completed
// steps.
func (r *run) counted(name string, of int) *atomic.Int64 {
	done := new(atomic.Int64)
	r.phase.Store(&phase{name: name, of: of, done: func() int { return int(done.Load()) }})
	return done
}

// reportProgress reports the progress until the returned function is called.
func (r *run) reportProgress() (stop func()) {
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
