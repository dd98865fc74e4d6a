package lifecycle

import (
	"context"
	"errors"
	"time"

	"github.com/gridstand/gridstand/game"
	"github.com/gridstand/gridstand/game/replay"
	"github.com/gridstand/gridstand/server/internal/directory"
	"github.com/gridstand/gridstand/server/internal/gamelog"
	"github.com/gridstand/gridstand/server/internal/leaderboard"
	"github.com/gridstand/gridstand/server/internal/match"
	"github.com/gridstand/gridstand/server/internal/store"
)

const (
	// expireAgainIn is when a clock is processed again that has run out, while an
	// outage is still to be credited.
	expireAgainIn = 500 * time.Millisecond
	// damagedFor is when a damaged game is processed again, in case its log was
	// restored.
	damagedFor = time.Hour
	// standIn is the bot that moves for players whose clock ran out.
	standIn = "greedy"
)

// process does what is due with a game and returns the time when something is due
// next, zero for never.
func (m *Manager) process(ctx context.Context, hub *match.Hub, job store.Job) (time.Time, error) {
	next, err := m.advance(ctx, hub, job)
	var damaged *gamelog.DamagedError
	switch {
	case errors.As(err, &damaged):
		m.Logger.Error("game damaged", "id", "game-damaged", "game", job.GameID, "version", damaged.Version, "detail", damaged.Detail)
		return job.Expires.Add(damagedFor), nil
	case errors.Is(err, gamelog.ErrNotFound):
		// Its server died before the first entry, or it was kept long enough.
		return time.Time{}, nil
	case store.IsError(err), errors.Is(err, match.ErrStopping):
		m.Scheduler.Retry(job.GameID)
	}
	return next, err
}

// advance is process for a game that can be read.
func (m *Manager) advance(ctx context.Context, hub *match.Hub, job store.Job) (time.Time, error) {
	served, err := hub.Acquire(ctx, job.GameID)
	if err != nil {
		return time.Time{}, err
	}
	defer served.Release()
	state, err := served.Confirm(ctx)
	if err != nil {
		return time.Time{}, err
	}
	paused := false
	if pausable(state) {
		running, err := m.running(ctx, state)
		if err != nil {
			return time.Time{}, err
		}
		paused = !running
	}
	if state.Status != replay.Finished && (botToMove(state) == "" || paused) {
		err = m.expire(ctx, served, state, job.Leased)
	}
	// After a conflict, the server that appended does what follows from its entry.
	var conflict *match.VersionConflictError
	if err != nil && !errors.Is(err, store.ErrTooEarly) && !errors.Is(err, replay.ErrGameOver) && !errors.As(err, &conflict) {
		return time.Time{}, err
	}
	if state = served.State(); state.Status == replay.Finished {
		return time.Time{}, m.record(ctx, state)
	}
	next, err := m.expiryAt(ctx, state, job.Leased)
	if err != nil {
		return time.Time{}, err
	}
	if next.Before(job.Leased) {
		next = job.Leased.Add(expireAgainIn)
	}
	if botToMove(state) != "" && !paused {
		// Not in this worker, which other games wait for. If the bot fails to move,
		// the game is due again when the lease expires.
		m.bots.schedule(state, job.Leased.Sub(state.UpdateTime))
		next = job.Expires
	}
	return next, m.Directory.Put(ctx, directory.Of(state, served.Watchers()))
}

// expiry is when a game that is not over expires, unless a bot is to move.
func (m *Manager) expiry(state *replay.State) time.Time {
	deadline := state.Deadline()
	switch {
	case !deadline.IsZero():
		return deadline
	case state.Status == replay.Waiting:
		return state.UpdateTime.Add(m.WaitingFor)
	case showcased(state):
		return state.UpdateTime // It is paused: no client looks at it, or a player's game is live.
	case state.Exhibition():
		// It is paused, and does not end as long as lists show it.
		return state.UpdateTime.Add(max(m.KeepFinished, m.AbandonAfter))
	}
	return state.UpdateTime.Add(m.AbandonAfter)
}

// expiryAt is expiry as it is known at a time: with OnlyUptime, a game without a clock
// gets the time in which no server ran.
func (m *Manager) expiryAt(ctx context.Context, state *replay.State, now time.Time) (time.Time, error) {
	at := m.expiry(state)
	if !m.OnlyUptime || !state.Deadline().IsZero() || now.Before(at) {
		return at, nil
	}
	down, err := m.Heartbeat.Downtime(ctx, state.UpdateTime)
	return at.Add(down), err
}

// expire appends what happens when no player moves for too long: the clock is
// credited or runs out, or the game is abandoned. The store's clock decides whether it
// is time; before, the error is store.ErrTooEarly. Now is a recent time.
func (m *Manager) expire(ctx context.Context, served *match.Match, state *replay.State, now time.Time) error {
	at, err := m.expiryAt(ctx, state, now)
	if err != nil {
		return err
	}
	call := match.Call{Version: state.Version, Seat: game.NoSeat, Action: replay.Abandoned{}, NotBefore: at}
	if !state.Deadline().IsZero() {
		credit, err := m.Heartbeat.Credit(ctx, state)
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
	_, err = served.Do(ctx, call)
	return err
}

// record stores a finished game's result and reports it. It can be repeated.
func (m *Manager) record(ctx context.Context, final *replay.State) error {
	if err := m.storeResult(ctx, final); err != nil {
		return err
	}
	m.Recorded(final)
	return nil
}

// storeResult puts a finished game's scores on the leaderboards and the game on the
// lists of finished games, and removes its job. It can be repeated.
func (m *Manager) storeResult(ctx context.Context, final *replay.State) error {
	for _, result := range leaderboard.ResultsOf(final) {
		if err := m.Leaderboard.Record(ctx, result); err != nil {
			return err
		}
	}
	listing := directory.Of(final, 0)
	if err := m.Directory.Put(ctx, listing); err != nil {
		return err
	}
	for _, playerID := range listing.Players {
		if err := m.Accounts.Release(ctx, playerID, final.ID); err != nil {
			return err
		}
	}
	if err := m.Log.Expire(ctx, final.UpdateTime.Add(m.keepFinished(final)), final.ID); err != nil {
		return err
	}
	if final.Exhibition() {
		if err := m.exhibitions.end(ctx, final.ID); err != nil {
			return err
		}
	}
	return m.Scheduler.Remove(ctx, final.ID)
}
