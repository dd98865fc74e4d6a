package match

// A watcher stalls if its client takes longer than Config.Stall to read one message; its
// goroutine is then blocked in a send that may never return. The goroutine marks each send
// with BeginSend and EndSend, which costs two uncontended atomic writes. The hub checks the
// marks once per tick and calls onStall for a send that takes too long. onStall must make
// the send return. EndSend then reports that the send was late.

// blockedTicks is the number of ticks after which a send counts as blocked. gRPC then keeps about 75
// kB for the stream, so Hold limits the number of such streams.
const blockedTicks = 2

// stalled replaces the tick once the send has taken too long, so that onStall is called at most
// once per send.
const stalled = -1

// BeginSend marks the beginning of a send.
func (w *Watcher) BeginSend() { w.sending.Store(w.m.hub.ticks.Load()) }

// EndSend marks the end of a send. It reports whether the send finished in time. If it did not,
// onStall is called, unless it is nil.
func (w *Watcher) EndSend() bool { return w.sending.Swap(0) != stalled }

// unhold calls the function that Hold returned, if any. The caller holds watcherSet.mu.
func (w *Watcher) unhold() {
	if w.release != nil {
		w.release()
		w.release = nil
	}
}

// reap calls Hold for blocked watchers and onStall for stalled ones, and wakes all watchers if the
// context of any of them has ended. One pass over all watchers per tick is cheaper than a timer and a second channel
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
		if since != w.heldFrom {
			w.unhold()
		}
		refused := false
		if w.Hold != nil && w.release == nil && since > 0 && now-since > blockedTicks {
			w.release, w.heldFrom = w.Hold(), since
			refused = w.release == nil
		}
		if (refused || since > 0 && now-since > longest) && w.sending.CompareAndSwap(since, stalled) && w.onStall != nil {
			w.onStall()
		}
	}
	m.watching.mu.Unlock()
	if ended {
		m.wake()
	}
}
