package liveness

import (
	"context"
	"errors"
	"time"

	"github.com/gridstand/gridstand/game/variants"
	"github.com/gridstand/gridstand/server/internal/directory"
	"github.com/gridstand/gridstand/server/internal/gamelog"
	"github.com/gridstand/gridstand/server/internal/leaderboard"
)

// reconcileEvery returns the interval at which renew and reconcile run. It is well below the
// time after which a game on a leaderboard would expire.
func (r *Recovery) reconcileEvery() time.Duration {
	return max(500*time.Millisecond, min(time.Hour, r.KeepFinished/4))
}

// renew extends the life of the games on all-time leaderboards, so that every score there
// can be verified. Every server does this without coordination, because it is cheap and
// idempotent.
func (r *Recovery) renew(ctx context.Context) error {
	now, err := r.Engine.Time(ctx)
	if err != nil {
		return err
	}
	until := now.Add(r.KeepFinished)
	for _, v := range variants.All() {
		err = errors.Join(err, r.Leaderboard.Games(ctx, leaderboard.Board{Variant: v.ID}, func(gameIDs []string) error {
			return r.Log.Expire(ctx, until, gameIDs...)
		}))
	}
	return err
}

// reconcile runs ReindexAll on one of the servers, that with the smallest id, so that a lost
// leaderboard, list or queue is restored within an hour. While servers start, more than one of them
// may do it. A store that is not shared cannot lose them without also losing the logs, so with such a
// store, reconcile only renews accounts.
func (r *Recovery) reconcile(ctx context.Context) error {
	if !r.Engine.Shared() {
		return r.renewAccounts(ctx)
	}
	stored, err := r.Heartbeats.Servers(ctx)
	if err != nil {
		return err
	}
	for id, server := range stored.Servers {
		if id < r.Monitor.ServerID && !server.Left && stored.Now.Sub(server.At) < runningWithin {
			return nil // The other server does it.
		}
	}
	return r.ReindexAll(ctx)
}

// renewAccounts extends the life of the accounts of all players whose games are kept.
func (r *Recovery) renewAccounts(ctx context.Context) error {
	return r.eachHead(ctx, func(heads []gamelog.Head) error {
		return r.Accounts.Renew(ctx, directory.PlayersOf(heads)...)
	})
}

// ReindexAll adds all games to the leaderboards, lists and queue, based on their heads, which
// is much cheaper than reading their logs. It does not remove anything.
func (r *Recovery) ReindexAll(ctx context.Context) error {
	return r.eachHead(ctx, func(heads []gamelog.Head) error { return r.index(ctx, heads...) })
}

// eachHead calls visit with batches of the heads of all games.
func (r *Recovery) eachHead(ctx context.Context, visit func(heads []gamelog.Head) error) error {
	return r.Log.IDs(ctx, func(gameIDs []string) error {
		heads, err := r.Log.Heads(ctx, gameIDs)
		if err != nil {
			return err
		}
		return visit(heads)
	})
}
