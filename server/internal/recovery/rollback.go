package recovery

import (
	"context"
	"fmt"
	"slices"
	"sync"
	"time"

	"golang.org/x/sync/errgroup"

	"github.com/gridstand/gridstand/game/replay"
	"github.com/gridstand/gridstand/server/internal/heartbeat"
	"github.com/gridstand/gridstand/server/internal/match"
	"github.com/gridstand/gridstand/server/internal/store"
)

const (
	// attestWithin is how long the servers have to attest.
	attestWithin = 10 * time.Second
	// attestedFor is how long the store remembers what they attested: longer than it
	// takes to quarantine the other games.
	attestedFor = time.Hour
	// verifiers is how many games are compared with their logs at the same time.
	verifiers = 64
	// vouchBatch is how many games one command vouches for.
	vouchBatch = 64
)

// afterRollback takes the next step after a rollback, if there was one.
func (r *Recovery) afterRollback(ctx context.Context, hub *match.Hub) error {
	last := r.Heartbeat.Last()
	if last == nil {
		return nil
	}
	if suspect := r.Heartbeat.Suspect(); suspect != nil {
		_, lost, err := r.verifyCached(ctx, hub, suspect.Local)
		if err != nil {
			return err
		}
		if err := r.Heartbeat.Verified(ctx, suspect, lost > 0); err != nil {
			return err
		}
	}
	rollback := last.Rollback
	if rollback.At.IsZero() {
		return nil
	}
	age := last.Now.Sub(rollback.At)
	if !r.attested.Equal(rollback.At) {
		if age < attestedFor {
			if err := r.attest(ctx, hub, rollback, last.Local.Add(-last.Now.Sub(rollback.Before))); err != nil {
				return err
			}
		}
		r.attested = rollback.At
	}
	if rollback.Resolved || r.quarantined.Equal(rollback.At) {
		return nil
	}
	all, err := r.allAttested(ctx, rollback, last.Servers)
	if err != nil || !all && age < attestWithin {
		return err
	}
	if err := r.quarantineUnattested(ctx, rollback, all); err != nil {
		return err
	}
	r.quarantined = rollback.At
	return nil
}

// attest compares the games in memory with their logs after a rollback, vouches
// for those that this server has followed since a time before it, and then says
// that it has done so.
func (r *Recovery) attest(ctx context.Context, hub *match.Hub, rollback store.Rollback, since time.Time) error {
	intact, _, err := r.verifyCached(ctx, hub, since)
	if err != nil {
		return err
	}
	for batch := range slices.Chunk(intact, vouchBatch) {
		if err := r.Heartbeats.Vouch(ctx, rollback.At, batch, attestedFor); err != nil {
			return err
		}
	}
	return r.Heartbeats.Attest(ctx, rollback.At, r.Heartbeat.ServerID, attestedFor)
}

// verifyCached compares the games that this server has in memory with their logs,
// and quarantines those whose log lacks an entry that the server knows. It returns
// how many it quarantined, and the intact games that the server has followed since
// the given time.
func (r *Recovery) verifyCached(ctx context.Context, hub *match.Hub, since time.Time) (intact []string, lost int, err error) {
	var mu sync.Mutex
	group, ctx := errgroup.WithContext(ctx)
	group.SetLimit(verifiers)
	for _, m := range hub.Cached() {
		group.Go(func() error {
			defer m.Release()
			state := m.State()
			_, err := m.Confirm(ctx)
			switch outcomeOf(err) {
			case readable:
				if m.FollowedSince(since) {
					mu.Lock()
					defer mu.Unlock()
					intact = append(intact, state.ID)
				}
			case damaged:
				done, err := r.quarantineLost(ctx, state)
				if done {
					mu.Lock()
					defer mu.Unlock()
					lost++
				}
				return err
			case failed:
				return err
			case unknown, gone:
			}
			return nil
		})
	}
	err = group.Wait()
	return intact, lost, err
}

// quarantineLost quarantines a game whose log lacks entries that this server knew.
// It reports false for a game that is in quarantine already.
func (r *Recovery) quarantineLost(ctx context.Context, known *replay.State) (bool, error) {
	tail, err := r.Log.Tail(ctx, known.ID)
	if err != nil || tail.Quarantined() {
		return false, err
	}
	err = r.quarantine(ctx, known, tail.Last)
	if err == nil {
		r.Logger.Error("game damaged", "id", "game-damaged", "game", known.ID, "version", tail.Last.Version,
			"detail", fmt.Sprintf("it had %d versions before the store went back", known.Version))
	}
	return err == nil, err
}

// allAttested reports whether every server that was alive in the copy has
// attested.
func (r *Recovery) allAttested(ctx context.Context, rollback store.Rollback, servers map[string]store.ServerBeat) (bool, error) {
	attested, err := r.Heartbeats.Attested(ctx, rollback.At)
	if err != nil {
		return false, err
	}
	return !slices.ContainsFunc(heartbeat.AliveInCopy(rollback, servers), func(id string) bool { return !attested[id] }), nil
}

// quarantineUnattested quarantines the games that may have lost moves and that no
// server vouches for. There are none if all servers that were alive in the copy
// have attested and the copy is so young that they still have every game in memory
// that moved since.
func (r *Recovery) quarantineUnattested(ctx context.Context, rollback store.Rollback, allAttested bool) error {
	if !allAttested || rollback.At.Sub(rollback.Copied) > r.Memory/2 {
		quarantined := 0
		err := r.Log.IDsAtRisk(ctx, func(gameIDs []string) error {
			vouched, err := r.Heartbeats.Vouched(ctx, rollback.At, gameIDs)
			if err != nil {
				return err
			}
			unattested := slices.DeleteFunc(slices.Clone(gameIDs), func(id string) bool { return vouched[id] })
			// The store went back at most one heartbeat after the one that is lost.
			ids, err := r.quarantineOpen(ctx, unattested, rollback.Before.Add(heartbeat.Interval))
			quarantined += len(ids)
			return err
		})
		if err != nil {
			return err
		}
		if quarantined > 0 {
			r.Logger.Error("the store went back in time: games that may have lost moves are quarantined", "id", "rollback-quarantined",
				"games", quarantined, "copied", rollback.Copied.UTC())
		}
	}
	return r.Heartbeats.Resolve(ctx, rollback.At)
}
