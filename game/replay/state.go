package replay

import (
	"errors"
	"fmt"
	"slices"
	"time"

	"github.com/gridstand/gridstand/game"
	"github.com/gridstand/gridstand/game/variants"
)

// Status is the stage of a game's life. The numbers are stored.
type Status uint8

// The stages.
const (
	Waiting  Status = 1 // seats are still open
	Active   Status = 2
	Finished Status = 3
)

// The errors of Start and Apply for an entry that cannot follow. If several apply, the
// first in this order is returned. An illegal move, which is checked last, is
// game.ErrIllegalMove.
var (
	ErrGameOver    = errors.New("the game is over")
	ErrNotStarted  = errors.New("the game waits for players")
	ErrNotYourTurn = errors.New("another seat is to move")
	// ErrNoUndo means that several players have seats, or that there is nothing to
	// undo.
	ErrNoUndo = errors.New("nothing can be undone")
	// ErrUnknown means that a newer version of the program wrote the entry: this one
	// does not know its variant, revision of rules or action.
	ErrUnknown = errors.New("unknown to this version of the program")
	// ErrInvalid means that no version of the program writes such an entry here.
	ErrInvalid = errors.New("entry does not fit the game")
)

// Result is how a game ended. The final scores are those of its position.
type Result struct {
	Reason game.Reason
	// Winners are the seats that won; empty if none did.
	Winners []int
}

// State is a game at one version. It is immutable; Apply returns the next.
type State struct {
	ID string
	// Variant must not be written to; all states of a game share it.
	Variant *game.Variant
	Version int32
	Creator Player
	// Seats must not be written to.
	Seats    []Seat
	Status   Status
	Position game.Position
	// Result is nil until the game is finished.
	Result *Result
	// Ranked reports whether, as of this version, the result may go to the
	// leaderboard.
	Ranked     bool
	Private    bool
	TurnLimit  time.Duration
	Commitment [game.SeedSize]byte
	// CreateTime and UpdateTime are those of the first and the last event.
	CreateTime, UpdateTime time.Time

	seed  game.Seed
	clock clock
	// before is the version before the last move of a player that was not undone, 0
	// if there is none.
	before int32
}

// Event is an applied entry: the next state, and the change of the board.
type Event struct {
	Entry  Entry
	Change game.Change
	// State after the event; its Version and UpdateTime are the event's.
	State *State
}

// Start applies the first entry of a game, which must be Created.
func Start(id string, entry Entry, seed game.Seed, at time.Time) (*Event, error) {
	created, ok := entry.Action.(Created)
	if !ok || entry.Seat != game.NoSeat {
		return nil, fmt.Errorf("%w: a game begins with created, not with %T", ErrInvalid, entry.Action)
	}
	variant, ok := variants.Lookup(created.Variant, created.Revision)
	if !ok {
		return nil, fmt.Errorf("%w: variant %q, rules revision %d", ErrUnknown, created.Variant, created.Revision)
	}
	if len(created.Seats) != variant.Seats {
		return nil, fmt.Errorf("%w: %s has %d seats, not %d", ErrInvalid, variant.ID, variant.Seats, len(created.Seats))
	}
	if seed.IsZero() || seed.Commitment() != created.Commitment {
		return nil, fmt.Errorf("%w: the seed is not the one committed to", ErrInvalid)
	}
	s := &State{
		ID: id, Variant: &variant, Version: 1,
		Creator: created.Creator, Seats: slices.Clone(created.Seats), Private: created.Private,
		TurnLimit: created.TurnLimit, Commitment: created.Commitment,
		Position:   variant.Rules.Start(seed.Draws(1)),
		Ranked:     !created.Private && Rankable(created.Seats),
		CreateTime: at, UpdateTime: at, seed: seed,
	}
	s.Status = Waiting
	s.begin()
	s.windClock(nil, false)
	return &Event{Entry: entry, State: s}, nil
}

// begin starts the game if no seat is open.
func (s *State) begin() {
	if !slices.ContainsFunc(s.Seats, Seat.Open) {
		s.Status = Active
		s.checkEnd()
	}
}

// Rankable reports whether the seats of a game allow it to be ranked: at most one
// player, whose account is not a program's, and bots of the server other than random.
// A game of two players may be one player's with two accounts, and is not ranked. Nor
// is a game of bots alone.
func Rankable(seats []Seat) bool {
	humans, open := 0, false
	for _, seat := range seats {
		switch {
		case seat.Player.Bot || seat.Bot == randomBot:
			return false
		case seat.Player.ID != "":
			humans++
		case seat.Open():
			open = true
		}
	}
	return humans == 1 || humans == 0 && open
}

// randomBot is the bot in whose games no result is ranked.
const randomBot = "random"

// Apply applies entry at the given time, drawing from the game's seed. The error says
// why the entry cannot follow (see ErrGameOver and the others). s is never changed.
func (s *State) Apply(entry Entry, at time.Time) (*Event, error) {
	if s.Status == Finished {
		return nil, ErrGameOver
	}
	next := *s
	event := &Event{Entry: entry, State: &next}
	next.Version++
	next.UpdateTime = at

	var err error
	moved := false
	switch action := entry.Action.(type) {
	case Joined:
		err = next.join(entry.Seat, action.Player)
	case Moved:
		moved = true
		event.Change, err = next.move(entry.Seat, action)
	case TimedOut:
		err = next.timeOut(entry.Seat, action.StandIn)
	case ClockExtended:
		err = next.extend(entry.Seat, action.By)
	case Resigned:
		err = next.resign(entry.Seat)
	case Abandoned:
		if entry.Seat != game.NoSeat {
			return nil, fmt.Errorf("%w: an abandoned game names no seat", ErrInvalid)
		}
		next.end(game.Abandoned)
	default:
		return nil, fmt.Errorf("%w: %T after version %d", ErrInvalid, entry.Action, s.Version)
	}
	if err != nil {
		return nil, err
	}
	next.windClock(s, moved)
	return event, nil
}

