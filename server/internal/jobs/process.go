package jobs

import (
	"context"
	"errors"
	"time"

	"github.com/gridstand/gridstand/game/replay"
	"github.com/gridstand/gridstand/server/internal/challenge"
	"github.com/gridstand/gridstand/server/internal/directory"
	"github.com/gridstand/gridstand/server/internal/gamelog"
	"github.com/gridstand/gridstand/server/internal/match"
	"github.com/gridstand/gridstand/server/internal/store"
)

const (
	// retryOverdueIn is the delay after which an overdue game is processed again.
	retryOverdueIn = 500 * time.Millisecond
	// damagedFor is the delay after which a damaged game that is not in quarantine is processed again,
	// in case its log has been restored.
	damagedFor = time.Hour
	// standIn is the bot that moves for players whose clock has run out.
	standIn = "greedy"
)

// process performs a game's due work and returns the time at which the game is due next, or
// zero if it is done.
func (m *Manager) process(ctx context.Context, hub *match.Hub, job store.Job) (time.Time, error) {
	next, err := m.advance(ctx, hub, job)
	var damaged *gamelog.DamagedError
	switch {
	case errors.As(err, &damaged):
		if damaged.Quarantined { // That was logged, or the operator did it.
			return time.Time{}, nil
		}
		m.Logger.Error("game damaged", "id", "game-damaged", "game", job.GameID, "version", damaged.Version, "detail", damaged.Detail)
		return job.Expires.Add(damagedFor), nil
	case errors.Is(err, gamelog.ErrNotFound):
		// The server died before the first entry, or the game has expired.
		return time.Time{}, nil
	}
	return next, err
}

// advance does the work of process for a readable game.
func (m *Manager) advance(ctx context.Context, hub *match.Hub, job store.Job) (time.Time, error) {
	served, err := hub.Acquire(ctx, job.GameID)
	if err != nil {
		return time.Time{}, err
	}
	defer served.Release()
	tip, err := served.Confirm(ctx)
	if err != nil {
		return time.Time{}, err
	}
	state := tip.State
	if state.IsAttempt() && state.Status != replay.Finished {
		return m.advanceAttempt(ctx, served, state, job)
	}
	if next := m.waitsUntil(state, served.Spectators(), job.Leased); next.After(job.Leased) {
		return next, m.Directory.Enter(ctx, directory.Of(state, served.Spectators()))
	}
	paused := pausable(state) && !watchedOrYoung(state, served.HasWatchers())
	if state.Status != replay.Finished && (state.BotToMove() == "" || paused || showcased(state)) {
		err = m.handleOverdue(ctx, served, state, job.Leased)
	}
	if err != nil && !overtaken(err) {
		return time.Time{}, err
	}
	if state = served.State(); state.Status == replay.Finished {
		return time.Time{}, m.record(ctx, state)
	}
	next := m.overdueAt(state)
	if next.Before(job.Leased) {
		next = job.Leased.Add(retryOverdueIn)
	}
	if state.BotToMove() != "" && !paused {
		// Do not block this worker, because other games wait for it. If the bot fails to
		// move, the game is due again when the lease expires.
		m.bots.schedule(state, job.Leased.Sub(state.UpdateTime))
		next = job.Expires
	}
	return next, m.Directory.Enter(ctx, directory.Of(state, served.Spectators()))
}

// overtaken reports whether a game was not changed because it is not overdue, is over, or was changed before.
// After a conflict, the server that appended the other entry does the follow-up work.
func overtaken(err error) bool {
	_, conflict := errors.AsType[*match.VersionConflictError](err)
	return conflict || errors.Is(err, store.ErrTooEarly) || errors.Is(err, replay.ErrGameOver)
}

// record adds a finished game's scores to the leaderboards and profiles and the game to the
// lists of finished games, closes a race in which all attempts are over, and removes the game's job.
// It is idempotent.
func (m *Manager) record(ctx context.Context, final *replay.State) error {
	of, err := m.Challenges.Of(ctx, final)
	if err != nil {
		return err
	}
	if err := challenge.Record(ctx, m.Leaderboard, final, of); err != nil {
		return err
	}
	if err := m.Profiles.Record(ctx, final, of); err != nil {
		return err
	}
	if err := m.Directory.Put(ctx, directory.Of(final, 0)); err != nil {
		return err
	}
	until := final.UpdateTime.Add(m.KeepFinished)
	if showcased(final) {
		until = final.UpdateTime.Add(min(m.KeepFinished, keepShowcase))
	}
	if of != nil && of.Expires.After(until) {
		// If the attempt were removed before its challenge, the player could start another one and would
		// already know the tiles.
		until = of.Expires
	}
	if err := m.Log.Expire(ctx, until, final.ID); err != nil {
		return err
	}
	if err := m.Challenges.CloseIfOver(ctx, final); err != nil {
		return err
	}
	return m.queue.Remove(ctx, final.ID)
}
