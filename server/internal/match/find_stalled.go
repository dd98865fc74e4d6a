package match

// A watcher stalls if its client takes longer than Config.Stall to read one message; its
// goroutine is then blocked in a send that may never return. The goroutine marks each send
// with BeginSend and EndSend, which costs two uncontended atomic writes. The hub checks the
// marks once per tick and calls onStall for a send that takes too long. onStall must make
// the send return. EndSend then reports that the send was late.

// stalled replaces the tick once the send has taken too long, so that onStall is called at most
// once per send.
const stalled = -1

// BeginSend marks the beginning of a send.
func (w *Watcher) BeginSend() { w.sending.Store(w.m.hub.ticks.Load()) }

// EndSend marks the end of a send. It reports whether the send finished in time. If it did not,
// onStall is called, unless it is nil.
func (w *Watcher) EndSend() bool { return w.sending.Swap(0) != stalled }

// reap calls onStall for stalled watchers, and wakes all watchers if the context of any of them
// has ended. One pass over all watchers per tick is cheaper than a timer and a second channel
// for every watcher and event.
func (m *Match) reap() {
	now, ended := m.hub.ticks.Load(), false
	longest := int64(m.hub.Stall / tick)
	m.watching.mu.Lock()
	for _, w := range m.watching.all {
		if w.ctx.Err() != nil && !w.left.Swap(true) {
			w.Discount()
			ended = true
		}
		since := w.sending.Load()
		if since > 0 && now-since > longest && w.sending.CompareAndSwap(since, stalled) && w.onStall != nil {
			w.onStall()
		}
	}
	m.watching.mu.Unlock()
	if ended {
		m.wake()
	}
}
