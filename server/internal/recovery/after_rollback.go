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
	// attestWithin is how long servers have to attest.
	attestWithin = 10 * time.Second
	// attestedFor is how long the store keeps attestations. It is longer than it takes to
	// quarantine the games that no server attests.
	attestedFor = time.Hour
	// verifiers is the number of games that are compared with their logs concurrently.
	verifiers = 64
	// attestBatch is the maximum number of games per call to AttestGames.
	attestBatch = 64
)

// afterRollback performs the next step of recovery if there was a rollback.
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

// attest compares the games in memory with their logs after a rollback, attests the intact
// ones that this server has followed since the given time before the rollback, and records
// that this server is done.
func (r *Recovery) attest(ctx context.Context, hub *match.Hub, rollback store.Rollback, since time.Time) error {
	intact, _, err := r.verifyCached(ctx, hub, since)
	if err != nil {
		return err
	}
	for batch := range slices.Chunk(intact, attestBatch) {
		if err := r.Heartbeats.AttestGames(ctx, rollback.At, batch, attestedFor); err != nil {
			return err
		}
	}
	return r.Heartbeats.AttestServer(ctx, rollback.At, r.Heartbeat.ServerID, attestedFor)
}

// verifyCached compares the games in this server's memory with their logs, and quarantines
// those whose log lacks an entry that the server has seen. It returns the intact games that
// the server has followed since the given time, and the number of games that it quarantined.
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

// quarantineLost quarantines a game whose log lacks entries that this server has seen. It
// returns false if the game was already quarantined.
func (r *Recovery) quarantineLost(ctx context.Context, known *replay.State) (bool, error) {
	tail, err := r.Log.Tail(ctx, known.ID)
	if err != nil || tail.Quarantined() {
		return false, err
	}
	err = r.quarantine(ctx, known, tail.Last)
	if err == nil {
		r.Logger.Error("game damaged", "id", "game-damaged", "game", known.ID, "version", tail.Last.Version,
			"detail", fmt.Sprintf("it had %d versions before the store was rolled back", known.Version))
	}
	return err == nil, err
}

// allAttested reports whether every server that was alive in the copy has attested.
func (r *Recovery) allAttested(ctx context.Context, rollback store.Rollback, servers map[string]store.ServerHeartbeat) (bool, error) {
	attested, err := r.Heartbeats.AttestedServers(ctx, rollback.At)
	if err != nil {
		return false, err
	}
	return !slices.ContainsFunc(heartbeat.AliveInCopy(rollback, servers), func(id string) bool { return !attested[id] }), nil
}

// quarantineUnattested quarantines the games that may have lost moves and that no server
// attests, and ends the recovery. No game needs quarantine if all servers that were alive
// in the copy have attested and the copy is so recent that every game with later moves is
// still in their memory. Half of Memory allows for the time until they attested.
func (r *Recovery) quarantineUnattested(ctx context.Context, rollback store.Rollback, allAttested bool) error {
	if !allAttested || rollback.At.Sub(rollback.Copied) > r.Memory/2 {
		quarantined := 0
		err := r.Log.IDsAtRisk(ctx, func(gameIDs []string) error {
			attested, err := r.Heartbeats.AttestedGames(ctx, rollback.At, gameIDs)
			if err != nil {
				return err
			}
			unattested := slices.DeleteFunc(slices.Clone(gameIDs), func(id string) bool { return attested[id] })
			// The rollback happened at most one heartbeat interval after rollback.Before, the
			// time of a heartbeat that the copy lacks.
			ids, err := r.quarantineOpen(ctx, unattested, rollback.Before.Add(heartbeat.Interval))
			quarantined += len(ids)
			return err
		})
		if err != nil {
			return err
		}
		if quarantined > 0 {
			r.Logger.Error("store rollback: quarantined games that may have lost moves", "id", "rollback-quarantined",
				"games", quarantined, "copied", rollback.Copied.UTC())
		}
	}
	return r.Heartbeats.Resolve(ctx, rollback.At)
}
