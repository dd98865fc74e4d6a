package steward

import (
	"context"
	"fmt"
	"slices"
	"strconv"
	"time"

	"golang.org/x/sync/errgroup"

	"github.com/gridstand/gridstand/game/replay"
	"github.com/gridstand/gridstand/server/match"
)

// A Redis that went back in time, restarted empty or restored from a copy, has
// lost moves that people were told of. A server that ran before notices by the
// beat. What it still holds in memory it compares with the logs: a game whose
// log lacks an entry is fenced, one whose log has them all is vouched for. Games
// of that time that no server vouches for are fenced a little later, unless so
// little was lost that a server would still have in memory whatever changed.
//
// It does not help where no server ran before, or where the one died too that
// took the lost moves: then an operator says what is fenced. On a cluster it
// speaks for the master that holds the beat.

const (
	// vouchWithin is how long the servers have to vouch for games.
	vouchWithin = 10 * time.Second
	// vouchedFor is how long it is remembered for what games they did: longer
	// than it takes to fence the others.
	vouchedFor = time.Hour
	// vetters is how many games are compared with their logs at once.
	vetters = 64
)

// rewind is a time that Redis went back.
type rewind struct {
	at time.Time // when it was seen
	// copied is when what Redis holds was copied, zero for nothing, and before
	// a later moment that is lost. Both are older than at.
	copied, before time.Time
	swept          bool
}

func (r rewind) vouchedKey() string {
	return "vouched:" + strconv.FormatInt(r.at.UnixMilli(), 10) + ":{beat}"
}

// rewind returns the last time that Redis went back; ok is false if it never
// did.
func (a agenda) rewind(ctx context.Context) (r rewind, ok bool, err error) {
	var stored struct {
		At     int64 `redis:"at"`
		From   int64 `redis:"from"`
		Before int64 `redis:"before"`
		Swept  int64 `redis:"swept"`
	}
	if err := a.client.HGetAll(ctx, rewoundKey).Scan(&stored); err != nil {
		return r, false, fmt.Errorf("asking whether redis went back: %w", err)
	}
	r = rewind{
		at: time.UnixMilli(stored.At), copied: time.UnixMilli(stored.From), before: time.UnixMilli(stored.Before),
		swept: stored.Swept == stored.At,
	}
	return r, stored.At != 0, nil
}

// rewound does what is to be done when Redis went back.
func (s *Steward) rewound(ctx context.Context, hub *match.Hub) {
	r, ok, err := s.agenda.rewind(ctx)
	if err != nil {
		s.Logger.Debug("cannot see whether redis went back", "error", err)
		return
	}
	if !ok || r.swept && s.vetted == r.at.UnixMilli() {
		return
	}
	now, err := s.Client.Time(ctx).Result()
	if err != nil {
		s.Logger.Debug("cannot see whether redis went back", "error", err)
		return
	}
	if s.vetted != r.at.UnixMilli() {
		if now.Sub(r.at) < vouchedFor {
			err = s.vet(ctx, hub, r, time.Now().Add(-now.Sub(r.before)))
		}
		if err == nil {
			s.vetted = r.at.UnixMilli()
		}
	}
	if err == nil && !r.swept && now.Sub(r.at) > vouchWithin {
		err = s.sweep(ctx, r)
	}
	if err != nil && ctx.Err() == nil {
		s.Logger.Warn("games that redis lost not found yet", "error", err)
	}
}

// vet compares the games that this server has had in memory since a moment with
// their logs.
func (s *Steward) vet(ctx context.Context, hub *match.Hub, r rewind, since time.Time) error {
	known := hub.Since(since)
	sound := make([]string, len(known))
	group, grouped := errgroup.WithContext(ctx)
	group.SetLimit(vetters)
	for i, m := range known {
		group.Go(func() error {
			defer m.Release()
			state := m.State()
			_, err := m.Confirm(grouped)
			switch kindOf(err) {
			case readable:
				sound[i] = state.ID
			case damaged:
				return s.fenceLost(grouped, state)
			case failed:
				return err
			case unknown, gone:
			}
			return nil
		})
	}
	if err := group.Wait(); err != nil {
		return err
	}
	sound = slices.DeleteFunc(sound, func(gameID string) bool { return gameID == "" })
	for batch := range slices.Chunk(sound, batch) {
		if err := s.Client.SAdd(ctx, r.vouchedKey(), batch).Err(); err != nil {
			return fmt.Errorf("vouching for games: %w", err)
		}
	}
	return s.Client.Expire(ctx, r.vouchedKey(), vouchedFor).Err()
}

// fenceLost fences a game of which more was known than its log holds.
func (s *Steward) fenceLost(ctx context.Context, known *replay.State) error {
	tail, err := s.Log.Tail(ctx, known.ID)
	if err != nil {
		return err
	}
	err = s.fence(ctx, known, tail.Last)
	if err == nil {
		s.Logger.Error("game damaged", "game", known.ID, "version", tail.Last.Version,
			"detail", fmt.Sprintf("it had %d versions before redis went back", known.Version))
	}
	return err
}

// sweep fences the games that may have lost moves and that nobody vouches for.
func (s *Steward) sweep(ctx context.Context, r rewind) error {
	if r.at.Sub(r.copied) > s.Memory/2 {
		fenced := 0
		err := s.Log.GamesBeside(ctx, beatKey, func(gameIDs []string) error {
			members := make([]any, len(gameIDs))
			for i, gameID := range gameIDs {
				members[i] = gameID
			}
			vouched, err := s.Client.SMIsMember(ctx, r.vouchedKey(), members...).Result()
			if err != nil {
				return err
			}
			var doubtful []string
			for i, gameID := range gameIDs {
				if !vouched[i] {
					doubtful = append(doubtful, gameID)
				}
			}
			ids, err := s.fenceAll(ctx, doubtful, r.before)
			fenced += len(ids)
			return err
		})
		if err != nil {
			return err
		}
		if fenced > 0 {
			s.Logger.Error("redis went back in time: games that may have lost moves are damaged", "games", fenced, "copied", r.copied.UTC())
		}
	}
	return s.Client.HSet(ctx, rewoundKey, "swept", r.at.UnixMilli()).Err()
}
