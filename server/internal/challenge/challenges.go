package challenge

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"time"

	lru "github.com/hashicorp/golang-lru/v2"
	"golang.org/x/sync/semaphore"

	"github.com/gridstand/gridstand/game"
	"github.com/gridstand/gridstand/game/replay"
	"github.com/gridstand/gridstand/game/variants"
	"github.com/gridstand/gridstand/server/internal/cached"
	"github.com/gridstand/gridstand/server/internal/gamelog"
	"github.com/gridstand/gridstand/server/internal/store"
)

// Config configures a Challenges. All fields are required, except Outages. Only the methods
// that depend on whether a race is closed use it: Get, GetAll, List, Window, Hidden and Reveal.
type Config struct {
	Store store.Challenges
	Log   *gamelog.Log
	// Dailies contains the variants that have a daily game.
	Dailies []string
	// Keep is how long a challenge is kept after it has closed.
	Keep    time.Duration
	Outages Outages
}

// WaitsFor is how long a game waits for players, and a race for its start if it follows no other; see
// Create.
const WaitsFor = 24 * time.Hour

// Outages returns the last period in which no server was running; see liveness.Monitor.
type Outages interface {
	// LastOutage returns the last outage that this server knows of.
	LastOutage() store.Span
	// Outage asks the store for the last outage, and also returns the time until which it is the
	// last.
	Outage(ctx context.Context) (last store.Span, known time.Time, err error)
}

// Challenges manages the challenges in a store. It is safe for concurrent use. Its methods
// return the errors defined in this package and those of the store and the context.
type Challenges struct {
	Config
	// known caches challenges as they were last read. Except for the times of races, the
	// fields that decide whether a move is allowed do not change.
	known *lru.Cache[string, *Challenge]

	// recents caches the latest challenges in the list of each kind; see recent. A new race makes this
	// server read that of races again.
	recents cached.Reads[replay.ChallengeKind, []*Challenge]
	// gathering is held while a call of Now looks for a race.
	gathering *semaphore.Weighted
}

// maxKnown is the maximum number of cached challenges. A full cache takes about 20 MB.
const maxKnown = 1 << 14

// New returns a Challenges with the given configuration.
func New(c Config) *Challenges {
	known, _ := lru.New[string, *Challenge](maxKnown) // fails only for a size below 1
	return &Challenges{Config: c, known: known, gathering: semaphore.NewWeighted(1)}
}

// Get returns the challenge with the given id and the store's time. If the challenge is a
// race, Get first credits the last outage to it.
func (s *Challenges) Get(ctx context.Context, challengeID string) (*Challenge, time.Time, error) {
	return single(s.GetAll(ctx, challengeID))
}

// GetAll is like Get but reads several challenges. It returns those that exist, in the
// given order.
func (s *Challenges) GetAll(ctx context.Context, ids ...string) ([]*Challenge, time.Time, error) {
	all, now, err := s.readAll(ctx, ids...)
	if err == nil {
		all, err = s.settle(ctx, all, now)
	}
	return all, now, err
}

// Read is like Get, but credits no outage to a race, whose CloseTime may therefore still change.
func (s *Challenges) Read(ctx context.Context, challengeID string) (*Challenge, time.Time, error) {
	return single(s.readAll(ctx, challengeID))
}

// single returns the only challenge in found, or ErrNotFound if found is empty.
func single(found []*Challenge, now time.Time, err error) (*Challenge, time.Time, error) {
	switch {
	case err != nil:
		return nil, now, err
	case len(found) == 0:
		return nil, now, ErrNotFound
	}
	return found[0], now, nil
}

