package match

import (
	"context"
	"errors"
	"fmt"
	"time"

	"github.com/cenkalti/backoff/v5"

	"github.com/gridstand/gridstand/game/replay"
	"github.com/gridstand/gridstand/server/internal/gamelog"
	"github.com/gridstand/gridstand/server/internal/store"
)

// errOvertaken means that another entry was appended first, so that the log no longer ends
// with the entry that the draft builds on.
var errOvertaken = errors.New("another entry was appended first")

// append appends a draft that builds on tip.
func (m *Match) append(ctx context.Context, tip gamelog.Tip, draft *gamelog.Draft) (*Event, error) {
	select {
	case m.writing <- struct{}{}:
	case <-ctx.Done():
		return nil, ctx.Err()
	case <-m.hub.stopping.Done():
		return nil, ErrStopping
	}
	if m.tip.Load().ID != tip.ID {
		<-m.writing
		return nil, errOvertaken
	}
	now := m.hub.ticks.Load()
	err := m.hub.holdAndAppend(ctx, m.id, draft)
	// If Watchers is negative, an earlier attempt appended the entry, and more entries may follow it.
	if err == nil && draft.Watchers >= 0 {
		m.confirmedAt.Store(now)
	}
	if !errors.Is(err, store.ErrUnsettled) {
		return m.finishAppend(ctx, tip, draft, err)
	}

	// The entry may be in the log, missing from it, or still in flight. The match stays
	// locked for appends until the outcome is known, even if the caller gives up.
	type outcome struct {
		event *Event
		err   error
	}
	settled := make(chan outcome, 1)
	if !m.hub.start(m, func(ctx context.Context) {
		e, err := m.finishAppend(ctx, tip, draft, m.hub.settle(ctx, m.id, draft))
		settled <- outcome{e, err}
	}) {
		<-m.writing
		return nil, ErrStopping
	}
	select {
	case o := <-settled:
		return o.event, o.err
	case <-ctx.Done():
		return nil, fmt.Errorf("%w: %w", store.ErrUnsettled, ctx.Err())
	}
}

// holdAndAppend appends a draft. It first makes sure that the follow-up work of the draft gets done even if this
// server dies after the append, by a job that another server or the next start can pick up. There is such
// work if the entry ends the game, makes it a bot's turn, or is not a move and therefore may have started a
// clock. After any other move, the next deadline is later than the scheduled one.
//
// An entry with such work is refused once the job may have been processed without it, because the server that
// did so may have postponed the job by days. The outcome is then store.ErrUnsettled: the next try holds the
// job again.
func (h *Hub) holdAndAppend(ctx context.Context, gameID string, draft *gamelog.Draft) error {
	next := draft.Event.State
	if _, move := draft.Event.Entry.Action.(replay.Moved); move && next.Status != replay.Finished && next.BotToMove() == "" {
		return h.Log.Append(ctx, draft)
	}
	limit := draft.NotAfter
	until, err := h.Jobs.Hold(ctx, gameID, next.UpdateTime, limit)
	if err != nil {
		return err
	}
	draft.NotAfter = until
	err = h.Log.Append(ctx, draft)
	draft.NotAfter = limit
	if errors.Is(err, store.ErrTooLate) && (limit.IsZero() || until.Before(limit.Truncate(time.Millisecond))) {
		return fmt.Errorf("%w: the append took too long", store.ErrUnsettled)
	}
	return err
}

// settle retries an append whose outcome is unknown until the store reports whether the log
// contains the draft, or ctx is done.
func (h *Hub) settle(ctx context.Context, gameID string, draft *gamelog.Draft) error {
	wait := backoff.NewExponentialBackOff()
	wait.InitialInterval = 20 * time.Millisecond
	wait.MaxInterval = time.Second
	for {
		select {
		case <-ctx.Done():
			return store.ErrUnsettled
		case <-time.After(wait.NextBackOff()):
		}
		err := h.holdAndAppend(ctx, gameID, draft)
		if _, conflict := errors.AsType[*store.ConflictError](err); err == nil || conflict || errors.Is(err, store.ErrBroken) {
			return err
		}
		if errors.Is(err, store.ErrTooEarly) || errors.Is(err, store.ErrTooLate) {
			// Do not retry, because the append may not be allowed for days, if at all. If an
			// earlier attempt still arrives in time, its entry is picked up like an entry from
			// another server.
			return err
		}
		// Any other error concerns only this attempt (for example, Redis may still be loading
		// its data), so retry.
	}
}

// finishAppend completes an append: it unlocks the match for appends and shows the new entry
// to watchers. It returns errOvertaken if the log no longer ends with prev.
func (m *Match) finishAppend(ctx context.Context, prev gamelog.Tip, draft *gamelog.Draft, err error) (*Event, error) {
	if err != nil {
		<-m.writing
		if _, conflict := errors.AsType[*store.ConflictError](err); conflict || errors.Is(err, store.ErrBroken) {
			return nil, errOvertaken
		}
		return nil, err
	}
	shown := m.advance(prev.ID, draft.Tip(), draft.Event)
	if shown == nil {
		// The event was evicted: the feed delivered more events than the ring holds before
		// the reply arrived.
		shown = &Event{Event: draft.Event}
	}
	m.setRemoteWatchers(draft.Watchers)
	m.hub.Jobs.Changed(m)
	<-m.writing
	m.hub.Jobs.Appended(ctx, draft.Event.State)
	return shown, nil
}
