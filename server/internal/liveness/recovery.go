package liveness

import (
	"context"
	"errors"
	"log/slog"
	"sync"
	"time"

	"github.com/gridstand/gridstand/game/replay"
	"github.com/gridstand/gridstand/internal/periodic"
	"github.com/gridstand/gridstand/server/internal/account"
	"github.com/gridstand/gridstand/server/internal/challenge"
	"github.com/gridstand/gridstand/server/internal/directory"
	"github.com/gridstand/gridstand/server/internal/gamelog"
	"github.com/gridstand/gridstand/server/internal/leaderboard"
	"github.com/gridstand/gridstand/server/internal/match"
	"github.com/gridstand/gridstand/server/internal/profile"
	"github.com/gridstand/gridstand/server/internal/store"
)

// workers is the number of logs that are read concurrently.
const workers = 8

// Stores are the logs of all games, what is derived from them, and what else background work and operators
// need. All fields are required, except Monitor, which only a server has.
type Stores struct {
	Engine      store.Engine
	Heartbeats  store.Heartbeats
	Log         *gamelog.Log
	Accounts    *account.Store
	Leaderboard *leaderboard.Boards
	Challenges  *challenge.Challenges
	Profiles    *profile.Profiles
	Directory   *directory.Directory
	Queue       store.Queue
	Monitor     *Monitor
	Logger      *slog.Logger
	// KeepFinished is how long a game is kept after it ends or is quarantined. A game on an
	// all-time leaderboard is kept for as long as it stays there, on Redis only while servers run.
	KeepFinished time.Duration
}

// Recovery quarantines games, and derives leaderboards and lists from the logs, for a server or an
// operator.
type Recovery struct{ Stores }

// NewRecovery returns a Recovery of the games in s.
func NewRecovery(s Stores) *Recovery { return &Recovery{s} }

// Run checks for lost moves after rollbacks and reconciles leaderboards, lists and queue with the
// logs, until ctx is done.
func (r *Recovery) Run(ctx context.Context, hub *match.Hub) {
	var group sync.WaitGroup
	defer group.Wait()
	group.Go(func() {
		periodic.Run(ctx, r.reconcileEvery(), func() {
			if err := errors.Join(r.renew(ctx), r.reconcile(ctx)); err != nil && ctx.Err() == nil {
				r.Logger.Warn("cannot reconcile leaderboards, lists and accounts with the logs; will retry",
					"id", "reconcile-delayed", "error", err)
			}
		})
	})
	periodic.Run(ctx, interval, func() {
		if err := r.quarantineShortened(ctx, hub); err != nil && ctx.Err() == nil {
			r.Logger.Warn("cannot check for moves lost in a rollback; will retry", "id", "rollback-pending", "error", err)
		}
	})
}

// outcome classifies the result of reading a game.
type outcome int

const (
	failed outcome = iota
	readable
	damaged
	unknown // written by a newer server
	gone
)

func outcomeOf(err error) outcome {
	var d *gamelog.DamagedError
	switch {
	case err == nil:
		return readable
	case errors.As(err, &d):
		return damaged
	case errors.Is(err, replay.ErrUnknown):
		return unknown
	case errors.Is(err, gamelog.ErrNotFound):
		return gone
	default:
		return failed
	}
}
