package match

// A watcher stalls if its client takes longer than Config.Stall to read one message:
// its goroutine then waits in a send that may never end. The goroutine marks each
// send with BeginSend and EndSend, which cost it two writes to memory of its own;
// the hub looks at the marks once a tick, and calls onStall for a send that is too
// old. onStall has to make the send return. EndSend then reports that it was late.

// stalled in place of a tick says that onStall was called for the send.
const stalled = -1

// BeginSend marks that the watcher begins to send what it found.
func (w *Watcher) BeginSend() { w.sending.Store(w.m.hub.ticks.Load()) }

// EndSend marks the end of a send. It reports whether that was in time; if not,
// onStall was called.
func (w *Watcher) EndSend() bool { return w.sending.Swap(0) != stalled }

// reap calls onStall for the watchers that stalled, and wakes those whose context
// has ended. Doing so for all watchers once a tick costs less than a timer and a
// second channel to wait on for each watcher and event.
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
