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
	"github.com/gridstand/gridstand/server/internal/store"
)

// ErrNotSeated means that the caller has no seat in the game, or not the seat that the call
// names.
var ErrNotSeated = errors.New("the caller does not have that seat")

// ErrUndoAttempt means that the game is an attempt at a challenge.
var ErrUndoAttempt = errors.New("moves of an attempt cannot be undone")

// ErrTooLong means that the game has as many events as a game may have.
var ErrTooLong = errors.New("the game has too many events")

// VersionConflictError means that the game is not at Call.Version.
type VersionConflictError struct {
	// Version is the current version of the game.
	Version int32
}

func (e *VersionConflictError) Error() string {
	return fmt.Sprintf("the game is at version %d", e.Version)
}

// Call is a request to append an entry to a game.
type Call struct {
	// PlayerID identifies the caller. It is empty for the server itself.
	PlayerID string
	// Version is the version of the game that the caller has seen, or 0 if the call applies
	// to any version.
	Version int32
	// Seat is the seat that the caller names, or game.NoSeat to let the server choose.
	Seat int
	// Action is the action of the entry to append.
	Action replay.Action
	// NotBefore is the earliest time of the event, by the store's clock. Zero means no bound.
	NotBefore time.Time

	// inWindow restricts the action to the window of an attempt. fresh makes the hub read
	// that window from the store again.
	inWindow, fresh bool
}

// Do appends the call's entry and returns the event. If the call is repeated after it took
// effect, Do returns the same event again.
//
// Errors, in the order of the checks: ErrNotSeated, replay.ErrGameOver,
// *VersionConflictError, ErrTooLong, replay.ErrNotStarted, replay.ErrNotYourTurn, ErrUndoAttempt or
// replay.ErrNoUndo, game.ErrIllegalMove; also store.ErrTooEarly, store.ErrTooLate, store.ErrUnsettled,
// *gamelog.DamagedError, replay.ErrUnknown, ErrStopping, or an error from ctx, the store or Config.Window. The
// result, even if it is an error, matches the log at some moment during the call.
//
// In an attempt at a challenge, moves (by players and bots) and resignations are appended
// only while the challenge is open. Do returns replay.ErrNotStarted before it opens and
// replay.ErrGameOver after it has closed. It first uses the challenge's times as this server
// has cached them. If they rule out the call, it reads them from the store.
func (m *Match) Do(ctx context.Context, call Call) (*Event, error) {
	if m.State().IsAttempt() {
		switch call.Action.(type) {
		case replay.Moved, replay.Resigned:
			call.inWindow = true
		}
	}
	for try := 1; ; try++ {
		event, _, err := m.commit(ctx, call.decide)
		early, late := errors.Is(err, store.ErrTooEarly), errors.Is(err, store.ErrTooLate)
		switch {
		case !call.inWindow || !early && !late:
			return event, err
		case early && call.fresh:
			return nil, replay.ErrNotStarted
		case try == 3:
			// The second try may have read the window before the challenge closed, and an outage may have
			// postponed the close.
			return nil, replay.ErrGameOver
		}
		call.fresh = true
	}
}

// decision returns the outcome of a call if the game's log ends with tip: the event of an
// earlier, identical call, a draft, or an error.
type decision func(ctx context.Context, m *Match, tip gamelog.Tip) (*Event, *gamelog.Draft, error)

// commit appends the draft that decide makes from the game's state, and calls decide again if
// the log has moved on. If there is nothing to append, commit returns the earlier event or
// the error that decide returned, as soon as the log confirms the state that decide was
// given.
func (m *Match) commit(ctx context.Context, decide decision) (*Event, *replay.State, error) {
	tip := *m.tip.Load()
	for confirmed := false; ; confirmed = true {
		repeated, draft, err := decide(ctx, m, tip)
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
		next, problem := m.Confirm(ctx)
		if problem != nil {
			return nil, nil, problem
		}
		if draft == nil && next.ID == tip.ID {
			return repeated, tip.State, err
		}
		tip = next
	}
}

