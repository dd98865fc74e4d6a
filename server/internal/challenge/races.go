package challenge

import (
	"cmp"
	"context"
	"errors"
	"slices"
	"time"

	"github.com/gridstand/gridstand/game/replay"
	"github.com/gridstand/gridstand/internal/convert"
	"github.com/gridstand/gridstand/server/internal/gamelog"
	"github.com/gridstand/gridstand/server/internal/store"
)

// Join adds an entrant to the roster of a race, or updates whether a player is ready. by is the
// caller's id. Only a host may add bots; the entrant then contains the id of the bot's game. Before Join
// adds an entrant, it calls admit with 0, more than once if the roster changes concurrently, and
// returns its error.
func (s *Challenges) Join(ctx context.Context, challengeID, by string, e Entrant, admit func(challenges int) error) (*Challenge, error) {
	return s.change(ctx, challengeID, func(c *Challenge, now time.Time) error {
		own := c.Entrant(e.Player.ID)
		switch {
		case e.Bot != "" && !c.Hosts(by):
			return ErrNotCreator
		case own == nil && c.Has(e.GameID):
			return errUnchanged // An earlier call has already added the bot.
		case own == nil:
			return c.add(e, now, c.gathers && e.Bot == "", admit)
		case own.Ready == e.Ready, !c.OpenTime.IsZero():
			return errUnchanged
		}
		own.Ready = e.Ready
		return nil
	})
}

// add adds an entrant to the roster, unless the race has started, it is full or admit returns an error. A player
// replaces the bot that stands in for others, if there is a player already. If soon is set and there are two
// players, the race starts by itself.
func (c *Challenge) add(e Entrant, now time.Time, soon bool, admit func(challenges int) error) error {
	if !c.OpenTime.IsZero() {
		return ErrStarted
	}
	others, standIn := c.Entrants, StandIn(c.ID, "").GameID
	if e.Bot != "" {
		e.Ready = true
	} else {
		e.GameID = AttemptID(c.ID, e.Player.ID)
		if c.players() > 0 {
			others = slices.DeleteFunc(others, func(e Entrant) bool { return e.GameID == standIn })
		}
	}
	if len(others) >= MaxEntrants {
		return ErrFull
	}
	if err := admit(0); err != nil {
		return err
	}
	c.Entrants = append(others, e)
	if soon && c.StartTime.IsZero() && c.players() > 1 {
		c.StartTime = now.UTC().Truncate(time.Millisecond).Add(startAfter)
	}
	return nil
}

// Leave removes the caller from the roster of a race or, if botGameID is not empty, the bot
// with that game.
func (s *Challenges) Leave(ctx context.Context, challengeID, by, botGameID string) (*Challenge, error) {
	return s.change(ctx, challengeID, func(c *Challenge, now time.Time) error {
		i := slices.IndexFunc(c.Entrants, func(e Entrant) bool {
			if botGameID != "" {
				return e.Bot != "" && e.GameID == botGameID
			}
			return e.Player.ID == by
		})
		switch {
		case botGameID != "" && !c.Hosts(by):
			return ErrNotCreator
		case i < 0:
			return errUnchanged
		case !c.OpenTime.IsZero():
			return ErrStarted
		}
		c.Entrants = slices.Delete(c.Entrants, i, i+1)
		if c.players() < 2 {
			c.StartTime = time.Time{}
		}
		return nil
	})
}

// enough reports whether a race has enough entrants to start.
func (c *Challenge) enough() bool { return len(c.Entrants) > 1 && c.players() > 0 }

// Ready reports whether a race starts because all its entrants are ready.
func (c *Challenge) Ready() bool {
	return c.OpenTime.IsZero() && c.enough() && !slices.ContainsFunc(c.Entrants, func(e Entrant) bool { return !e.Ready })
}

// Due reports whether a race starts by itself: all its entrants are ready, or its StartTime has come.
func (c *Challenge) Due(now time.Time) bool {
	return c.Ready() || !c.StartTime.IsZero() && !now.Before(c.StartTime)
}

// Start starts the countdown of a race if it is Due, or if a host asks for that. Before that, it calls
// prepare, which creates everything that must exist when the race opens, and returns its error. If players
// join in the meantime, Start calls it again, but only once for each of them: a player who joins and leaves
// again does not delay the start. A race that has already started, or is not Due, stays unchanged.
func (s *Challenges) Start(ctx context.Context, challengeID string, asked bool, prepare func(*Challenge) error) (*Challenge, error) {
	prepared := map[string]bool{} // by the id of the attempt
	return s.change(ctx, challengeID, func(c *Challenge, now time.Time) error {
		switch {
		case !c.OpenTime.IsZero() || !asked && !c.Due(now):
			return errUnchanged
		case !c.enough():
			return ErrTooFewEntrants
		case slices.ContainsFunc(c.Entrants, func(e Entrant) bool { return !prepared[e.GameID] }):
			for _, e := range c.Entrants {
				prepared[e.GameID] = true
			}
			return cmp.Or(prepare(c), store.ErrMoved) // The roster may have changed, and the countdown begins now.
		}
		c.StartTime = time.Time{}
		c.OpenTime = now.UTC().Truncate(time.Millisecond).Add(Countdown)
		c.CloseTime = c.OpenTime.Add(c.Limit)
		c.Expires = c.CloseTime.Add(s.Keep)
		return nil
	})
}

