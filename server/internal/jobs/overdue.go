package jobs

import (
	"context"
	"slices"
	"time"

	"github.com/gridstand/gridstand/game"
	"github.com/gridstand/gridstand/game/replay"
	"github.com/gridstand/gridstand/server/internal/challenge"
	"github.com/gridstand/gridstand/server/internal/match"
	"github.com/gridstand/gridstand/server/internal/store"
)

// desertedFor is how long a game waits for more players after its players have left.
const desertedFor = 10 * time.Minute

// unviewedFor is how long after its last move a showcase ends that no client views. A preview is known only
// on its own server, which makes the bots move; if they have stopped, it resumes them within
// match.announceEvery.
const unviewedFor = 30 * time.Second

// longestHold is the longest time for which a server holds a job. An earlier version held it for longer than
// leaseFor.
const longestHold = 10 * time.Second

// Attended implements match.Jobs. It postpones the end of a game that waits for players until
// desertedFor after they have left, but not beyond challenge.WaitsFor. If the store does not answer, the next
// call does it.
//
// It never postpones the job of a game that starts on another server: before that one appends the
// entry, it holds the job, which is then due within longestHold unless it has been processed after the
// entry, and has changed if that happens after Attended has read its time.
func (m *Manager) Attended(ctx context.Context, served *match.Match) {
	id := served.State().ID
	at, err := m.queue.Scheduled(ctx, id)
	if err != nil {
		return
	}
	now, err := m.Engine.Time(ctx)
	if err != nil || !at.After(now.Add(longestHold)) {
		return
	}
	tip, err := served.Confirm(ctx)
	if err != nil || tip.State.Status != replay.Waiting {
		return
	}
	_ = m.queue.Ack(ctx, store.Job{GameID: id, Expires: at}, m.waitsUntil(tip.State, 1, now))
}

// waitsUntil returns the time at which a game that waits for players is processed again at the
// latest, or zero for other games. present is the number of its players who watch it.
func (m *Manager) waitsUntil(state *replay.State, present int, now time.Time) time.Time {
	switch limit := state.UpdateTime.Add(challenge.WaitsFor); {
	case state.Status != replay.Waiting:
		return time.Time{}
	case present == 0:
		return m.overdueAt(state)
	default:
		return slices.MinFunc([]time.Time{now.Add(desertedFor), limit}, time.Time.Compare)
	}
}

// overdueAt returns the time at which a game that is not over becomes overdue: unless it is a
// bot's turn, its clock runs out or it is abandoned.
func (m *Manager) overdueAt(state *replay.State) time.Time {
	deadline := state.Deadline()
	switch {
	case !deadline.IsZero():
		return deadline
	case state.Status == replay.Waiting:
		return state.UpdateTime.Add(desertedFor)
	case showcased(state):
		return state.UpdateTime.Add(m.BotPace + unviewedFor)
	case state.Exhibition():
		// A paused exhibition must not end while lists show it, which they do for this long
		// after its last event.
		return state.UpdateTime.Add(max(m.KeepFinished, m.AbandonAfter))
	}
	return state.UpdateTime.Add(m.AbandonAfter)
}

// handleOverdue appends the consequence of a missing move: the clock is credited or runs out,
// or the game is abandoned. The store's clock decides; if the game is not overdue, the error
// is store.ErrTooEarly. now is a recent reading of that clock.
func (m *Manager) handleOverdue(ctx context.Context, served *match.Match, state *replay.State, now time.Time) error {
	at := m.overdueAt(state)
	if showcased(state) {
		games, _, err := m.playing(ctx)
		if err != nil {
			return err
		}
		if games > 0 { // It ends although clients view it.
			at = state.UpdateTime
		}
	}
	if at.After(now) {
		return store.ErrTooEarly // without an append, which would hold the job first
	}
	call := match.Call{Version: state.Version, Seat: game.NoSeat, Action: replay.Abandoned{}, NotBefore: at}
	if !state.Deadline().IsZero() {
		credit, err := m.Monitor.Credit(ctx, state)
		if err != nil {
			return err
		}
		call.Seat = state.Turn()
		switch {
		case credit > 0:
			call.Action = replay.ClockExtended{By: credit}
		case state.LastHuman(state.Turn()):
			call.Action = replay.TimedOut{}
		default:
			call.Action = replay.TimedOut{StandIn: standIn}
		}
	}
	_, err := served.Do(ctx, call)
	return err
}
