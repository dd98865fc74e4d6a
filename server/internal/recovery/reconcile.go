package recovery

import (
	"context"
	"time"

	"github.com/gridstand/gridstand/game/variants"
	"github.com/gridstand/gridstand/server/internal/directory"
)

// reconcileEvery is the interval of renew and reconcile: well before a game that a
// leaderboard points to would be forgotten.
func (r *Recovery) reconcileEvery() time.Duration {
	return max(500*time.Millisecond, min(time.Hour, r.KeepFinished/4))
}

// renew keeps the logs of the games that all-time leaderboards point to, so that
// every score there can be verified, and removes past entries from the lists. All
// servers do it, which costs little and needs no agreement.
func (r *Recovery) renew(ctx context.Context) {
	now, err := r.Engine.Time(ctx)
	if err != nil {
		r.Logger.Warn("games on the leaderboards not kept for longer yet, nor lists trimmed", "id", "games-not-renewed", "error", err)
		return
	}
	until := now.Add(r.KeepFinished)
	var ids []string
	for _, v := range variants.All() {
		ids = append(ids, v.ID)
		err := r.Leaderboard.Games(ctx, v.ID, func(gameIDs []string) error {
			return r.Log.Expire(ctx, until, gameIDs...)
		})
		if err != nil {
			r.Logger.Warn("games on a leaderboard not kept for longer yet", "id", "board-games-not-renewed", "variant", v.ID, "error", err)
		}
	}
	if err := r.Directory.Trim(ctx, ids); err != nil {
		r.Logger.Warn("lists not trimmed yet", "id", "lists-not-trimmed", "error", err)
	}
}

// reconcile is ReindexAll, by one server for all: a leaderboard, list or queue
// that was lost is complete again within the hour. A store with transactions cannot
// lose them without the logs, so that only accounts have to be renewed.
func (r *Recovery) reconcile(ctx context.Context) {
	claimed, err := r.Heartbeats.Claim(ctx, "reconcile", r.reconcileEvery()*9/10)
	switch {
	case err != nil:
	case !claimed:
		return // Another server does it.
	case r.Engine.Transactional():
		err = r.renewAccounts(ctx)
	default:
		err = r.ReindexAll(ctx)
	}
	if err != nil && ctx.Err() == nil {
		r.Logger.Warn("leaderboards, lists and accounts not reconciled with the logs yet", "id", "reconcile-delayed", "error", err)
	}
}

// renewAccounts keeps the accounts of all players whose games are kept.
func (r *Recovery) renewAccounts(ctx context.Context) error {
	return r.Log.IDs(ctx, func(gameIDs []string) error {
		heads, err := r.Log.Heads(ctx, gameIDs)
		if err != nil {
			return err
		}
		var players []string
		for _, head := range heads {
			if head.State != nil {
				players = append(players, directory.Of(head.State, 0).Players...)
			}
		}
		return r.Accounts.Renew(ctx, players...)
	})
}

// ReindexAll puts all games on the leaderboards, lists and queue by what their
// heads say, which costs much less than reading their logs. It removes nothing.
func (r *Recovery) ReindexAll(ctx context.Context) error {
	return r.Log.IDs(ctx, func(gameIDs []string) error {
		heads, err := r.Log.Heads(ctx, gameIDs)
		if err != nil {
			return err
		}
		return r.index(ctx, heads...)
	})
}
