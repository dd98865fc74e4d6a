package replay

import (
	"cmp"
	"errors"
	"fmt"
	"math"
	"slices"
	"time"

	"github.com/gridstand/gridstand/game"
	"github.com/gridstand/gridstand/game/variants"
)

// Status is the stage of a game's life. The numeric values are stored and must not change.
type Status uint8

// Stages of a game.
const (
	Waiting  Status = 1 // seats are open
	Active   Status = 2
	Finished Status = 3
)

// Errors that Start, Apply and Undo return for an entry that is not allowed next. The legality
// of a move is checked last; the error is then game.ErrIllegalMove.
var (
	ErrGameOver    = errors.New("the game is over")
	ErrNotStarted  = errors.New("the game is waiting for players")
	ErrNotYourTurn = errors.New("it is another seat's turn")
	// ErrNoUndo means that several players have seats, that the game is an attempt, or that
	// there is nothing to undo.
	ErrNoUndo = errors.New("nothing can be undone")
	// ErrUnknown means that a newer version of the program wrote the entry: this version does
	// not know its variant, revision of the rules, or action.
	ErrUnknown = errors.New("unknown to this version of the program")
	// ErrInvalid means that no version of the program writes such an entry at this point.
	ErrInvalid = errors.New("entry does not fit the game")
)

// State is a game at one version. It is immutable; Apply returns the next state.
type State struct {
	ID string
	// Variant is shared by all states of a game and must not be modified.
	Variant *game.Variant
	Version int32
	Creator Player
	// Seats must not be modified.
	Seats    []Seat
	Status   Status
	Position game.Position
	// Reason says why the game ended. It is game.ReasonNone until the game is finished.
	Reason game.Reason
	// Ranked reports whether, as of this version, the result may go to the leaderboard.
	Ranked     bool
	Private    bool
	TurnLimit  time.Duration
	Commitment [game.SeedSize]byte
	// Attempt is set only in an attempt at a challenge.
	Attempt Attempt
	// CreateTime and UpdateTime are the times of the first and the last event.
	CreateTime, UpdateTime time.Time
	Clock                  Clock
	// UndoTo is the version that an undo goes back to by default: the one before the player's last move that
	// has not been undone. It is 0 if there is nothing to undo.
	UndoTo int32

	seed game.Seed
	// revealed is set if an attempt's seed may be shown; see Reveal.
	revealed bool
}

// Event is an applied entry: the resulting state and how the board changed.
type Event struct {
	Entry  Entry
	Change game.Change
	// State is the state after the event. Its Version and UpdateTime are those of the event.
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
		TurnLimit: created.TurnLimit, Commitment: created.Commitment, Attempt: created.Attempt,
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

// Rankable reports whether a game with these seats can be ranked. It may have at most one
// player, who must not be a program, and any of the server's bots except random. A game between
// two players is not ranked, because they could be one person with two accounts. A game with
// only bots is not ranked either.
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

// randomBot is the name of the bot that makes a game unranked.
const randomBot = "random"

// Apply applies entry at the given time, drawing from the game's seed. The error explains why
// the entry is not allowed (see ErrGameOver and the errors declared with it). Apply never
// changes s.
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
			return nil, fmt.Errorf("%w: an abandoned entry must not name a seat", ErrInvalid)
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

// Undo applies an entry whose action is Undone: the game returns to past, the state at the
// version that the action names. The undone entries stay in the log, and the game is no longer
// ranked.
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
	case past.Status != Active || s.IsAttempt() || slices.ContainsFunc(s.Seats, s.Seats[entry.Seat].rival):
		return nil, ErrNoUndo
	}
	next := *past
	next.Version = s.Version + 1
	next.UpdateTime = at
	next.Ranked = false
	next.windClock(s, true)
	return &Event{Entry: entry, State: &next}, nil
}

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
	// An attempt has no clock; its deadline is that of its challenge.
	if seat != s.Turn() || !s.IsAttempt() && (s.Deadline().IsZero() || s.UpdateTime.Before(s.Deadline())) {
		return fmt.Errorf("%w: seat %d has not run out of time", ErrInvalid, seat)
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

// LastHuman reports whether no player holds a seat other than the given one. If its time runs
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
	if seat != s.Turn() || s.Deadline().IsZero() || by <= 0 || by > math.MaxInt64-s.TurnLimit-s.Clock.Extended {
		return fmt.Errorf("%w: seat %d has no clock to extend", ErrInvalid, seat)
	}
	s.Clock.Extended += by
	return nil
}

// Turn returns the seat to move, or game.NoSeat if the game is waiting for players or is over.
func (s *State) Turn() int {
	if s.Status != Active {
		return game.NoSeat
	}
	return s.Position.Turn()
}

// BotToMove returns the name of the bot whose turn it is, which may be a stand-in. It returns ""
// if it is not a bot's turn.
func (s *State) BotToMove() string {
	turn := s.Turn()
	if turn == game.NoSeat {
		return ""
	}
	return cmp.Or(s.Seats[turn].Bot, s.Seats[turn].StandIn)
}

// Exhibition reports whether bots hold all seats and the game is not an attempt at a challenge.
func (s *State) Exhibition() bool {
	return !s.IsAttempt() && !slices.ContainsFunc(s.Seats, func(seat Seat) bool { return seat.Bot == "" })
}

// IsAttempt reports whether the game is an attempt at a challenge.
func (s *State) IsAttempt() bool { return s.Attempt.ChallengeID != "" }

// LegalMoves returns the moves of the seat to move, or nil if no seat is to move.
func (s *State) LegalMoves() []game.Move {
	if s.Status != Active {
		return nil
	}
	return s.Position.LegalMoves()
}

// Winners returns the seats that won, or nil if no seat did or the game is not over.
func (s *State) Winners() []int {
	if s.Status != Finished {
		return nil
	}
	return s.Position.Winners(s.Reason)
}

// WithSeed returns a copy of s that draws from seed.
func (s State) WithSeed(seed game.Seed) *State {
	s.seed = seed
	return &s
}

// RevealedSeed returns the game's seed if the game is over, and the zero seed before. For an
// attempt it returns zero until Reveal, because other attempts draw from the same seed.
func (s *State) RevealedSeed() game.Seed {
	if s.Status != Finished || s.IsAttempt() && !s.revealed {
		return game.Seed{}
	}
	return s.seed
}

// Reveal returns a copy of s, an attempt at a challenge that has closed, with the seed of the
// challenge.
func (s State) Reveal(seed game.Seed) *State {
	s.seed, s.revealed = seed, true
	return &s
}

// SeatsOf returns the player's seats in order, also those of a stand-in and those that have
// resigned.
func (s *State) SeatsOf(playerID string) []int {
	var seats []int
	for i, seat := range s.Seats {
		if playerID != "" && seat.Player.ID == playerID {
			seats = append(seats, i)
		}
	}
	return seats
}

// Scored reports whether a seat's score in a finished game goes to the leaderboard, or to the
// standings of the game's challenge. The game must be ranked and its end recordable, the player
// must have held the seat to the end or ended the game by resigning, and the score must be
// above 0 unless the game is an attempt at a challenge.
func (s *State) Scored(seat int) bool {
	if s.Status != Finished || !s.Ranked || !s.Variant.Rules.Recordable(s.Reason) {
		return false
	}
	held := s.Seats[seat]
	return held.Player.ID != "" && !held.Absent &&
		(!held.Resigned || s.Reason == game.Resigned) &&
		(s.IsAttempt() || s.Position.Scores()[seat] > 0)
}
