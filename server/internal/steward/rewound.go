package steward

import (
	"context"
	"fmt"
	"slices"
	"strconv"
	"sync/atomic"
	"time"

	"golang.org/x/sync/errgroup"

	"github.com/gridstand/gridstand/game/replay"
	"github.com/gridstand/gridstand/server/internal/heartbeat"
	"github.com/gridstand/gridstand/server/internal/match"
)

// A rollback of Redis, as when it is restored from a copy or fails over to a
// replica that lags, loses moves that players were told of. A server that ran
// before sees it by its own heartbeat, which is older than the one that was
// acknowledged, and when the Redis process is another one it looks for log
// entries that are missing. Each server then compares the games that it has in
// memory with their logs, quarantines those whose log lacks an entry, and attests
// that it has done so. That finds every lost move if little was lost and every
// server that was alive in the copy attests. Otherwise all games of that time are
// quarantined, but those that a server vouches for because it followed them.
//
// It does not help if no server ran before: then an operator quarantines games.
// On a cluster it speaks for the master that holds the heartbeats.

const (
	// attestWithin is how long the servers have to attest.
	attestWithin = 10 * time.Second
	// attestedFor is how long it is remembered what they attested: longer than it
	// takes to quarantine the rest.
	attestedFor = time.Hour
	// vetters is how many games are compared with their logs at once.
	vetters = 64
)

func vouchedKey(r heartbeat.Rollback) string {
	return "vouched:" + strconv.FormatInt(r.ID(), 10) + ":{beat}"
}

func attestedKey(r heartbeat.Rollback) string {
	return "attested:" + strconv.FormatInt(r.ID(), 10) + ":{beat}"
}

// rewound does what is to be done after a rollback, if there was one.
func (s *Steward) rewound(ctx context.Context, hub *match.Hub) {
	if err := s.afterRollback(ctx, hub); err != nil && ctx.Err() == nil {
		s.Logger.Warn("games that redis lost not found yet", "id", "rollback-pending", "error", err)
	}
}

func (s *Steward) afterRollback(ctx context.Context, hub *match.Hub) error {
	h := s.Heartbeat.Last()
	if h == nil {
		return nil
	}
	if suspect := s.Heartbeat.Suspect(); suspect != nil {
		lost, err := s.verifyCached(ctx, hub, suspect.Local, nil)
		if err == nil {
			err = s.Heartbeat.Verified(ctx, suspect, lost > 0)
		}
		if err != nil {
			return err
		}
	}
	r := h.Rollback
	if r.ID() == 0 || r.Quarantined && s.attested == r.ID() {
		return nil
	}
	if s.attested != r.ID() {
		if h.Now.Sub(r.At) < attestedFor {
			if err := s.attest(ctx, hub, r, h.Local.Add(-h.Now.Sub(r.Before))); err != nil {
				return err
			}
		}
		s.attested = r.ID()
	}
	if r.Quarantined || s.swept == r.ID() {
		return nil
	}
	whole, err := s.allAttested(ctx, r, h.Servers)
	if err != nil || !whole && h.Now.Sub(r.At) < attestWithin {
		return err
	}
	if err := s.sweep(ctx, r, whole); err != nil {
		return err
	}
	s.swept = r.ID()
	return nil
}

// attest compares the games in memory with their logs after a rollback, vouches
// for those that this server has followed since a moment before it, and then says
// that it has done so.
func (s *Steward) attest(ctx context.Context, hub *match.Hub, r heartbeat.Rollback, since time.Time) error {
	if _, err := s.verifyCached(ctx, hub, since, &r); err != nil {
		return err
	}
	if err := s.Client.SAdd(ctx, attestedKey(r), s.ServerID).Err(); err != nil {
		return fmt.Errorf("attesting: %w", err)
	}
	return s.Client.Expire(ctx, attestedKey(r), attestedFor).Err()
}

