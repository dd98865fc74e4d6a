package replay

import "time"

// clock is the turn clock of the seat to move. The zero clock is not running.
type clock struct {
	from     time.Time
	version  int32 // version of the event that started it
	extended time.Duration
}

// windClock starts the clock of the seat to move after a move or an undo, if it has become
// another seat's turn, or if no clock was running, for example because the seat's player has
// just returned. Otherwise a running clock continues. Bots and stand-ins have no clock.
func (s *State) windClock(prev *State, moved bool) {
	turn := s.Turn()
	switch {
	case s.TurnLimit == 0 || turn < 0 || !s.Seats[turn].Held():
		s.clock = clock{}
	case moved || prev == nil || prev.clock == (clock{}) || prev.Turn() != turn:
		s.clock = clock{from: s.UpdateTime, version: s.Version}
	}
}

// Deadline returns the time at which the seat to move runs out of time, or zero if no clock is
// running.
func (s *State) Deadline() time.Time {
	if s.clock.version == 0 {
		return time.Time{}
	}
	return s.clock.from.Add(s.TurnLimit + s.clock.extended)
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
	if state.clock.version == state.Version {
		state.clock.from = at
	}
}

// Memory holds the unexported fields of a State other than its seed. It is for stores that save
// states instead of histories.
type Memory struct {
	// UndoTo is the version that State.UndoTo returns.
	UndoTo int32
	// ClockFrom is the time at which the running clock started, or zero if no clock is running.
	// ClockVersion is the version of the event that started it, and ClockExtended is the time
	// credited to it since.
	ClockFrom     time.Time
	ClockVersion  int32
	ClockExtended time.Duration
}

// Memory returns the unexported fields of s, for WithMemory.
func (s *State) Memory() Memory {
	return Memory{
		UndoTo: s.before, ClockFrom: s.clock.from, ClockVersion: s.clock.version, ClockExtended: s.clock.extended,
	}
}

// WithMemory returns a copy of s with its unexported fields set from m.
func (s State) WithMemory(m Memory) *State {
	s.before = m.UndoTo
	s.clock = clock{from: m.ClockFrom, version: m.ClockVersion, extended: m.ClockExtended}
	return &s
}
