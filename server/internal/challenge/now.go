package challenge

import (
	"context"
	"errors"
	"slices"
	"strconv"
	"time"

	"github.com/gridstand/gridstand/game/replay"
	"github.com/gridstand/gridstand/internal/id"
)

const (
	// startAfter is how long a race that a player entered with Now waits for more players.
	startAfter = 15 * time.Second
	// AbsentAfter is how long a waiting race or game is listed after its last change or after its players
	// have stopped watching it. seenEvery is the precision of that time.
	AbsentAfter = 30 * time.Second
	seenEvery   = 10 * time.Second
	// gatherFor is how long calls of Now on different servers create the same races.
	gatherFor = 15 * time.Second
	// enterWithin limits how long a call of Now takes once it is its turn, even if its caller leaves.
	enterWithin = 10 * time.Second
)

// Absent reports whether a race still waits although its players have left it, or none of them has watched it
// recently.
func (c *Challenge) Absent(now time.Time) bool {
	return c.Status(now) == Waiting && (c.players() == 0 || now.Sub(c.seen) > AbsentAfter)
}

// players returns the number of entrants who are not bots.
func (c *Challenge) players() (n int) {
	for _, e := range c.Entrants {
		if e.Bot == "" {
			n++
		}
	}
	return n
}

// StandIn returns the bot that takes part in a new race until a second player comes.
func StandIn(challengeID, bot string) Entrant {
	return Entrant{Bot: bot, Ready: true, GameID: id.Derive([]byte("stand-in"), []byte(challengeID))}
}

// Bots returns the bots of a race as entrants of the race that follows it.
func (c *Challenge) Bots(nextID string) (bots []Entrant) {
	for _, e := range c.Entrants {
		switch {
		case e.Bot == "":
		case e == StandIn(c.ID, e.Bot):
			bots = append(bots, StandIn(nextID, e.Bot))
		default:
			bots = append(bots, Entrant{Bot: e.Bot, Ready: true, GameID: id.Derive([]byte("next race"), []byte(nextID), []byte(e.GameID))})
		}
	}
	return bots
}

// Seen records that one of the players of a waiting race is watching it.
func (s *Challenges) Seen(ctx context.Context, c *Challenge, now time.Time) error {
	if now.Sub(c.seen) < seenEvery {
		return nil
	}
	_, err := s.change(ctx, c.ID, func(c *Challenge, now time.Time) error {
		if !c.OpenTime.IsZero() || now.Sub(c.seen) < seenEvery {
			return errUnchanged
		}
		c.seen = now
		return nil
	})
	return err
}

// Now enters a player into a race with others, and returns it and the store's time before that: the race
// in which the player already waits with others, even if it is about to open, or the oldest public race that
// waits with a player present, or a new race, which draft returns for its id. A player who waits alone leaves
// that race for an older one. Before Now enters or creates a race, it calls admit with the number of races that
// it creates, more than once if the roster changes concurrently, and returns its error. A caller who leaves
// after that has entered, too.
//
// Players who call at the same time meet: the calls of a server take turns, and all servers derive
// the ids of new races from the time.
func (s *Challenges) Now(
	ctx context.Context, player replay.Player, draft func(challengeID string) Challenge, admit func(challenges int) error,
) (c *Challenge, now time.Time, err error) {
	if err := s.gathering.Acquire(ctx, 1); err != nil {
		return nil, now, err
	}
	defer s.gathering.Release(1)
	ctx, cancel := context.WithTimeout(context.WithoutCancel(ctx), enterWithin)
	defer cancel()
	if _, now, err = s.readAll(ctx); err != nil { // only the store's time
		return nil, now, err
	}
	waiting, alone, err := s.waiting(ctx, player.ID, now)
	if err != nil {
		return nil, now, err
	}
	for _, challengeID := range waiting { // the races that the list has
		c, err := s.enter(ctx, challengeID, player, admit)
		if err == nil && alone != "" && alone != challengeID {
			if _, err = s.Leave(ctx, alone, player.ID, ""); errors.Is(err, ErrStarted) || errors.Is(err, ErrNotFound) {
				err = nil // That race has just started or expired.
			}
		}
		if !passed(err) {
			return c, now, err
		}
	}
	// The races that servers create in this period and the one before. The list may lack the newest of them.
	slot := now.Truncate(gatherFor)
	from, n := slot.Add(-gatherFor), 0
	for {
		challengeID := nowID(from, n)
		n++
		c, ok := s.known.Get(challengeID)
		if ok && c.Entrant(player.ID) == nil && (!c.OpenTime.IsZero() || c.players() >= MaxEntrants) {
			continue
		}
		c, err := s.enter(ctx, challengeID, player, admit)
		switch {
		case errors.Is(err, ErrNotFound) && from.Before(slot):
			from, n = slot, 0
			continue
		case errors.Is(err, ErrNotFound):
			if err := admit(1); err != nil {
				return nil, now, err
			}
			c, err = s.Create(ctx, draft(challengeID), now)
			if err == nil && c.Entrant(player.ID) == nil { // Another server was faster.
				c, err = s.enter(ctx, challengeID, player, admit)
			}
		}
		if !passed(err) {
			return c, now, err
		}
	}
}

// waiting returns the ids of the public races that a player may enter, the oldest first, after the one
// in which the player waits with others. alone is the race in which the player waits without any.
func (s *Challenges) waiting(ctx context.Context, playerID string, now time.Time) (ids []string, alone string, err error) {
	recent, err := s.recent(ctx, replay.Race)
	for _, r := range slices.Backward(recent) {
		c, ok := s.known.Get(r.ID)
		switch {
		case !ok || c.Status(now) > Scheduled:
		case c.Absent(now): // The player would wait in it alone.
		case c.Entrant(playerID) != nil && c.players() > 1:
			ids = slices.Insert(ids, 0, c.ID)
		case c.Entrant(playerID) != nil && c.OpenTime.IsZero():
			ids, alone = append(ids, c.ID), c.ID
		case c.OpenTime.IsZero() && len(c.Entrants) < MaxEntrants:
			ids = append(ids, c.ID)
		}
	}
	return ids, alone, err
}

// nowID returns the id of a race that Now creates, the n-th one in a period.
func nowID(from time.Time, n int) string {
	return id.Derive([]byte("race now"), []byte(from.UTC().Format(time.RFC3339)), []byte(strconv.Itoa(n)))
}

// passed reports whether a player could not enter a race but may enter another one.
func passed(err error) bool {
	return errors.Is(err, ErrFull) || errors.Is(err, ErrStarted) || errors.Is(err, ErrNotFound)
}

// enter adds a player to a waiting race, which starts soon if it has two players. It changes nothing for a player on
// the roster, also while a race with others starts.
func (s *Challenges) enter(
	ctx context.Context, challengeID string, player replay.Player, admit func(challenges int) error,
) (*Challenge, error) {
	return s.change(ctx, challengeID, func(c *Challenge, now time.Time) error {
		withOthers := c.players() > 1 && c.Status(now) <= Scheduled
		if c.Entrant(player.ID) != nil && (withOthers || c.OpenTime.IsZero()) {
			return errUnchanged
		}
		return c.add(Entrant{Player: player}, now, true, admit)
	})
}
