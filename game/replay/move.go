package replay

import (
	"fmt"
	"slices"

	"github.com/gridstand/gridstand/game"
)

func (s *State) move(seat int, m Moved) (game.Change, error) {
	if s.Status == Waiting {
		return game.Change{}, ErrNotStarted
	}
	if seat != s.Position.Turn() || !s.Seats[seat].Held() && !m.ByBot {
		return game.Change{}, ErrNotYourTurn
	}
	position, change, err := s.Variant.Rules.Move(s.Position, seat, m.Move, s.seed.Draws(s.Version))
	if err != nil {
		return game.Change{}, err
	}
	s.Position = position
	if s.Seats[seat].Held() {
		s.Ranked = s.Ranked && !m.ByBot
		s.UndoTo = s.Version - 1
	}
	s.checkEnd()
	return change, nil
}

func (s *State) resign(seat int) error {
	if s.Status == Waiting {
		return ErrNotStarted
	}
	if seat < 0 || seat >= len(s.Seats) || s.Seats[seat].Resigned {
		return fmt.Errorf("%w: seat %d cannot resign", ErrInvalid, seat)
	}
	s.Seats = slices.Clone(s.Seats)
	s.Seats[seat].Resigned = true
	s.Position = s.Variant.Rules.Resign(s.Position, seat)

	left := 0
	for _, seat := range s.Seats {
		if !seat.Resigned {
			left++
		}
	}
	if left <= 1 || !slices.ContainsFunc(s.Seats, Seat.Held) {
		s.end(game.Resigned)
	} else {
		s.checkEnd()
	}
	return nil
}

// checkEnd ends the game if the rules end it at the current position.
func (s *State) checkEnd() {
	if reason := s.Position.Ended(); reason != game.ReasonNone {
		s.end(reason)
	}
}

func (s *State) end(reason game.Reason) {
	s.Status, s.Reason = Finished, reason
}
