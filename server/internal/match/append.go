package match

import (
	"context"
	"errors"
	"fmt"
	"time"

	"github.com/cenkalti/backoff/v5"

	"github.com/gridstand/gridstand/server/internal/gamelog"
)

// errOvertaken means the log does not end any more where the draft builds on.
var errOvertaken = errors.New("somebody else appended first")

// append appends a draft that builds on tip.
func (m *Match) append(ctx context.Context, tip gamelog.Tip, draft *gamelog.Draft) (*Event, error) {
	select {
	case m.writing <- struct{}{}:
	case <-ctx.Done():
		return nil, ctx.Err()
	case <-m.hub.stopped:
		return nil, ErrStopping
	}
	if m.currentTip().ID != tip.ID {
		<-m.writing
		return nil, errOvertaken
	}
	if draft.NeedsLook() {
		// A server that dies after the append leaves this behind.
		if err := m.hub.Agenda.Soon(ctx, m.id); err != nil {
			<-m.writing
			return nil, err
		}
	}
	m.pending.Store(draft)
	now := m.hub.ticks.Load()
	next, err := m.hub.log.Append(ctx, draft)
	if err == nil && next.Watchers >= 0 { // else it stood there before, and others may follow it
		m.confirmedAt.Store(now)
	}
	if !errors.Is(err, gamelog.ErrUnsettled) {
		return m.finishAppend(ctx, tip, next, err)
	}

	// The entry may stand in the log or not, or be still on its way. Until that
	// is settled nobody else may append here, and it goes on being settled when
	// the caller has left.
	type outcome struct {
		event *Event
		err   error
	}
	settled := make(chan outcome, 1)
	if !m.hub.start(m, func(ctx context.Context) {
		next, err := m.hub.settle(ctx, m.id, draft)
		e, err := m.finishAppend(ctx, tip, next, err)
		settled <- outcome{e, err}
	}) {
		<-m.writing
		return nil, ErrStopping
	}
	select {
	case o := <-settled:
		return o.event, o.err
	case <-ctx.Done():
		return nil, fmt.Errorf("%w: %w", gamelog.ErrUnsettled, ctx.Err())
	}
}

// settle sends a draft whose outcome is not known until an answer says what
// became of it, or ctx ends.
func (h *Hub) settle(ctx context.Context, gameID string, draft *gamelog.Draft) (gamelog.Appended, error) {
	wait := backoff.NewExponentialBackOff()
	wait.InitialInterval = 20 * time.Millisecond
	wait.MaxInterval = time.Second
	for {
		select {
		case <-ctx.Done():
			return gamelog.Appended{}, gamelog.ErrUnsettled
		case <-time.After(wait.NextBackOff()):
		}
		// This may go on for long, and somebody may have looked meanwhile.
		if draft.NeedsLook() && h.Agenda.Soon(ctx, gameID) != nil {
			continue
		}
		next, err := h.log.Append(ctx, draft)
		var conflict *gamelog.ConflictError
		if err == nil || errors.As(err, &conflict) || errors.Is(err, gamelog.ErrBroken) {
			return next, err
		}
		if errors.Is(err, gamelog.ErrTooEarly) {
			// Only the server's own drafts have a time, which may be days away.
			// An attempt before this one that is still on its way and lands in
			// time does what was wanted, and is found like anybody else's.
			return next, err
		}
		// Also an error of Redis itself, such as that it is loading: it speaks
		// of this attempt and not of those before.
	}
}

// appended gives up the right to append, makes a new entry known, and turns a
// log that ended elsewhere into errOvertaken.
func (m *Match) finishAppend(ctx context.Context, prev gamelog.Tip, next gamelog.Appended, err error) (*Event, error) {
	m.pending.Store(nil)
	if err != nil {
		<-m.writing
		var conflict *gamelog.ConflictError
		if errors.As(err, &conflict) || errors.Is(err, gamelog.ErrBroken) {
			m.hub.Observer.Conflicted()
			m.markStale() // Length and last ID may still match.
			return nil, errOvertaken
		}
		return nil, err
	}
	shown := m.advance(prev.ID, next.Tip, next.Event)
	if shown == nil {
		// Followers were a whole ring ahead of the answer.
		shown = newEvent(next.Event)
	}
	state := next.Tip.State
	m.setRemoteWatchers(next.Watchers)
	// Before anybody else appends, so that it hears of them in order.
	m.hub.Observer.Appended(shown, m.Watchers())
	<-m.writing
	m.hub.Agenda.Appended(ctx, state)
	return shown, nil
}
