package match

import (
	"context"
	"errors"
	"fmt"

	"github.com/gridstand/gridstand/game/replay"
	"github.com/gridstand/gridstand/server/internal/gamelog"
)

// confirmation is one check of the tip against the log, shared by all callers that requested
// it before it began.
//
// Confirm waits for it. requestConfirmation starts it, check lets one run at a time and tells the watchers if
// it fails, and compare reads the store.
type confirmation struct {
	done chan struct{} // closed once the result is set
	tip  gamelog.Tip
	err  error
}

// Confirm returns the end of the game's log as of some moment during the call. It waits for a check
// that begins after the call, because a check that is already running may have read the log before an
// append that the caller knows of. Calls that arrive while a check is running share the next one.
func (m *Match) Confirm(ctx context.Context) (gamelog.Tip, error) {
	c := m.requestConfirmation()
	if c == nil {
		return gamelog.Tip{}, ErrStopping
	}
	select {
	case <-c.done:
		return c.tip, c.err
	case <-ctx.Done():
		return gamelog.Tip{}, ctx.Err()
	}
}

// refresh requests a check of the tip without waiting for it. If that fails, the next periodic check
// repeats it.
func (m *Match) refresh() {
	m.confirmedAt.Store(-followTicks)
	m.requestConfirmation()
}

// requestConfirmation returns a confirmation that begins after the call, or nil if the hub is closed.
func (m *Match) requestConfirmation() *confirmation {
	m.mu.Lock()
	defer m.mu.Unlock()
	if m.next == nil {
		c := &confirmation{done: make(chan struct{})}
		if m.hub.start(m, func(ctx context.Context) { m.check(ctx, c) }) {
			m.next = c
		}
	}
	return m.next
}

// check performs a requested check as soon as the one before has ended, and notifies watchers if the log cannot
// be read.
func (m *Match) check(ctx context.Context, c *confirmation) {
	defer close(c.done)
	m.checking <- struct{}{}
	defer func() { <-m.checking }()
	m.mu.Lock()
	m.next = nil // Calls that arrive from now on need another check.
	m.mu.Unlock()
	c.tip, c.err = m.compare(ctx)
	switch {
	case c.err == nil:
		m.failure.Store(nil)
	case ctx.Err() != nil:
		c.err = context.Cause(ctx)
	case isDamaged(c.err), errors.Is(c.err, replay.ErrUnknown):
		m.fail(c.err)
	}
}

// stale reports whether the tip needs a check, because the store has not confirmed it for
// followTicks or because the log could not be read.
func (m *Match) stale(now int64) bool {
	return now-m.confirmedAt.Load() >= followTicks || m.failure.Load() != nil
}

// compare advances the tip to the end of the log, and repairs metadata that fell behind.
func (m *Match) compare(ctx context.Context) (gamelog.Tip, error) {
	// Read the tip before the log, which can only grow in between.
	tip, now := *m.tip.Load(), m.hub.ticks.Load()
	tail, err := m.hub.Log.Tail(ctx, m.id)
	if err != nil {
		return gamelog.Tip{}, err
	}
	if tail.Sound() {
		m.setRemoteWatchers(tail.Watchers)
		if tail.Last == tip.ID {
			m.confirmedAt.Store(now)
			return tip, nil
		}
		if tail.Last.Version > tip.ID.Version {
			err := m.catchUp(ctx)
			if now := *m.tip.Load(); err == nil && now.ID.Version >= tail.Last.Version {
				return now, nil
			}
			if err != nil && !isDamaged(err) {
				return gamelog.Tip{}, err
			}
		}
	}
	// The tip and the log do not match. Read and check the whole log before reporting damage.
	if _, err := m.hub.Log.Load(ctx, m.id, tip.ID, nil); err != nil {
		// The log and metadata of a finished game expire together.
		if errors.Is(err, gamelog.ErrNotFound) && tip.State.Status != replay.Finished {
			err = &gamelog.DamagedError{GameID: m.id, Detail: fmt.Sprintf("it is gone; it had entry %s", tip.ID)}
		}
		return gamelog.Tip{}, err
	}
	if err := m.catchUp(ctx); err != nil {
		return gamelog.Tip{}, err
	}
	return *m.tip.Load(), nil
}

func isDamaged(err error) bool {
	var damaged *gamelog.DamagedError
	return errors.As(err, &damaged)
}
