package replay

import "time"

// clock is the clock of the seat to move. The zero clock does not run.
type clock struct {
	from     time.Time
	version  int32 // of the event that started it
	extended time.Duration
}

// windClock starts the clock of a new turn: after a move, and if another seat is to
// move, or its player has taken it back. Otherwise a running clock runs on. Bots and
// stand-ins have none.
func (s *State) windClock(prev *State, moved bool) {
	turn := s.Turn()
	switch {
	case s.TurnLimit == 0 || turn < 0 || !s.Seats[turn].Held():
		s.clock = clock{}
	case moved || prev == nil || prev.clock == (clock{}) || prev.Turn() != turn:
		s.clock = clock{from: s.UpdateTime, version: s.Version}
	}
}

// Deadline is when the seat to move runs out of time; zero if no clock runs.
func (s *State) Deadline() time.Time {
	if s.clock.version == 0 {
		return time.Time{}
	}
	return s.clock.from.Add(s.TurnLimit + s.clock.extended)
}

// SetTime sets the time of the event: an entry is applied before the store says when it
// was stored. It must be called before the event or its state is shared.
func (e *Event) SetTime(at time.Time) {
	state := e.State
	state.UpdateTime = at
	if state.Version == 1 {
		state.CreateTime = at
	}
	if state.clock.version == state.Version {
		state.clock.from = at
	}
}

// Memory is the unexported part of a state but for its seed, for stores that keep a
// state rather than its history.
type Memory struct {
	// UndoTo is State.UndoTo.
	UndoTo int32
	// ClockFrom is when the running clock started, zero for none; ClockVersion is
	// the version of the event that started it, and ClockExtended the time that it
	// was credited since.
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

// WithMemory returns a copy of s with m.
func (s State) WithMemory(m Memory) *State {
	s.before = m.UndoTo
	s.clock = clock{from: m.ClockFrom, version: m.ClockVersion, extended: m.ClockExtended}
	return &s
}
