package steward

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"strconv"
	"strings"
	"time"

	"github.com/redis/go-redis/v9"
	"golang.org/x/sync/errgroup"

	"github.com/gridstand/gridstand/game/replay"
	"github.com/gridstand/gridstand/server/internal/gamelog"
	"github.com/gridstand/gridstand/server/internal/match"
)

// standIn is the bot that moves for players who ran out of time.
const standIn = "greedy"

// timeUp is what becomes of a clock whose deadline has come: it is given back
// the time in which no move could be taken, else it has run out.
func (s *Steward) timeUp(ctx context.Context, state *replay.State) (replay.Action, error) {
	// Every outage that began before the deadline is noted once this is said
	// after the deadline.
	now, err := s.beat(ctx)
	if err != nil {
		return nil, err
	}
	if now.Before(state.Deadline()) {
		return nil, gamelog.ErrTooEarly
	}
	noted, err := s.agenda.outages(ctx, state.Memory().ClockFrom)
	if err != nil {
		return nil, err
	}
	if len(noted.settled(now)) < len(noted) {
		// Another server may have appended during it, and has still to say so.
		return nil, gamelog.ErrTooEarly
	}
	if owed := noted.owed(state); owed > 0 {
		return replay.ClockExtended{By: owed}, nil
	}
	if state.LastHuman(state.Turn()) {
		return replay.TimedOut{}, nil
	}
	return replay.TimedOut{StandIn: standIn}, nil
}

// relieve gives the clocks of this server's games their time back once an outage
// is over, so that nobody plays in a hurry, or watches a clock, that is wrong.
// Games that nobody plays or watches get it when their time is up.
func (s *Steward) relieve(ctx context.Context, hub *match.Hub) {
	h := s.seen.Load()
	if h == nil {
		return
	}
	noted, err := s.agenda.outages(ctx, time.Time{})
	if err != nil {
		s.Logger.Debug("cannot see what outages there were", "error", err)
		return
	}
	noted = noted.settled(h.now)
	if len(noted) == 0 {
		return
	}
	var group errgroup.Group
	group.SetLimit(lookers)
	for _, state := range hub.Clocked() {
		owed := noted.owed(state)
		if owed <= 0 {
			continue
		}
		group.Go(func() error {
			err := extend(ctx, hub, state, owed)
			var conflict *match.VersionConflictError
			switch {
			case err == nil, ctx.Err() != nil, errors.As(err, &conflict), errors.Is(err, replay.ErrGameOver):
			case kindOf(err) != failed:
				// The match shows no clock until its log is whole again.
				s.Logger.Debug("no clock to credit", "game", state.ID, "error", err)
			default:
				s.Logger.Warn("clock not credited yet", "id", "clock-not-credited", "game", state.ID, "error", err)
			}
			return nil
		})
	}
	_ = group.Wait()
}

// extend gives the clock that runs in a state time back.
func extend(ctx context.Context, hub *match.Hub, state *replay.State, by time.Duration) error {
	m, err := hub.Acquire(ctx, state.ID)
	if err != nil {
		return err
	}
	defer m.Release()
	_, err = m.Do(ctx, match.Call{Version: state.Version, Seat: state.Turn(), Action: replay.ClockExtended{By: by}})
	return err
}

// outages are times in which no server could take moves.
type outages []struct{ from, to time.Time }

// owed is what the clock that runs in a state is still to be given back.
func (o outages) owed(state *replay.State) time.Duration {
	clock := state.Memory()
	return o.since(clock.ClockFrom) - clock.ClockExtended
}

// settled returns those that all servers have told their appends of at a moment.
func (o outages) settled(now time.Time) outages {
	return slices.DeleteFunc(slices.Clone(o), func(each struct{ from, to time.Time }) bool {
		return each.to.Add(outageSettles).After(now)
	})
}

// since is how long no server could take moves from a moment on.
func (o outages) since(began time.Time) time.Duration {
	var total time.Duration
	for _, each := range o {
		from := each.from
		if from.Before(began) {
			from = began
		}
		total += max(each.to.Sub(from), 0)
	}
	return total
}

// outages returns those that were noted and ended at the given time or later.
func (a agenda) outages(ctx context.Context, since time.Time) (outages, error) {
	stored, err := a.client.ZRangeByScore(ctx, outagesKey, &redis.ZRangeBy{
		Min: strconv.FormatInt(since.UnixMilli(), 10), Max: "+inf",
	}).Result()
	if err != nil {
		return nil, fmt.Errorf("reading outages: %w", err)
	}
	noted := make(outages, len(stored))
	for i, text := range stored {
		from, to, _ := strings.Cut(text, " ")
		if noted[i].from, err = unixMilli(from); err == nil {
			noted[i].to, err = unixMilli(to)
		}
		if err != nil {
			return nil, fmt.Errorf("no outage: %q", text)
		}
	}
	return noted, nil
}

// unixMilli reads a time as beat.lua writes it.
func unixMilli(text string) (time.Time, error) {
	ms, err := strconv.ParseInt(text, 10, 64)
	return time.UnixMilli(ms), err
}
