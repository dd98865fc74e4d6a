// Package replay is the life of a game around its board: who sits where, what
// was done, whether it counts and how it ended. A game is the list of its
// entries; Start and State.Apply turn them one by one into states. They are
// pure, so the server that plays a game and the player who verifies it later
// run the very same code.
package replay

import (
	"slices"
	"time"

	"github.com/gridstand/gridstand/game"
)

// Player is an account as a game knows it.
type Player struct {
	ID, Name string
	// Bot says that a program plays under this account.
	Bot bool
}

// Seat is a place in a game: a player's, a bot's, or open.
type Seat struct {
	// Player who sits here; without an id there is none.
	Player Player
	// Bot that sits here, by name.
	Bot string
	// Resigned says that the seat was given up. It is passed over.
	Resigned bool
	// StandIn is the bot that moves for the player, by name.
	StandIn string
	// Absent says that a stand-in moved for the player at some time, also if
	// the player came back: the seat then does not score.
	Absent bool
}

// Open reports whether nobody sits here yet.
func (s Seat) Open() bool { return s.Player.ID == "" && s.Bot == "" }

// Held reports whether a human holds the seat himself: no bot, no stand-in,
// not resigned.
func (s Seat) Held() bool { return s.Player.ID != "" && s.StandIn == "" && !s.Resigned }

// Lent reports whether a stand-in holds the seat for its player, who may take
// it back.
func (s Seat) Lent() bool { return s.StandIn != "" && !s.Resigned }

// Mover is the bot that moves here, "" where a human does.
func (s Seat) Mover() string {
	if s.Bot != "" {
		return s.Bot
	}
	return s.StandIn
}

// Entry is one entry of a game's log: what happened, and at which seat.
// Everything else follows from the entries before it.
type Entry struct {
	// Seat that the action is about, game.NoSeat for none.
	Seat   int
	Action Action
}

// Same reports whether both entries say the same thing was done. What the
// server drew for itself, such as a seed, makes no difference.
func (e Entry) Same(other Entry) bool { return e.Seat == other.Seat && e.Action.same(other.Action) }

// Action is one of the types that follow.
type Action interface {
	same(other Action) bool
}

// Created begins a game.
type Created struct {
	Variant    string
	Revision   int32
	Creator    Player
	Seats      []Seat
	Private    bool
	TurnLimit  time.Duration // 0 for none
	Commitment [game.SeedSize]byte
}

// Exhibition reports whether the game is one in which bots sit in all seats.
func (a Created) Exhibition() bool { return botsOnly(a.Seats) }

func botsOnly(seats []Seat) bool {
	return !slices.ContainsFunc(seats, func(s Seat) bool { return s.Bot == "" })
}

// Joined seats a player in the entry's seat, or gives it back to the player for
// whom a bot stood in.
type Joined struct{ Player Player }

// Moved is a move of the entry's seat.
type Moved struct {
	Move game.Move
	// ByBot says that a program chose the move.
	ByBot bool
}

// Undone takes the game back to how it was. It is applied by State.Undo.
type Undone struct{ To int32 }

// Resigned gives the entry's seat up.
type Resigned struct{}

// Abandoned ends a game in which nobody moves any more, or that its creator
// called off before it began.
type Abandoned struct{}

// TimedOut hands the entry's seat, which is to move and whose clock ran out, to
// a stand-in.
type TimedOut struct {
	// StandIn is the bot that moves from now on, by name; "" if nobody is left
	// to play on for, so that the game ends.
	StandIn string
}

// ClockExtended gives the entry's seat, which is to move, time back in which
// no move could be taken.
type ClockExtended struct{ By time.Duration }

func (a Created) same(other Action) bool {
	b, ok := other.(Created)
	return ok && a.Variant == b.Variant && a.Creator.ID == b.Creator.ID &&
		slices.Equal(a.Seats, b.Seats) && a.Private == b.Private && a.TurnLimit == b.TurnLimit
}

func (a Joined) same(other Action) bool        { return a == other }
func (a Moved) same(other Action) bool         { return a == other }
func (a Undone) same(other Action) bool        { return a == other }
func (a Resigned) same(other Action) bool      { return a == other }
func (a Abandoned) same(other Action) bool     { return a == other }
func (a TimedOut) same(other Action) bool      { return a == other }
func (a ClockExtended) same(other Action) bool { return a == other }