// decide is the decision of a call to Do.
func (call Call) decide(ctx context.Context, m *Match, tip gamelog.Tip) (*Event, *gamelog.Draft, error) {
	state := tip.State
	entry, earlier, err := call.entry(ctx, m, state)
	if earlier != nil || err != nil {
		return earlier, nil, err
	}
	switch {
	case state.Status == replay.Finished:
		return nil, nil, replay.ErrGameOver
	case call.Version != 0 && call.Version != state.Version:
		return nil, nil, &VersionConflictError{Version: state.Version}
	}
	var past *replay.State
	full := m.hub.MaxEvents > 0 && int(state.Version) >= m.hub.MaxEvents
	switch action := entry.Action.(type) {
	case replay.Moved:
		if full {
			return nil, nil, ErrTooLong
		}
		// The stand-in moves until the player takes the seat back.
		if call.PlayerID != "" && state.Status == replay.Active && !state.Seats[entry.Seat].Held() {
			return nil, nil, replay.ErrNotYourTurn
		}
	case replay.Undone:
		if full {
			return nil, nil, ErrTooLong
		}
		if state.Status == replay.Waiting {
			return nil, nil, replay.ErrNotStarted
		}
		if state.IsAttempt() {
			return nil, nil, ErrUndoAttempt
		}
		if action.To == 0 {
			action.To = state.UndoTo
		}
		if action.To == 0 {
			return nil, nil, replay.ErrNoUndo
		}
		entry.Action = action
		if past, err = m.past(ctx, action.To); err != nil {
			return nil, nil, err
		}
	}
	var notAfter time.Time
	if call.inWindow {
		from, to, err := m.hub.Window(ctx, state, call.fresh)
		if err != nil {
			return nil, nil, err
		}
		call.NotBefore, notAfter = from, to.Add(-time.Millisecond)
	}
	draft, err := tip.Draft(entry, call.NotBefore, past)
	if err != nil {
		return nil, nil, err
	}
	draft.NotAfter = notAfter
	return nil, draft, nil
}

// entry returns the entry that the call appends to a game in the given state, or the event of an
// earlier, identical call.
func (call Call) entry(ctx context.Context, m *Match, state *replay.State) (entry replay.Entry, earlier *Event, err error) {
	entry = replay.Entry{Seat: game.NoSeat, Action: call.Action}
	_, resigning := call.Action.(replay.Resigned)
	if resigning && call.callsOff(state) {
		entry.Action = replay.Abandoned{}
		if state.Status == replay.Finished {
			earlier, err = m.find(ctx, func(_ int32, e replay.Entry) bool { return e.Action == entry.Action })
		}
		return entry, earlier, err
	}
	own := state.SeatsOf(call.PlayerID)
	if call.PlayerID != "" && (len(own) == 0 || call.Seat != game.NoSeat && !slices.Contains(own, call.Seat)) {
		return entry, nil, ErrNotSeated
	}
	if call.Seat != game.NoSeat {
		own = []int{call.Seat} // The same action at another seat is not a repeated call.
	}
	entry.Seat = call.seat(state, own)
	if resigning || call.Version < state.Version {
		earlier, err = m.repeated(ctx, state, call, entry, own)
	}
	return entry, earlier, err
}

// past finds an earlier state in memory or in the log.
func (m *Match) past(ctx context.Context, version int32) (*replay.State, error) {
	event, err := m.find(ctx, func(v int32, _ replay.Entry) bool { return v == version })
	if err == nil && event == nil {
		err = fmt.Errorf("no version %d", version)
	}
	if err != nil {
		return nil, err
	}
	return event.State, nil
}

// callsOff reports whether a call to resign abandons a game that has not started. That is
// the case if the caller is the creator, who need not have a seat, and seats are still
// open.
func (call Call) callsOff(state *replay.State) bool {
	return call.PlayerID == state.Creator.ID && slices.ContainsFunc(state.Seats, replay.Seat.Open) &&
		(call.Seat == game.NoSeat || slices.Contains(state.SeatsOf(call.PlayerID), call.Seat))
}

// ErrSeatTaken means that no seat is open, or that the seat that the caller names is taken.
var ErrSeatTaken = errors.New("the seat is taken")

