package rpc

import (
	"context"
	"errors"
	"slices"
	"time"

	"github.com/gridstand/gridstand/game/replay"
	pb "github.com/gridstand/gridstand/proto/gridstand/v1"
	"github.com/gridstand/gridstand/server/internal/account"
	"github.com/gridstand/gridstand/server/internal/challenge"
	"github.com/gridstand/gridstand/server/internal/gamelog"
	"github.com/gridstand/gridstand/server/internal/invalid"
	"github.com/gridstand/gridstand/server/internal/store"
)

// show returns a game's state as the caller may see it, or an error if the caller may not
// see it. A finished attempt at a challenge includes its seed if the seed is public. Every
// response that contains a game or an event is built from the result of show, Challenges.Reveal or
// filter.
func (s *Service) show(ctx context.Context, state *replay.State) (*replay.State, error) {
	if !state.IsAttempt() {
		return state, nil
	}
	err := s.Challenges.Hidden(ctx, state, caller(ctx).ID)
	if errors.Is(err, challenge.ErrNotFound) {
		err = errGameNotFound // The challenge no longer exists, so the server cannot tell who may see the attempt.
	}
	if err != nil {
		return nil, err
	}
	return s.Challenges.Reveal(ctx, state)
}

// challengeID validates a challenge ID.
func challengeID(given string) (string, error) {
	return checkID("challenge_id", given, challenge.ErrNotFound)
}

// find returns the challenge with the id in a request, and the store's time.
func (s *Service) find(ctx context.Context, given string) (*challenge.Challenge, time.Time, error) {
	given, err := challengeID(given)
	if err != nil {
		return nil, time.Time{}, err
	}
	return s.Challenges.Get(ctx, given)
}

// createAttempt returns the caller's attempt at a challenge, creating it if necessary.
func (s *Service) createAttempt(ctx context.Context, request *pb.CreateGameRequest, by account.Player) (*pb.CreateGameResponse, error) {
	given := request.ProtoReflect()
	for i := range given.Descriptor().Fields().Len() {
		field := given.Descriptor().Fields().Get(i)
		if field.Name() != "challenge_id" && given.Has(field) {
			return nil, invalid.Field(string(field.Name()), "must be empty for an attempt at a challenge")
		}
	}
	c, now, err := s.find(ctx, request.GetChallengeId())
	if err != nil {
		return nil, err
	}
	entrant := challenge.Entrant{Player: by.Player, GameID: challenge.AttemptID(c.ID, by.ID)}
	if !c.Has(entrant.GameID) {
		return nil, challenge.ErrNotEntered
	}
	g, err := s.game(ctx, entrant.GameID)
	if !errors.Is(err, gamelog.ErrNotFound) {
		return &pb.CreateGameResponse{Game: g}, err
	}
	switch c.Status(now) {
	case challenge.Open:
	case challenge.Closed:
		return nil, challenge.ErrClosed
	default:
		return nil, &challenge.NotOpenError{Challenge: c}
	}
	if err := s.takeGames(ctx, by.ID, 1, 0); err != nil {
		return nil, err
	}
	state, err := s.beginAttempt(ctx, c, entrant)
	return s.createdGame(ctx, state, err)
}

// beginAttempt begins an entrant's attempt, unless it already exists or the challenge has closed.
func (s *Service) beginAttempt(ctx context.Context, c *challenge.Challenge, e challenge.Entrant) (*replay.State, error) {
	var dayStreak int32
	if c.Kind == replay.Daily {
		var err error
		if dayStreak, err = s.Challenges.DayStreak(ctx, c, e.Player.ID); err != nil {
			return nil, err
		}
	}
	var notAfter time.Time
	if !c.CloseTime.IsZero() {
		notAfter = c.CloseTime.Add(-time.Millisecond)
	}
	state, err := s.Hub.Create(ctx, e.GameID, c.Attempt(e, dayStreak), c.Seed, notAfter)
	if errors.Is(err, store.ErrTooLate) {
		err = challenge.ErrClosed
	}
	return state, err
}

// beginAttempts begins the attempts of the caller and of bots at a race that waits, unless an earlier call did.
func (s *Service) beginAttempts(ctx context.Context, race *challenge.Challenge) error {
	if !race.OpenTime.IsZero() {
		return nil // The race has started, or it is not a race.
	}
	heads, err := s.Log.Heads(ctx, race.GameIDs())
	if err != nil {
		return err
	}
	for i, e := range race.Entrants {
		if heads[i].Exists || e.Bot == "" && e.Player.ID != caller(ctx).ID {
			continue
		}
		if _, err := s.beginAttempt(ctx, race, e); err != nil {
			return err
		}
	}
	return nil
}

// challengesOf returns the challenges of the attempts in heads, by ID, without those that have expired, and the
// store's time.
func (s *Service) challengesOf(
	ctx context.Context, heads []gamelog.Head,
) (map[string]*challenge.Challenge, time.Time, error) {
	var ids []string
	for _, head := range heads {
		if state := head.State; state != nil && state.IsAttempt() {
			ids = append(ids, state.Attempt.ChallengeID)
		}
	}
	slices.Sort(ids)
	found, now, err := s.Challenges.GetAll(ctx, slices.Compact(ids)...)
	challenges := make(map[string]*challenge.Challenge, len(found))
	for _, c := range found {
		challenges[c.ID] = c
	}
	return challenges, now, err
}

// listsAttempt reports whether the list l may show an attempt to the player with the given
// ID, or to an anonymous caller if the ID is empty. c is nil if the challenge has expired.
func listsAttempt(l store.List, attempt *replay.State, c *challenge.Challenge, now time.Time, playerID string) bool {
	own := l.PlayerID != "" && len(attempt.SeatsOf(playerID)) > 0
	switch kind := attempt.Attempt.Kind; {
	case c == nil:
		return own && kind != replay.Race // The challenge may have been private.
	case challenge.Embargoed(kind):
		return own || l.PlayerID != "" && c.Status(now) == challenge.Closed && !c.Private
	}
	// A race does not have the games of players who left, and of bots that were removed, before
	// its start. These games cannot be played, and are abandoned within ten minutes.
	return c.Status(now) >= challenge.Open && (own || !c.Private) && c.Has(attempt.ID)
}
