package match

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"time"

	"github.com/gridstand/gridstand/game"
	"github.com/gridstand/gridstand/game/replay"
	"github.com/gridstand/gridstand/server/internal/gamelog"
)

// ErrNotSeated means the caller holds no seat in the game, or not the one named.
var ErrNotSeated = errors.New("the caller holds no such seat")

// VersionConflictError means the game is not at the version of the call.
type VersionConflictError struct {
	// Version is the game's.
	Version int32
}

func (e *VersionConflictError) Error() string {
	return fmt.Sprintf("the game is at version %d", e.Version)
}

// Call is a request to append an entry to a game.
type Call struct {
	// PlayerID is the caller; empty for the server itself.
	PlayerID string
	// Version that the caller saw, 0 for any.
	Version int32
	// Seat that the caller names, game.NoSeat if it leaves that to the server.
	Seat int
	// Action to append.
	Action replay.Action
	// NotBefore and NotAfter bound the time of the event by the store's clock; zero for
	// no bound.
	NotBefore, NotAfter time.Time
}

// Do appends what the call asks for, and returns the event. A call that took effect
// before gets the same event again.
//
// Errors, in the order of the checks: ErrNotSeated, replay.ErrGameOver,
// *VersionConflictError, replay.ErrNotStarted, replay.ErrNotYourTurn or
// ErrNoUndo, game.ErrIllegalMove; also store.ErrTooEarly, store.ErrTooLate, store.ErrUnsettled,
// *gamelog.DamagedError, replay.ErrUnknown, ErrStopping, that of ctx, or one of
// the store. The result, or the error, was true of the log at a moment within the call.
func (m *Match) Do(ctx context.Context, call Call) (*Event, error) {
	event, _, err := m.commit(ctx, func(tip gamelog.Tip) (*Event, *gamelog.Draft, error) {
		return m.decide(ctx, tip, call)
	})
	return event, err
}

// commit appends the draft that decide makes of the game's state, and decides anew
// if the log has moved on. If there is nothing to append, it returns what decide
// answers instead, an earlier event or an error, once the log confirms the state
// that it was decided on.
func (m *Match) commit(ctx context.Context, decide func(gamelog.Tip) (*Event, *gamelog.Draft, error)) (*Event, *replay.State, error) {
	tip := m.currentTip()
	for confirmed := false; ; confirmed = true {
		repeated, draft, err := decide(tip)
		if draft != nil {
			event, err := m.append(ctx, tip, draft)
			if err == nil {
				return event, event.State, nil
			}
			if !errors.Is(err, errOvertaken) {
				return nil, nil, err
			}
		} else if confirmed {
			return repeated, tip.State, err
		}
		next, problem := m.confirm(ctx)
		if problem != nil {
			return nil, nil, problem
		}
		if draft == nil && next.ID == tip.ID {
			return repeated, tip.State, err
		}
		tip = next
	}
}

// decide returns what a call leads to in the state of tip: the event that it led to
// before, a draft, or an error.
func (m *Match) decide(ctx context.Context, tip gamelog.Tip, call Call) (*Event, *gamelog.Draft, error) {
	state := tip.State
	entry := replay.Entry{Seat: game.NoSeat, Action: call.Action}
	_, resigning := call.Action.(replay.Resigned)
	if resigning && call.callsOff(state) {
		entry.Action = replay.Abandoned{}
		if state.Status == replay.Finished {
			event, err := m.find(ctx, func(_ int32, e replay.Entry) bool { return e.Action == entry.Action })
			return event, nil, err
		}
	} else {
		own := state.SeatsOf(call.PlayerID)
		if call.PlayerID != "" && (len(own) == 0 || call.Seat != game.NoSeat && !slices.Contains(own, call.Seat)) {
			return nil, nil, ErrNotSeated
		}
		if call.Seat != game.NoSeat {
			own = []int{call.Seat} // The same action at another seat is no repeat.
		}
		entry.Seat = call.seat(state, own)
		if resigning || call.Version < state.Version {
			if event, err := m.repeated(ctx, state, call.Version, entry, own); event != nil || err != nil {
				return event, nil, err
			}
		}
	}
	switch {
	case state.Status == replay.Finished:
		return nil, nil, replay.ErrGameOver
	case call.Version != 0 && call.Version != state.Version:
		return nil, nil, &VersionConflictError{Version: state.Version}
	}
	switch action := entry.Action.(type) {
	case replay.Moved:
		// A stand-in moves until the player takes the seat back.
		if call.PlayerID != "" && state.Status == replay.Active && !state.Seats[entry.Seat].Held() {
			return nil, nil, replay.ErrNotYourTurn
		}
	case replay.Undone:
		if state.Status == replay.Waiting {
			return nil, nil, replay.ErrNotStarted
		}
		if action.To == 0 {
			action.To = state.UndoTo()
		}
		if action.To == 0 {
			return nil, nil, replay.ErrNoUndo
		}
		entry.Action = action
	}
	draft, err := tip.Draft(entry, call.NotBefore, m.past(ctx))
	if err != nil {
		return nil, nil, err
	}
	draft.NotAfter = call.NotAfter
	return nil, draft, nil
}