// Undo applies an entry whose action is Undone: the game returns to past, the state of
// the version that the action names. What was undone stays in the log, and the game is
// no longer ranked.
func (s *State) Undo(entry Entry, past *State, at time.Time) (*Event, error) {
	undone, ok := entry.Action.(Undone)
	switch {
	case s.Status == Finished:
		return nil, ErrGameOver
	case s.Status == Waiting:
		return nil, ErrNotStarted
	case !ok || past == nil || undone.To != past.Version || past.Version >= s.Version ||
		entry.Seat < 0 || entry.Seat >= len(s.Seats) || s.Seats[entry.Seat].Player.ID == "":
		return nil, fmt.Errorf("%w: %+v", ErrInvalid, entry)
	case past.Status != Active || !s.solo():
		return nil, ErrNoUndo
	}
	next := *past
	next.Version = s.Version + 1
	next.UpdateTime = at
	next.Ranked = false
	next.windClock(s, true)
	return &Event{Entry: entry, State: &next}, nil
}

// solo reports whether all players' seats belong to one player.
func (s *State) solo() bool {
	player := ""
	for _, seat := range s.Seats {
		id := seat.Player.ID
		if id == "" {
			continue
		}
		if player != "" && id != player {
			return false
		}
		player = id
	}
	return true
}

// UndoTo is the version to which an undo without a version goes back: the one before
// the player's last move that was not undone. It is 0 if there is nothing to undo.
func (s *State) UndoTo() int32 { return s.before }

func (s *State) join(seat int, player Player) error {
	if seat < 0 || seat >= len(s.Seats) || player.ID == "" {
		return fmt.Errorf("%w: seat %d cannot be joined", ErrInvalid, seat)
	}
	s.Seats = slices.Clone(s.Seats)
	held := &s.Seats[seat]
	switch {
	case held.Open():
		held.Player = player
		s.Ranked = s.Ranked && Rankable(s.Seats)
		s.begin()
	case held.Player.ID == player.ID && held.Lent():
		held.StandIn = ""
	default:
		return fmt.Errorf("%w: seat %d is taken", ErrInvalid, seat)
	}
	return nil
}

func (s *State) timeOut(seat int, standIn string) error {
	if seat != s.Turn() || s.Deadline().IsZero() || s.UpdateTime.Before(s.Deadline()) {
		return fmt.Errorf("%w: no clock of seat %d ran out", ErrInvalid, seat)
	}
	if s.LastHuman(seat) != (standIn == "") {
		return fmt.Errorf("%w: stand-in %q", ErrInvalid, standIn)
	}
	if standIn == "" {
		s.end(game.TimedOut)
		return nil
	}
	s.Seats = slices.Clone(s.Seats)
	s.Seats[seat].StandIn, s.Seats[seat].Absent = standIn, true
	return nil
}

// LastHuman reports whether no other seat than the given one is held: if its time runs
// out, the game is over.
func (s *State) LastHuman(seat int) bool {
	for i, other := range s.Seats {
		if i != seat && other.Held() {
			return false
		}
	}
	return true
}

func (s *State) extend(seat int, by time.Duration) error {
	if seat != s.Turn() || s.Deadline().IsZero() || by <= 0 {
		return fmt.Errorf("%w: no clock of seat %d to extend", ErrInvalid, seat)
	}
	s.clock.extended += by
	return nil
}

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
		s.before = s.Version - 1
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

// checkEnd ends the game if the rules end it here.
func (s *State) checkEnd() {
	if reason := s.Position.Ended(); reason != game.ReasonNone {
		s.end(reason)
	}
}

func (s *State) end(reason game.Reason) {
	s.Status = Finished
	s.Result = &Result{Reason: reason, Winners: s.Position.Winners(reason)}
}

// Turn is the seat to move, or game.NoSeat if the game waits for players or is over.
func (s *State) Turn() int {
	if s.Status != Active {
		return game.NoSeat
	}
	return s.Position.Turn()
}

// Exhibition reports whether bots have all seats.
func (s *State) Exhibition() bool { return botsOnly(s.Seats) }

// LegalMoves are the moves of the seat to move; none if there is no turn.
func (s *State) LegalMoves() []game.Move {
	if s.Status != Active {
		return nil
	}
	return s.Position.LegalMoves()
}

// WithSeed returns a copy of s that draws from seed.
func (s State) WithSeed(seed game.Seed) *State {
	s.seed = seed
	return &s
}

// RevealedSeed is the game's seed once it is over, and the zero seed before.
func (s *State) RevealedSeed() game.Seed {
	if s.Status != Finished {
		return game.Seed{}
	}
	return s.seed
}

// SeatsOf returns the seats that the player holds, in order.
func (s *State) SeatsOf(playerID string) []int {
	var seats []int
	for i, seat := range s.Seats {
		if playerID != "" && seat.Player.ID == playerID {
			seats = append(seats, i)
		}
	}
	return seats
}

// Scored reports whether the score of a seat of a finished game goes to the
// leaderboard: the game is ranked and its end recordable, the player held the seat to
// the end or ended the game by resigning, and the score is above 0.
func (s *State) Scored(seat int) bool {
	if s.Status != Finished || !s.Ranked || !s.Variant.Rules.Recordable(s.Result.Reason) {
		return false
	}
	held := s.Seats[seat]
	return held.Player.ID != "" && !held.Absent &&
		(!held.Resigned || s.Result.Reason == game.Resigned) &&
		s.Position.Scores()[seat] > 0
}
