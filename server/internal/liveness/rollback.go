package liveness

import (
	"context"
	"fmt"
	"log/slog"
	"sync"
	"time"

	"golang.org/x/sync/errgroup"

	"github.com/gridstand/gridstand/game/replay"
	"github.com/gridstand/gridstand/server/internal/match"
	"github.com/gridstand/gridstand/server/internal/store"
)

// verifiers is the number of games that are compared with their logs concurrently.
const verifiers = 64

// suspicion is the suspicion that the store has lost writes. A Monitor has one after its own
// heartbeat was lost, or after the store's process was replaced, and a Recovery ends it.
type suspicion struct {
	// since is the time of the last acknowledged heartbeat before the loss.
	since  time.Time
	logged sync.Once
}

// suspect begins a suspicion of the loss of writes after the given heartbeat.
func (m *Monitor) suspect(last *store.HeartbeatResult) *suspicion {
	s := &suspicion{since: last.At}
	m.suspicion.Store(s)
	return s
}

// confirm logs that the store has lost writes, unless it has already done so.
func (s *suspicion) confirm(logger *slog.Logger) {
	s.logged.Do(func() {
		// The loss happened at most one interval after the last acknowledged heartbeat.
		before := s.since.Add(interval).UTC().Format(time.RFC3339Nano)
		logger.Error("store rollback: acknowledged writes were lost; with the --store of this server, the command quarantines the games that it cannot check",
			"id", "redis-rolled-back", "command", "gridstand-server quarantine --before "+before)
	})
}

// quarantineShortened compares the games in this server's memory with their logs if the store may
// have lost writes, and quarantines those whose log lacks an entry that the server has seen.
func (r *Recovery) quarantineShortened(ctx context.Context, hub *match.Hub) error {
	suspected := r.Monitor.suspicion.Load()
	if suspected == nil {
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
					suspected.confirm(r.Logger)
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
		r.Monitor.suspicion.CompareAndSwap(suspected, nil)
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
	if err := r.Log.Quarantine(ctx, known.ID, tail.Last, r.KeepFinished); err != nil {
		return false, err
	}
	r.Logger.Error("game damaged", "id", "game-damaged", "game", known.ID, "version", tail.Last.Version,
		"detail", fmt.Sprintf("it had %d versions before the store was rolled back", known.Version))
	return true, nil
}
