package replay

import "time"

// Clock is the turn clock of the seat to move. The zero Clock is not running.
type Clock struct {
	// From is the time at which the clock started, and Version the version of the event that started it.
	From    time.Time
	Version int32
	// Extended is the time that was credited to the clock since.
	Extended time.Duration
}

// windClock starts the clock of the seat to move after a move or an undo, if it has become
// another seat's turn, or if no clock was running, for example because the seat's player has
// just returned. Otherwise a running clock continues. Bots and stand-ins have no clock.
func (s *State) windClock(prev *State, moved bool) {
	turn := s.Turn()
	switch {
	case s.TurnLimit == 0 || turn < 0 || !s.Seats[turn].Held():
		s.Clock = Clock{}
	case moved || prev == nil || prev.Clock == (Clock{}) || prev.Turn() != turn:
		s.Clock = Clock{From: s.UpdateTime, Version: s.Version}
	}
}

// Deadline returns the time at which the seat to move runs out of time, or zero if no clock is
// running.
func (s *State) Deadline() time.Time {
	if s.Clock.Version == 0 {
		return time.Time{}
	}
	return s.Clock.From.Add(s.TurnLimit + s.Clock.Extended)
}

// SetTime sets the event's time to the time at which the store says it stored the entry, which
// is known only after the entry has been applied. SetTime must be called before the event or
// its state is shared.
func (e *Event) SetTime(at time.Time) {
	state := e.State
	state.UpdateTime = at
	if state.Version == 1 {
		state.CreateTime = at
	}
	if state.Clock.Version == state.Version {
		state.Clock.From = at
	}
}
