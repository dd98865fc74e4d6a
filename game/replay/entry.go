// Package replay implements the life of a game around its board: its seats and actions, whether
// it is ranked, and how it ended. A game is the list of its entries; Start and State.Apply turn
// the entries into states, one by one. They are pure functions, so the server that runs a game
// and the player who verifies it later run the same code.
package replay

import (
	"slices"
	"time"

	"github.com/gridstand/gridstand/game"
)

// Player is an account as it is stored in a game.
type Player struct {
	ID, Name string
	// Bot reports whether the account belongs to a program.
	Bot bool
}

// Seat is a place in a game. It is taken by a player or a bot, or is open.
type Seat struct {
	// Player is the player in the seat. If its ID is empty, no player has the seat.
	Player Player
	// Bot is the name of the bot in the seat.
	Bot string
	// Resigned reports whether the seat has resigned. Its turns are skipped.
	Resigned bool
	// StandIn is the name of the bot that moves in the player's place.
	StandIn string
	// Absent reports whether a stand-in has ever moved for the player, even if the player
	// returned. Such a seat does not score.
	Absent bool
}

// Open reports whether the seat is still free.
func (s Seat) Open() bool { return s.Player.ID == "" && s.Bot == "" }

// Held reports whether a player holds the seat without a stand-in and has not
// resigned.
func (s Seat) Held() bool { return s.Player.ID != "" && s.StandIn == "" && !s.Resigned }

// Lent reports whether a stand-in is playing for a player who may take the seat back.
func (s Seat) Lent() bool { return s.StandIn != "" && !s.Resigned }

// rival reports whether another player than that of s has the other seat.
func (s Seat) rival(other Seat) bool { return other.Player.ID != "" && other.Player.ID != s.Player.ID }

// Entry is one entry of a game's log: an action and the seat it concerns. Everything else
// follows from the entries before it.
type Entry struct {
	// Seat is the seat that the action concerns, or game.NoSeat.
	Seat   int
	Action Action
}

// Same reports whether both entries have the same seat and action. It ignores values that the
// server draws itself, such as the seed of a game that is not an attempt at a challenge, and the
// names of players in the first entry.
func (e Entry) Same(other Entry) bool { return e.Seat == other.Seat && e.Action.same(other.Action) }

// Action is one of the types below.
type Action interface {
	same(other Action) bool
}

// Created creates a game.
type Created struct {
	Variant    string
	Revision   int32
	Creator    Player
	Seats      []Seat
	Private    bool
	TurnLimit  time.Duration // 0 means no limit
	Commitment [game.SeedSize]byte
	// Attempt is set only in an attempt at a challenge.
	Attempt Attempt
}

// Attempt names the challenge that a game is an attempt at. The zero Attempt means that it is
// not an attempt.
type Attempt struct {
	// ChallengeID and Kind identify the challenge and its purpose.
	ChallengeID string
	Kind        ChallengeKind
	// DayStreak is the number of consecutive days, up to and including this one, on which the
	// player started the daily game. It is 0 for other kinds.
	DayStreak int32
}

// ChallengeKind is the purpose of a challenge. The numeric values are stored and must not
// change.
type ChallengeKind uint8

// Kinds of challenges.
const (
	Daily   ChallengeKind = 1
	Race    ChallengeKind = 2
	Link    ChallengeKind = 3
	Rematch ChallengeKind = 4
)

// Joined gives the entry's seat to a player. If a stand-in holds the seat, only the seat's own
// player can take it back.
type Joined struct{ Player Player }

// Moved makes a move for the entry's seat.
type Moved struct {
	Move game.Move
	// ByBot reports whether a program chose the move.
	ByBot bool
}

// Undone takes the game back to an earlier version. State.Undo applies it.
type Undone struct{ To int32 }

// Resigned resigns the entry's seat.
type Resigned struct{}

// Abandoned ends a game that was idle for too long, or that its creator canceled before it
// started.
type Abandoned struct{}

// TimedOut gives the entry's seat to a stand-in. It is that seat's turn, and its clock has run
// out.
type TimedOut struct {
	// StandIn is the name of the bot that moves from now on, or "" if no other player is left,
	// so that the game ends.
	StandIn string
}

// ClockExtended adds time to the clock of the entry's seat, whose turn it is, because no server
// was running for a while.
type ClockExtended struct{ By time.Duration }

func (a Created) same(other Action) bool {
	b, ok := other.(Created)
	return ok && a.Variant == b.Variant && a.Creator.ID == b.Creator.ID &&
		slices.EqualFunc(a.Seats, b.Seats, Seat.same) && a.Private == b.Private && a.TurnLimit == b.TurnLimit &&
		a.Attempt.ChallengeID == b.Attempt.ChallengeID && (a.Attempt.ChallengeID == "" || a.Commitment == b.Commitment)
}

// same reports whether the seats are equal except for the name of their player, who may have changed it.
func (s Seat) same(other Seat) bool {
	s.Player.Name = other.Player.Name
	return s == other
}

func (a Joined) same(other Action) bool        { return a == other }
func (a Moved) same(other Action) bool         { return a == other }
func (a Undone) same(other Action) bool        { return a == other }
func (a Resigned) same(other Action) bool      { return a == other }
func (a Abandoned) same(other Action) bool     { return a == other }
func (a TimedOut) same(other Action) bool      { return a == other }
func (a ClockExtended) same(other Action) bool { return a == other }