// Join gives the player the given seat. If seat is game.NoSeat, it chooses the player's own
// seat or, failing that, the first open one. A player whose stand-in holds the seat takes
// it back; a player who already holds the seat keeps it.
//
// Errors: replay.ErrGameOver, ErrSeatTaken, and those errors of Do that do not depend on the
// action.
func (m *Match) Join(ctx context.Context, player replay.Player, seat int) (*replay.State, error) {
	_, state, err := m.commit(ctx, func(_ context.Context, _ *Match, tip gamelog.Tip) (*Event, *gamelog.Draft, error) {
		state := tip.State
		chosen := chooseSeat(state, player.ID, seat)
		mine := chosen != game.NoSeat && state.Seats[chosen].Player.ID == player.ID
		switch {
		case mine && (state.Status == replay.Finished || !state.Seats[chosen].Lent()):
			return nil, nil, nil
		case chosen == game.NoSeat && (state.Status != replay.Finished || state.IsAttempt()):
			return nil, nil, ErrSeatTaken // Whether an attempt is over may be secret.
		case state.Status == replay.Finished:
			return nil, nil, replay.ErrGameOver
		}
		draft, err := tip.Draft(replay.Entry{Seat: chosen, Action: replay.Joined{Player: player}}, time.Time{}, nil)
		return nil, draft, err
	})
	return state, err
}

// chooseSeat returns the seat to give to a player who joins and named the given seat, or
// game.NoSeat if none is available.
func chooseSeat(state *replay.State, playerID string, named int) int {
	mine := func(s replay.Seat) bool { return s.Player.ID == playerID }
	lent := func(s replay.Seat) bool { return mine(s) && s.Lent() }
	if named != game.NoSeat {
		if s := state.Seats[named]; mine(s) || s.Open() {
			return named
		}
		return game.NoSeat
	}
	// If no seat fits, slices.IndexFunc returns -1, which is game.NoSeat.
	for _, fits := range []func(replay.Seat) bool{lent, mine, replay.Seat.Open} {
		if i := slices.IndexFunc(state.Seats, fits); i >= 0 {
			return i
		}
	}
	return game.NoSeat
}

// seat returns the seat that the call applies to: the seat it names, or else the caller's
// seat whose turn it is, or else the caller's first seat that has not resigned.
func (call Call) seat(state *replay.State, own []int) int {
	if call.Seat != game.NoSeat || len(own) == 0 {
		return call.Seat
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

// repeated returns the event of an earlier, identical call, or nil if there was no such
// call. The event after the call's version qualifies if it has the same action and belongs
// to one of the caller's seats. If the call resigns a seat that has already resigned,
// repeated returns that resignation, regardless of the version.
func (m *Match) repeated(ctx context.Context, state *replay.State, call Call, entry replay.Entry, own []int) (*Event, error) {
	version := call.Version
	if _, resigning := entry.Action.(replay.Resigned); resigning && entry.Seat != game.NoSeat && state.Seats[entry.Seat].Resigned {
		return m.find(ctx, func(_ int32, e replay.Entry) bool { return e.Same(entry) })
	}
	if version < 1 || version >= state.Version {
		return nil, nil
	}
	logged := replay.Entry{Seat: game.NoSeat}
	event := m.ring.at(version + 1)
	if event != nil {
		logged = event.Entry
	} else {
		// Check the entry first: reading it is quick, but replaying the log up to it is not.
		record, found, err := m.hub.Log.At(ctx, m.id, version+1)
		if err != nil || !found {
			return nil, err
		}
		if logged, err = gamelog.EntryOf(record); err != nil {
			return nil, err
		}
	}
	if !slices.Contains(own, logged.Seat) {
		return nil, nil
	}
	if undone, ok := entry.Action.(replay.Undone); ok && undone.To == 0 {
		if _, ok := logged.Action.(replay.Undone); !ok {
			return nil, nil
		}
		then, err := m.past(ctx, version)
		if err != nil {
			return nil, err
		}
		entry.Action = replay.Undone{To: then.UndoTo}
	}
	if logged.Action != entry.Action {
		return nil, nil
	}
	if event != nil {
		return event, nil
	}
	return m.find(ctx, func(v int32, _ replay.Entry) bool { return v == version+1 })
}

// find returns the last event for which fits returns true, from memory or by replaying the log.
// It returns nil if there is no such event.
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
	return &Event{Event: event}, nil
}
