package replay

import "time"

// clock is the time that the seat to move has. The zero clock does not run.
type clock struct {
	from     time.Time
	version  int32 // whose event began it
	extended time.Duration
}

// windClock begins a new clock where the turn began: after a move, and when a
// seat is to move that was not, or is held again. A clock that runs goes on
// through anything else. Bots and stand-ins have none.
func (s *State) windClock(prev *State, moved bool) {
	turn := s.Turn()
	switch {
	case s.TurnLimit == 0 || turn < 0 || !s.Seats[turn].Held():
		s.clock = clock{}
	case moved || prev == nil || prev.clock == (clock{}) || prev.Turn() != turn:
		s.clock = clock{from: s.UpdateTime, version: s.Version}
	}
}

// Deadline is when the seat to move runs out of time; zero when no clock runs.
func (s *State) Deadline() time.Time {
	if s.clock.version == 0 {
		return time.Time{}
	}
	return s.clock.from.Add(s.TurnLimit + s.clock.extended)
}

// ClockFrom is when the running clock began, and how much time it was given
// back since.
func (s *State) ClockFrom() (from time.Time, extended time.Duration) {
	return s.clock.from, s.clock.extended
}

// At returns the event as one that took place at the given time: an entry is
// applied before the store says when it was stored.
func (e *Event) At(at time.Time) *Event {
	state := *e.State
	state.UpdateTime = at
	if state.Version == 1 {
		state.CreateTime = at
	}
	if state.clock.version == state.Version {
		state.clock.from = at
	}
	moved := *e
	moved.State = &state
	return &moved
}
