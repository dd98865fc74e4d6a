package recovery

import (
	"context"
	"errors"
	"log/slog"
	"sync"
	"time"

	"github.com/gridstand/gridstand/game/replay"
	"github.com/gridstand/gridstand/server/internal/account"
	"github.com/gridstand/gridstand/server/internal/directory"
	"github.com/gridstand/gridstand/server/internal/gamelog"
	"github.com/gridstand/gridstand/server/internal/heartbeat"
	"github.com/gridstand/gridstand/server/internal/leaderboard"
	"github.com/gridstand/gridstand/server/internal/match"
	"github.com/gridstand/gridstand/server/internal/periodic"
	"github.com/gridstand/gridstand/server/internal/scheduler"
	"github.com/gridstand/gridstand/server/internal/store"
)

// workers is how many games are read from their logs at the same time.
const workers = 8

// Config is what a Recovery works with. All fields are needed but Heartbeat, which
// only Run needs.
type Config struct {
	Engine      store.Engine
	Heartbeats  store.Heartbeats
	Log         *gamelog.Log
	Accounts    *account.Store
	Leaderboard *leaderboard.Boards
	Directory   *directory.Directory
	Scheduler   *scheduler.Scheduler
	Heartbeat   *heartbeat.Monitor
	Logger      *slog.Logger
	// KeepFinished is how long a game is kept after its end or its quarantine. A
	// game that an all-time board points to is kept for as long as it does.
	KeepFinished time.Duration
	// Memory is how long a server keeps a game in memory at least that no client
	// plays or watches.
	Memory time.Duration
}

// Recovery does the work of this package for one server or operator.
type Recovery struct {
	Config
	// attested and quarantined are the last rollbacks after which this server has
	// attested and has quarantined games; only Run uses them.
	attested, quarantined time.Time
}

// New makes a Recovery.
func New(c Config) *Recovery { return &Recovery{Config: c} }

// Run looks for lost moves after rollbacks, and reconciles leaderboards, lists and
// queue with the logs, until ctx ends.
func (r *Recovery) Run(ctx context.Context, hub *match.Hub) {
	var group sync.WaitGroup
	defer group.Wait()
	group.Go(func() {
		periodic.Run(ctx, r.reconcileEvery(), func() {
			r.renew(ctx)
			r.reconcile(ctx)
		})
	})
	periodic.Run(ctx, heartbeat.Interval, func() {
		if err := r.afterRollback(ctx, hub); err != nil && ctx.Err() == nil {
			r.Logger.Warn("games that lost moves in a rollback not found yet", "id", "rollback-pending", "error", err)
		}
	})
}

// outcome is what became of reading a game.
type outcome int

const (
	failed outcome = iota
	readable
	damaged
	unknown // to this server: a newer one wrote it
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