// callsOff reports whether a call to resign abandons a game that has not started: it
// is the creator's, seated or not, and seats are open.
func (c Call) callsOff(state *replay.State) bool {
	return c.PlayerID == state.Creator.ID && slices.ContainsFunc(state.Seats, replay.Seat.Open) &&
		(c.Seat == game.NoSeat || slices.Contains(state.SeatsOf(c.PlayerID), c.Seat))
}

// ErrSeatTaken means no seat is open, or not the one named.
var ErrSeatTaken = errors.New("the seat is taken")

// Join gives a player the named seat or, for game.NoSeat, the player's own, else the
// first open one. The player gets a seat back from a stand-in; a player who already
// holds the seat keeps it. A player without a seat gets one only if admit, which may
// be called more than once, allows it.
//
// Errors: replay.ErrGameOver, ErrSeatTaken, that of admit, and those of Do that
// can happen to any call.
func (m *Match) Join(ctx context.Context, player replay.Player, seat int, admit func() error) (*replay.State, error) {
	_, state, err := m.commit(ctx, func(tip gamelog.Tip) (*Event, *gamelog.Draft, error) {
		state := tip.State
		chosen := chooseSeat(state, player.ID, seat)
		mine := chosen != game.NoSeat && state.Seats[chosen].Player.ID == player.ID
		switch {
		case mine && (state.Status == replay.Finished || !state.Seats[chosen].Lent()):
			return nil, nil, nil
		case state.Status == replay.Finished:
			return nil, nil, replay.ErrGameOver
		case chosen == game.NoSeat:
			return nil, nil, ErrSeatTaken
		case len(state.SeatsOf(player.ID)) == 0:
			if err := admit(); err != nil {
				return nil, nil, err
			}
		}
		draft, err := tip.Draft(replay.Entry{Seat: chosen, Action: replay.Joined{Player: player}}, time.Time{}, m.past(ctx))
		return nil, draft, err
	})
	return state, err
}

// chooseSeat returns the seat for a player who joins, game.NoSeat if there is none.
func chooseSeat(state *replay.State, playerID string, named int) int {
	mine := func(s replay.Seat) bool { return s.Player.ID == playerID }
	lent := func(s replay.Seat) bool { return mine(s) && s.Lent() }
	if named != game.NoSeat {
		if s := state.Seats[named]; mine(s) || s.Open() {
			return named
		}
		return game.NoSeat
	}
	// slices.IndexFunc returns -1, which is game.NoSeat, for none.
	for _, fits := range []func(replay.Seat) bool{lent, mine, replay.Seat.Open} {
		if i := slices.IndexFunc(state.Seats, fits); i >= 0 {
			return i
		}
	}
	return game.NoSeat
}

// seat returns the seat that the call is about: the one it names, else the caller's
// seat that is to move, else the caller's first that has not resigned.
func (c Call) seat(state *replay.State, own []int) int {
	if c.Seat != game.NoSeat || len(own) == 0 {
		return c.Seat
	}
	if slices.Contains(own, state.Turn()) {
		return state.Turn()
	}
	for _, seat := range own {
		if !state.Seats[seat].Resigned {
			return seat
		}
	}
	return own[len(own)-1]
}

// repeated returns the event of a call that took effect before, nil if it did not:
// the event after its version, if that is the same action at a seat of the caller.
// For a seat that has resigned it is that event, for any version.
func (m *Match) repeated(ctx context.Context, state *replay.State, version int32, entry replay.Entry, own []int) (*Event, error) {
	if _, resigning := entry.Action.(replay.Resigned); resigning && entry.Seat != game.NoSeat && state.Seats[entry.Seat].Resigned {
		return m.find(ctx, func(_ int32, e replay.Entry) bool { return e.Same(entry) })
	}
	if version < 1 || version >= state.Version {
		return nil, nil
	}
	if undone, ok := entry.Action.(replay.Undone); ok && undone.To == 0 {
		then, err := m.past(ctx)(version)
		if err != nil {
			return nil, err
		}
		entry.Action = replay.Undone{To: then.UndoTo()}
	}
	same := func(e replay.Entry) bool { return slices.Contains(own, e.Seat) && e.Action == entry.Action }
	if event := m.ring.at(version + 1); event != nil {
		if !same(event.Entry) {
			return nil, nil
		}
		return event, nil
	}
	// To read one entry is quick; to replay the log up to it is not.
	record, found, err := m.hub.Log.At(ctx, m.id, version+1)
	if err != nil || !found {
		return nil, err
	}
	standing, err := gamelog.EntryOf(record)
	if err != nil || !same(standing) {
		return nil, err
	}
	return m.find(ctx, func(v int32, _ replay.Entry) bool { return v == version+1 })
}

// find returns the last event that fits, from memory or by replaying the log; nil for
// none.
func (m *Match) find(ctx context.Context, fits func(version int32, e replay.Entry) bool) (*Event, error) {
	for v := m.State().Version; ; v-- {
		event := m.ring.at(v)
		if event == nil {
			break
		}
		if fits(v, event.Entry) {
			return event, nil
		}
	}
	event, err := m.hub.Log.Find(ctx, m.id, fits)
	if event == nil || err != nil {
		return nil, err
	}
	return newEvent(event), nil
}