// verifyCached compares the games that this server has in memory with their logs,
// and quarantines those whose log lacks an entry that the server knows. It returns
// how many. After a rollback r it vouches for those that the server has followed
// since the given moment.
func (s *Steward) verifyCached(ctx context.Context, hub *match.Hub, since time.Time, r *heartbeat.Rollback) (lost int, err error) {
	cached := hub.Cached()
	sound := make([]string, len(cached))
	var quarantined atomic.Int64
	group, grouped := errgroup.WithContext(ctx)
	group.SetLimit(vetters)
	for i, m := range cached {
		group.Go(func() error {
			defer m.Release()
			state := m.State()
			_, err := m.Confirm(grouped)
			switch kindOf(err) {
			case readable:
				if m.FollowedSince(since) {
					sound[i] = state.ID
				}
			case damaged:
				done, err := s.fenceLost(grouped, state)
				if done {
					quarantined.Add(1)
				}
				return err
			case failed:
				return err
			case unknown, gone:
			}
			return nil
		})
	}
	if err := group.Wait(); err != nil || r == nil {
		return int(quarantined.Load()), err
	}
	sound = slices.DeleteFunc(sound, func(gameID string) bool { return gameID == "" })
	for batch := range slices.Chunk(sound, 64) {
		if err := s.Client.SAdd(ctx, vouchedKey(*r), batch).Err(); err != nil {
			return 0, fmt.Errorf("vouching for games: %w", err)
		}
	}
	return int(quarantined.Load()), s.Client.Expire(ctx, vouchedKey(*r), attestedFor).Err()
}

// fenceLost quarantines a game whose log lacks entries that this server knew. It
// reports false for one that is in quarantine already.
func (s *Steward) fenceLost(ctx context.Context, known *replay.State) (bool, error) {
	tail, err := s.Log.Tail(ctx, known.ID)
	if err != nil || tail.Quarantined() {
		return false, err
	}
	err = s.fence(ctx, known, tail.Last)
	if err == nil {
		s.Logger.Error("game damaged", "id", "game-damaged", "game", known.ID, "version", tail.Last.Version,
			"detail", fmt.Sprintf("it had %d versions before redis went back", known.Version))
	}
	return err == nil, err
}

// allAttested reports whether every server that was alive in the copy has
// attested.
func (s *Steward) allAttested(ctx context.Context, r heartbeat.Rollback, servers map[string]heartbeat.Server) (bool, error) {
	attested, err := s.Client.SMembersMap(ctx, attestedKey(r)).Result()
	if err != nil {
		return false, fmt.Errorf("asking who attested: %w", err)
	}
	for _, id := range r.AliveInCopy(servers) {
		if _, ok := attested[id]; !ok {
			return false, nil
		}
	}
	return true, nil
}

// sweep quarantines the games that may have lost moves and that no server vouches
// for. If all servers that were alive in the copy have attested, and the copy is
// so young that they still have every game in memory that moved since, there are
// none.
func (s *Steward) sweep(ctx context.Context, r heartbeat.Rollback, whole bool) error {
	if !whole || r.At.Sub(r.Copied) > s.Memory/2 {
		fenced := 0
		err := s.Log.GamesBeside(ctx, attestedKey(r), func(gameIDs []string) error {
			members := make([]any, len(gameIDs))
			for i, gameID := range gameIDs {
				members[i] = gameID
			}
			vouched, err := s.Client.SMIsMember(ctx, vouchedKey(r), members...).Result()
			if err != nil {
				return err
			}
			var doubtful []string
			for i, gameID := range gameIDs {
				if !vouched[i] {
					doubtful = append(doubtful, gameID)
				}
			}
			// Redis went back at most one heartbeat after the one that is lost.
			ids, err := s.fenceAll(ctx, doubtful, r.Before.Add(heartbeat.Interval))
			fenced += len(ids)
			return err
		})
		if err != nil {
			return err
		}
		if fenced > 0 {
			s.Logger.Error("redis went back in time: games that may have lost moves are damaged", "id", "rollback-quarantined",
				"games", fenced, "copied", r.Copied.UTC())
		}
	}
	return s.Heartbeat.Quarantined(ctx, r)
}
