// Package gamestate is a game as a screen knows it: the newest acknowledged version, what
// the last event changed, and the state of the connection.
package gamestate

import (
	"fmt"
	"math"
	"slices"
	"time"

	"github.com/gridstand/gridstand/client"
	"github.com/gridstand/gridstand/cmd/gridstand/internal/tui/board"
	"github.com/gridstand/gridstand/cmd/gridstand/internal/tui/style"
	pb "github.com/gridstand/gridstand/proto/gridstand/v1"
)

// State is the newest version of a game that the server acknowledged. Updates may come from the reply
// to a move or from the stream, in any order: the higher version wins.
type State struct {
	// Game is the game at its newest known version.
	Game client.Game
	// Before is the board of 2048 before the last move, nil if that is unknown.
	Before *pb.Twenty48Board
	// Marks and Gained tell what the last event changed in 2048.
	Marks  board.Marks
	Gained int32
	// Jump is the last move of Tribolo that still stands, nil if it is unknown.
	Jump *board.Jump
	// Log holds the last events, the newest first.
	Log []Entry

	connection     client.Connection
	connectionTime time.Time // when the connection came to be as it is
	// Lost is set if the stream ended before the game did.
	Lost bool
	// skipped counts the events left out at skippedTime.
	skipped     int32
	skippedTime time.Time
}

// Entry is a line of the log: what happened, after how many moves, and what it gained.
type Entry struct {
	Version, Move int32
	What          string
	Gained        int32
}

// LogLimit bounds the log: no panel shows more.
const LogLimit = 40

// New returns the state of a game, nil if it is not known yet.
func New(g *pb.Game) State { return State{Game: client.Game{Game: g}, Marks: board.NoMarks} }

// Twenty48 returns the board of 2048, nil in other games.
func (s *State) Twenty48() *pb.Twenty48Board { return s.Game.GetPosition().GetTwenty48() }

// Tribolo returns the board of Tribolo, nil in other games.
func (s *State) Tribolo() *pb.TriboloBoard { return s.Game.GetPosition().GetTribolo() }

// Board returns the board to draw, nil if there is none yet.
func (s *State) Board() board.Board { return board.Of(s.Game.GetPosition(), s.Marks, s.Jump) }

// Over reports whether the game is finished.
func (s *State) Over() bool { return s.Game.Over() }

// Update applies an update of the stream and reports whether the board changed.
func (s *State) Update(u client.Update, now time.Time) bool {
	s.connection, s.connectionTime = u.Connection, now
	switch {
	case u.Game != nil:
		if u.Skipped > 0 {
			s.skipped, s.skippedTime = u.Skipped, now
		}
		return s.Replace(u.Game)
	case u.Event != nil:
		return s.Apply(u.Event)
	default:
		return s.Game.Update(u)
	}
}

// WrongKind reports whether a position is of another kind than the game, which only a
// faulty server sends: a screen draws and plays one kind.
func (s *State) WrongKind(p *pb.Position) bool {
	return s.Board() != nil && (p.GetTribolo() == nil) != (s.Tribolo() == nil)
}

// Replace applies a snapshot and reports whether it is newer.
func (s *State) Replace(g *pb.Game) bool {
	if s.WrongKind(g.GetPosition()) || !s.Game.Replace(g) {
		return false
	}
	s.Before, s.Marks, s.Gained, s.Jump = nil, board.NoMarks, 0, nil
	return true
}

// Apply applies an event and reports whether it is newer.
func (s *State) Apply(e *pb.Event) bool {
	before := s.Twenty48()
	next := e.GetVersion() == s.Game.GetVersion()+1
	if s.WrongKind(e.GetPosition()) || !s.Game.Apply(e) {
		return false
	}
	s.Before, s.Marks, s.Gained = nil, board.NoMarks, 0
	switch action := e.GetAction().(type) {
	case *pb.Event_Moved:
		s.Gained = action.Moved.GetGained()
		if spawned := action.Moved.GetSpawned(); spawned != nil {
			s.Marks.Spawned = int(spawned.GetIndex())
		}
		if d := action.Moved.GetDirection(); next && before != nil {
			s.Before, s.Marks.Merged, s.Marks.Direction = before, board.MergedBy(before, d), d
		}
		if c := action.Moved.GetCell(); c != nil {
			s.Jump = &board.Jump{To: c, Taken: action.Moved.GetTaken()}
		}
	case *pb.Event_Undone:
		s.Jump = nil
	}
	if what := happened(s.Game.Game, e); what != "" {
		s.Log = slices.Insert(s.Log, 0, Entry{
			Version: e.GetVersion(), Move: s.Game.GetPosition().GetMoveCount(), What: what,
			Gained: max(s.Gained, int32(len(e.GetMoved().GetTaken()))),
		})
		s.Log = s.Log[:min(len(s.Log), LogLimit)]
	}
	return true
}

// ConnectionProblem is the error of a server that answers but refuses the stream, nil for a
// lost connection.
func (s *State) ConnectionProblem() error {
	if s.connection.State != client.Reconnecting || s.Lost || client.CauseOf(s.connection.Err) == client.CauseUnknown {
		return nil
	}
	return s.connection.Err
}

// Times that the badge depends on.
const (
	behindTime = 4 * time.Second  // for which it says that events were left out
	LiveTime   = 30 * time.Second // since the last event, in which a game is called live
)

// Idle reports how long ago the last event was, and whether that is too long ago to call
// the game live.
func (s *State) Idle(now time.Time) (time.Duration, bool) {
	age := now.Sub(s.Game.GetUpdateTime().AsTime())
	return age, age >= LiveTime
}

// LeaveTime is how much later the last event of a player's other game is if the player has
// left this one for it.
const LeaveTime = 10 * time.Second

// LeftFor reports whether a player who has a seat in two games has left one for the other:
// the last event of that is so much later, usually by LeaveTime.
func LeftFor(this, other *pb.Game, later time.Duration) bool {
	return other.GetId() != this.GetId() && other.GetUpdateTime().AsTime().Sub(this.GetUpdateTime().AsTime()) >= later
}

// Badge says whether what is shown is live.
func (s *State) Badge(t style.Theme, now time.Time) string {
	switch {
	case s.Over():
		return t.Dim().Render("■ finished")
	case s.Lost:
		return t.Bad().Render("◌ ended")
	case s.connection.State == client.Reconnecting:
		text := "◌ reconnecting"
		if left := s.connection.Delay - now.Sub(s.connectionTime); left > 0 {
			text += fmt.Sprintf(" (%d s)", int(math.Ceil(left.Seconds())))
		}
		return t.Warn().Render(text)
	case s.connection.State == client.Connecting:
		return t.Dim().Render("◌ connecting")
	case s.skipped > 0 && now.Sub(s.skippedTime) < behindTime:
		return t.Warn().Render(fmt.Sprintf("▲ behind, skipped %d", s.skipped))
	case s.Game.GetStatus() == pb.GameStatus_GAME_STATUS_WAITING:
		return t.Dim().Render("○ waiting")
	}
	if age, idle := s.Idle(now); idle {
		return t.Dim().Render("○ idle " + Span(age))
	}
	return t.Good().Render("● live")
}

// Unmark forgets which cells the last event changed.
func (s *State) Unmark() { s.Marks = board.NoMarks }