// readAll reads the given challenges from the store. It returns those that exist, in the given
// order, and the store's time.
func (s *Challenges) readAll(ctx context.Context, ids ...string) ([]*Challenge, time.Time, error) {
	stored, now, err := s.Store.Get(ctx, ids...)
	if err != nil {
		return nil, now, fmt.Errorf("reading challenges: %w", err)
	}
	var all []*Challenge
	for _, challengeID := range ids {
		if kept, ok := stored[challengeID]; ok {
			c, err := decode(kept)
			if err != nil {
				return nil, now, err
			}
			if before, ok := s.known.Get(c.ID); ok && before.ended {
				c = before
			} else if c.Kind != replay.Race {
				c.ended = c.Status(now) == Closed
			}
			s.known.Add(c.ID, c)
			all = append(all, c)
		}
	}
	return all, now, nil
}

// Create creates a challenge at the given time, by the store's clock. It sets the times of the challenge, except for
// the OpenTime of a daily game, and draws a seed unless c has that of a rematch. It adds the creator as the
// first entrant of a race, before its bots. A race that waits is kept until WaitsFor after now or, if that is later,
// after c.Expires, which is that of the race that it follows. If a challenge with the same id exists, Create returns it.
func (s *Challenges) Create(ctx context.Context, c Challenge, now time.Time) (*Challenge, error) {
	now = now.UTC().Truncate(time.Millisecond)
	c.CreateTime, c.seen = now, now
	if c.Seed.IsZero() {
		rules, ok := variants.Current(c.Variant)
		if !ok {
			return nil, ErrNoVariant
		}
		c.Revision, c.Seed = rules.Revision, game.NewSeed()
	}
	switch c.Kind {
	case replay.Daily:
		c.Date, c.CloseTime = c.OpenTime.Format(DateFormat), c.OpenTime.AddDate(0, 0, 1)
	case replay.Race:
		c.Entrants = append([]Entrant{{Player: c.Creator, GameID: AttemptID(c.ID, c.Creator.ID)}}, c.Entrants...)
		c.gathers = c.Has(StandIn(c.ID, "").GameID)
		c.Expires = slices.MaxFunc([]time.Time{now, c.Expires}, time.Time.Compare).Add(WaitsFor)
	default:
		c.OpenTime, c.CloseTime = now, now.Add(OpenFor)
	}
	if c.Kind != replay.Race {
		c.Expires = c.CloseTime.Add(s.Keep)
	}
	if err := s.save(ctx, &c); err != nil && !errors.Is(err, store.ErrMoved) {
		return nil, err
	}
	if !c.Private && c.Kind == replay.Race {
		s.recents.Forget(replay.Race) // Now must find the race at once.
	}
	created, _, err := s.Read(ctx, c.ID) // Another call may have created it.
	return created, err
}

// save stores a new challenge, or one that has changed. The error is store.ErrMoved if another call has stored it
// since it was read.
func (s *Challenges) save(ctx context.Context, c *Challenge) error {
	kept, err := c.stored()
	if err == nil {
		err = s.Store.Update(ctx, kept)
	}
	if err != nil {
		return fmt.Errorf("storing a challenge: %w", err)
	}
	return nil
}

// errUnchanged is returned by functions passed to change that do not modify the challenge.
var errUnchanged = errors.New("unchanged")

// change calls do to modify the challenge, and then stores it. If the stored challenge has
// changed in the meantime, or do returns store.ErrMoved, change retries.
func (s *Challenges) change(ctx context.Context, challengeID string, do func(c *Challenge, now time.Time) error) (*Challenge, error) {
	for {
		known, now, err := s.Read(ctx, challengeID)
		if err != nil {
			return nil, err
		}
		// Copy the cached challenge, because other goroutines may be reading it.
		c := new(*known)
		c.Entrants = slices.Clone(known.Entrants)
		if err = do(c, now); err == nil {
			err = s.save(ctx, c)
		}
		switch {
		case err == nil:
			c.revision++
			s.known.Add(c.ID, c)
			return c, nil
		case errors.Is(err, errUnchanged):
			return c, nil
		case !errors.Is(err, store.ErrMoved):
			return nil, err
		}
	}
}
