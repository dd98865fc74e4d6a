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

// Settle gives the event the time at which it took place: an entry is applied
// before the store says when it was stored. It is for whoever made the event, and
// before anybody else is shown it or its state.
func (e *Event) Settle(at time.Time) {
	state := e.State
	state.UpdateTime = at
	if state.Version == 1 {
		state.CreateTime = at
	}
	if state.clock.version == state.Version {
		state.clock.from = at
	}
}

// Memory is what a state knows beside its exported fields and its seed, for
// stores that keep a state rather than its history.
type Memory struct {
	// UndoTo is State.UndoTo.
	UndoTo int32
	// ClockFrom is when the running clock began, zero for none; ClockVersion
	// the version whose event began it, and ClockExtended what it was given
	// back since.
	ClockFrom     time.Time
	ClockVersion  int32
	ClockExtended time.Duration
}

// Memory returns what WithMemory takes.
func (s *State) Memory() Memory {
	return Memory{
		UndoTo: s.before, ClockFrom: s.clock.from, ClockVersion: s.clock.version, ClockExtended: s.clock.extended,
	}
}

// WithMemory returns a copy of s that knows m.
func (s State) WithMemory(m Memory) *State {
	s.before = m.UndoTo
	s.clock = clock{from: m.ClockFrom, version: m.ClockVersion, extended: m.ClockExtended}
	return &s
}
