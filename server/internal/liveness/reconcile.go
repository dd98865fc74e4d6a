package liveness

import (
	"context"
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
// can be verified, and removes old entries from the lists. Every server does this without
// coordination, because it is cheap and idempotent.
func (r *Recovery) renew(ctx context.Context) {
	now, err := r.Engine.Time(ctx)
	if err != nil {
		r.Logger.Warn("cannot extend the life of games on leaderboards or trim lists; will retry", "id", "games-not-renewed", "error", err)
		return
	}
	until := now.Add(r.KeepFinished)
	var ids []string
	for _, v := range variants.All() {
		ids = append(ids, v.ID)
		err := r.Leaderboard.Games(ctx, leaderboard.Board{Variant: v.ID}, func(gameIDs []string) error {
			return r.Log.Expire(ctx, until, gameIDs...)
		})
		if err != nil {
			r.Logger.Warn("cannot extend the life of games on a leaderboard; will retry",
				"id", "board-games-not-renewed", "variant", v.ID, "error", err)
		}
	}
	if err := r.Directory.Trim(ctx, ids); err != nil {
		r.Logger.Warn("cannot trim lists; will retry", "id", "lists-not-trimmed", "error", err)
	}
}

// reconcile runs ReindexAll on one of the servers, so that a lost leaderboard, list or queue is
// restored within an hour. A store with transactions cannot lose them without also losing the
// logs, so with such a store, reconcile only renews accounts.
func (r *Recovery) reconcile(ctx context.Context) {
	claimed, err := r.Heartbeats.Claim(ctx, "reconcile", r.reconcileEvery()*9/10)
	switch {
	case err == nil && !claimed:
		return // Another server is doing this. After an error, this one may have claimed it.
	case r.Engine.Transactional():
		err = r.renewAccounts(ctx)
	default:
		err = r.ReindexAll(ctx)
	}
	if err != nil && ctx.Err() == nil {
		r.Logger.Warn("cannot reconcile leaderboards, lists and accounts with the logs; will retry",
			"id", "reconcile-delayed", "error", err)
	}
}

// renewAccounts extends the life of the accounts of all players whose games are kept.
func (r *Recovery) renewAccounts(ctx context.Context) error {
	return r.eachHead(ctx, func(heads []gamelog.Head) error {
		var players []string
		for _, head := range heads {
			if head.State != nil {
				players = append(players, directory.Of(head.State, 0).Players...)
			}
		}
		return r.Accounts.Renew(ctx, players...)
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
