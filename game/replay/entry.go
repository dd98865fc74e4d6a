// Package replay is the life of a game around its board: its seats and actions,
// whether it is ranked and how it ended. A game is the list of its entries; Start and
// State.Apply turn them one by one into states. They are pure functions, so the server
// that runs a game and the player who verifies it later run the same code.
package replay

import (
	"slices"
	"time"

	"github.com/gridstand/gridstand/game"
)

// Player is an account as a game stores it.
type Player struct {
	ID, Name string
	// Bot reports whether a program plays under this account.
	Bot bool
}

// Seat is a place in a game: a player's, a bot's, or open.
type Seat struct {
	// Player of the seat; none if the id is empty.
	Player Player
	// Bot of the seat, by name.
	Bot string
	// Resigned reports whether the seat has resigned. Its turns are skipped.
	Resigned bool
	// StandIn is the bot that moves for the player, by name.
	StandIn string
	// Absent reports whether a stand-in ever moved for the player, even if the
	// player came back: the seat does not score then.
	Absent bool
}

// Open reports whether the seat is still free.
func (s Seat) Open() bool { return s.Player.ID == "" && s.Bot == "" }

// Held reports whether a player holds the seat without a stand-in and has not
// resigned.
func (s Seat) Held() bool { return s.Player.ID != "" && s.StandIn == "" && !s.Resigned }

// Lent reports whether a stand-in holds the seat for its player, who may take it
// back.
func (s Seat) Lent() bool { return s.StandIn != "" && !s.Resigned }

// Mover is the bot that moves for the seat, "" if its player does.
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

// Same reports whether both entries have the same seat and action. What the server
// drew itself, such as a seed, is ignored.
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

// Exhibition reports whether bots have all seats.
func (a Created) Exhibition() bool { return botsOnly(a.Seats) }

func botsOnly(seats []Seat) bool {
	return !slices.ContainsFunc(seats, func(s Seat) bool { return s.Bot == "" })
}

// Joined gives the entry's seat to a player, or back to its player from a stand-in.
type Joined struct{ Player Player }

// Moved is a move of the entry's seat.
type Moved struct {
	Move game.Move
	// ByBot reports whether a program chose the move.
	ByBot bool
}

// Undone takes the game back to an earlier version. State.Undo applies it.
type Undone struct{ To int32 }

// Resigned resigns the entry's seat.
type Resigned struct{}

// Abandoned ends a game that was idle for too long, or that its creator canceled
// before it began.
type Abandoned struct{}

// TimedOut gives the entry's seat, which is to move and whose clock ran out, to a
// stand-in.
type TimedOut struct {
	// StandIn is the bot that moves from now on, by name; "" if no other player is
	// left, so that the game ends.
	StandIn string
}

// ClockExtended credits the clock of the entry's seat, which is to move, with time in
// which the server could not accept moves.
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