// settle postpones the close of each race in all by the last outage, if that affected it, ends the races
// that are over, and returns the updated challenges. It asks the store for the last outage only if the
// CloseTime of a race has passed.
func (s *Challenges) settle(ctx context.Context, all []*Challenge, now time.Time) ([]*Challenge, error) {
	var settled []*Challenge
	outage := s.Outages.LastOutage()
	var known time.Time // the time until which outage is the last, or zero before the store was asked
	for _, c := range all {
		var err error
		status := c.Status(now)
		if status == Closed && !c.Final() && known.IsZero() {
			if outage, known, err = s.Outages.Outage(ctx); err != nil {
				return nil, err
			}
		}
		if status >= Open && !c.Final() {
			c, err = s.credit(ctx, c, outage, known)
		}
		switch {
		case err == nil:
			settled = append(settled, c)
		case !errors.Is(err, ErrNotFound): // The race may have expired in the meantime.
			return nil, err
		}
	}
	return settled, nil
}

// credit postpones the close of a race by the given outage, unless a server has already done so. It also ends
// the race if it was closed at the time known, until which all outages are known: its seed is shown from now
// on, so a later outage that counts as the same as an earlier one must not open it again. If only the end
// cannot be stored, credit returns the race as it is.
func (s *Challenges) credit(ctx context.Context, c *Challenge, outage store.Span, known time.Time) (*Challenge, error) {
	affected := c.lost(outage) > 0
	if !affected && c.Status(known) != Closed {
		return c, nil
	}
	credited, err := s.change(ctx, c.ID, func(c *Challenge, _ time.Time) error {
		lost := c.lost(outage)
		if lost > 0 {
			c.creditedUntil = outage.To
			c.Credited += lost
			c.CloseTime = c.CloseTime.Add(lost)
			c.Expires = c.Expires.Add(lost)
		}
		ends := !c.ended && c.Status(known) == Closed
		if lost == 0 && !ends {
			return errUnchanged
		}
		c.ended = ends
		return nil
	})
	if err != nil && !affected {
		return c, nil
	}
	return credited, err
}

// CloseIfOver closes the race of a finished attempt early if all attempts are over. It is
// idempotent, and has no effect for other kinds of challenges.
func (s *Challenges) CloseIfOver(ctx context.Context, attempt *replay.State) error {
	if attempt.Attempt.Kind != replay.Race {
		return nil
	}
	_, err := s.change(ctx, attempt.Attempt.ChallengeID, func(c *Challenge, now time.Time) error {
		if c.Status(now) != Open {
			return errUnchanged
		}
		states, over, err := s.States(ctx, c)
		if err != nil || !over {
			return cmp.Or(err, errUnchanged)
		}
		last := slices.MaxFunc(states, func(a, b *replay.State) int { return a.UpdateTime.Compare(b.UpdateTime) })
		c.CloseTime, c.ended = last.UpdateTime.UTC().Truncate(time.Millisecond).Add(time.Millisecond), true
		return nil
	})
	if errors.Is(err, ErrNotFound) {
		return nil
	}
	return err
}

// States returns the states of all attempts at a race, in the order of its entrants, and whether all are over.
// The state of an unreadable attempt is nil.
func (s *Challenges) States(ctx context.Context, race *Challenge) (states []*replay.State, over bool, err error) {
	heads, err := s.Log.Heads(ctx, race.GameIDs())
	states = convert.All(heads, func(h gamelog.Head) *replay.State { return h.State })
	over = !slices.ContainsFunc(states, func(state *replay.State) bool {
		return state == nil || state.Status != replay.Finished
	})
	return states, over, err
}

// Result is an entrant's result in a race.
type Result struct {
	Entrant int  // index in Challenge.Entrants
	Ranked  bool // whether it counts: a bot's attempt does, and a player's if that is ranked
	Score   int32
	Last    time.Time // time of the attempt's last event
	ended   time.Time
}

// Results returns the results in a race in the order of its standings, first those that count. Of equal scores, the
// one of the attempt that ended earlier ranks first, or else of the entrant who joined earlier. states has the
// states of the entrants' attempts, which are nil for those that cannot be read.
func (c *Challenge) Results(states []*replay.State) []Result {
	results := make([]Result, len(states))
	for i, state := range states {
		// A running attempt already ranks as if the race closed now: its moves without points do not change an
		// order of equals. The close ends attempts at once, though servers log that one after another.
		results[i] = Result{Entrant: i, Ranked: true, ended: c.CloseTime}
		if state == nil {
			continue
		}
		results[i].Ranked = c.Entrants[i].Bot != "" || state.Ranked
		results[i].Score, results[i].Last = state.Position.Scores()[0], state.UpdateTime
		if state.Status == replay.Finished && state.UpdateTime.Before(c.CloseTime) {
			results[i].ended = state.UpdateTime
		}
	}
	slices.SortStableFunc(results, func(a, b Result) int {
		switch {
		case a.Ranked && !b.Ranked:
			return -1
		case b.Ranked && !a.Ranked:
			return 1
		}
		return cmp.Or(cmp.Compare(b.Score, a.Score), a.ended.Compare(b.ended))
	})
	return results
}

// lost returns for how long the given outage, which is not credited yet, kept the race from being
// played.
func (c *Challenge) lost(outage store.Span) time.Duration {
	from := slices.MaxFunc([]time.Time{outage.From, c.OpenTime, c.creditedUntil}, time.Time.Compare)
	if c.ended || !outage.To.After(c.creditedUntil) || !from.Before(c.CloseTime) {
		return 0
	}
	return max(outage.To.Sub(from), 0)
}
