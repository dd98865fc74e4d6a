package recovery

import (
	"context"
	"fmt"

	"golang.org/x/sync/errgroup"

	"github.com/gridstand/gridstand/game/replay"
	"github.com/gridstand/gridstand/server/internal/match"
)

// verifiers is the number of games that are compared with their logs concurrently.
const verifiers = 64

// afterRollback compares the games in this server's memory with their logs if the store may have
// lost writes, and quarantines those whose log lacks an entry that the server has seen.
func (r *Recovery) afterRollback(ctx context.Context, hub *match.Hub) error {
	suspicion := r.Heartbeat.Suspicion()
	if suspicion == nil {
		return nil
	}
	group, ctx := errgroup.WithContext(ctx)
	group.SetLimit(verifiers)
	for _, m := range hub.Cached() {
		group.Go(func() error {
			defer m.Release()
			state := m.State()
			_, err := m.Confirm(ctx)
			switch outcomeOf(err) {
			case damaged:
				lost, err := r.quarantineLost(ctx, state)
				if lost {
					r.Heartbeat.Confirm(suspicion)
				}
				return err
			case failed:
				return err
			case readable, unknown, gone:
			}
			return nil
		})
	}
	err := group.Wait()
	if err == nil {
		r.Heartbeat.Resolve(suspicion)
	}
	return err
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
