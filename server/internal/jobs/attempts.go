package jobs

import (
	"context"
	"errors"
	"time"

	"github.com/gridstand/gridstand/game"
	"github.com/gridstand/gridstand/game/replay"
	"github.com/gridstand/gridstand/server/internal/challenge"
	"github.com/gridstand/gridstand/server/internal/directory"
	"github.com/gridstand/gridstand/server/internal/match"
	"github.com/gridstand/gridstand/server/internal/store"
)

// waitingAttemptEvery is how often an attempt at a race that has not started is
// processed, to end the attempt if the race no longer exists, or started without it.
const waitingAttemptEvery = 10 * time.Minute

// waitsForOpen reports whether the game is an attempt without moves, which means that its
// challenge may not be open yet.
func waitsForOpen(state *replay.State) bool { return state.IsAttempt() && state.Version == 1 }

// advanceAttempt is like advance but handles an attempt that is not over. It ends the
// attempt if its deadline has passed or if it no longer counts for its challenge, and
// schedules the bot's move if it is a bot's turn.
func (m *Manager) advanceAttempt(ctx context.Context, served *match.Match, state *replay.State, job store.Job) (time.Time, error) {
	call := match.Call{Version: state.Version, Seat: game.NoSeat, Action: replay.Abandoned{}}
	c, now, err := m.Challenges.Get(ctx, state.Attempt.ChallengeID)
	switch {
	case errors.Is(err, challenge.ErrNotFound):
	case err != nil:
		return time.Time{}, err
	case c.OpenTime.IsZero():
		// Also keep the attempts of players who left the roster, because they may rejoin. The call that began this
		// one may have failed before it was listed.
		return now.Add(waitingAttemptEvery), m.Directory.Enter(ctx, directory.Of(state, served.Spectators()))
	case !c.Has(state.ID):
	case now.Before(c.OpenTime):
		return c.OpenTime, m.Directory.Enter(ctx, directory.Of(state, served.Spectators()))
	case now.Before(c.Deadline(state.CreateTime)):
		if state.BotToMove() != "" {
			m.bots.schedule(state, job.Leased.Sub(state.UpdateTime))
			return job.Expires, nil
		}
		return c.Deadline(state.CreateTime), nil
	case !c.Final():
		return job.Leased.Add(retryOverdueIn), nil
	default:
		call.Seat, call.Action, call.NotBefore = state.Turn(), replay.TimedOut{}, c.Deadline(state.CreateTime)
	}
	if _, err = served.Do(ctx, call); err != nil && !overtaken(err) {
		return time.Time{}, err
	}
	if state = served.State(); state.Status != replay.Finished {
		return job.Leased.Add(retryOverdueIn), nil // A move arrived in time, or the deadline has not passed. Process the attempt again.
	}
	return time.Time{}, m.record(ctx, state)
}
