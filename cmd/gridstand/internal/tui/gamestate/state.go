// Package gamestate keeps the state of a game for a page: the newest acknowledged version,
// the changes of the last event, and the state of the connection. It also follows the game's stream.
// Contest does the same for a challenge.
package gamestate

import (
	"cmp"
	"context"
	"slices"
	"strings"
	"time"

	tea "charm.land/bubbletea/v2"
	"charm.land/lipgloss/v2"

	"github.com/gridstand/gridstand/client"
	"github.com/gridstand/gridstand/cmd/gridstand/internal/tui/board"
	"github.com/gridstand/gridstand/cmd/gridstand/internal/tui/ui"
	"github.com/gridstand/gridstand/internal/describe"
	pb "github.com/gridstand/gridstand/proto/gridstand/v1"
)

// State is the newest version of a game that the server acknowledged. Updates come from the
// stream and from replies to moves, in any order; the highest version wins.
type State struct {
	// Game is the game at its newest known version.
	Game client.Game
	Change
	// Motion is the animation of the last move.
	Motion ui.Motion
	// Log lists the last events, newest first.
	Log []Entry

	largest int32  // largest tile so far
	record  int32  // see SetRecord
	rematch string // id of the request that creates a rematch, or ""

	connection client.Connection
	// Err is the reason why the stream ended before the game did, or nil.
	Err error
	// Unfollow ends what Follow has begun. It is nil before.
	Unfollow context.CancelFunc
}

// Change is what a version of a game changed.
type Change struct {
	// Before is the 2048 board before the last move, or nil if it is unknown.
	Before *pb.Twenty48Board
	// Marks holds the cells that the last event changed, and Gained the points that it
	// gained. They are used only for 2048.
	Marks  board.Marks
	Gained int32
	// Jump is the last move of Tribolo, or nil if it was undone or is unknown.
	Jump *pb.TriboloMove
	// Milestone is a text that celebrates the last event, or "".
	Milestone string
}

// Entry is a line of the log: a description of an event, the number of moves made, and the
// points gained.
type Entry struct {
	Version, Move int32
	What          string
	Gained        int32
}

// LogLimit is the maximum length of the log. No panel shows more.
const LogLimit = 40

// New returns the state of a game. g is nil if the game is not known yet.
func New(g *pb.Game) State {
	return State{Game: client.Game{Game: g}, Change: Change{Marks: board.NoMarks}}
}

// Twenty48 returns the 2048 board, or nil if this is another kind of game.
func (s *State) Twenty48() *pb.Twenty48Board { return s.Game.GetPosition().GetTwenty48() }

// Tribolo returns the Tribolo board, or nil if this is another kind of game.
func (s *State) Tribolo() *pb.TriboloBoard { return s.Game.GetPosition().GetTribolo() }

// Board returns the board to draw, or nil while it is unknown.
func (s *State) Board() board.Board {
	return board.Moving(board.Of(s.Game.GetPosition(), s.Marks, s.Jump), s.Before, s.Motion.Progress())
}

// Over reports whether the game is finished.
func (s *State) Over() bool { return s.Game.Over() }

// Sealed reports whether the game is an attempt whose seed is secret until its challenge has closed.
func (s *State) Sealed() bool { return s.Game.GetChallengeId() != "" && len(s.Game.GetSeed()) == 0 }

// Update applies an update from the stream and reports whether the board changed.
func (s *State) Update(u client.Update) bool {
	s.connection = u.Connection
	switch {
	case u.Game != nil:
		return s.Replace(u.Game)
	case u.Event != nil:
		return s.Apply(u.Event)
	default:
		return s.Game.Update(u)
	}
}

// WrongBoard reports whether a position has a board of another kind or size. Only a faulty
// server sends such a position. A page supports only the board that it was opened for.
func (s *State) WrongBoard(p *pb.Position) bool {
	return s.Board() != nil && sizes(p) != sizes(s.Game.GetPosition())
}

// sizes returns the rows and columns of the board of each kind, which are 0 if it is of another kind.
func sizes(p *pb.Position) [4]int32 {
	twenty48, tribolo := p.GetTwenty48(), p.GetTribolo()
	return [...]int32{twenty48.GetRows(), twenty48.GetColumns(), tribolo.GetRows(), tribolo.GetColumns()}
}

// Replace applies a snapshot if it is newer, and reports whether it was.
func (s *State) Replace(g *pb.Game) bool {
	if s.WrongBoard(g.GetPosition()) || !s.Game.Replace(g) {
		return false
	}
	s.Change = Change{Marks: board.NoMarks}
	return true
}

// Apply applies an event if it is newer, and reports whether it was. An older event is only added to
// the log.
func (s *State) Apply(e *pb.Event) bool {
	if s.WrongBoard(e.GetPosition()) {
		return false
	}
	if e.GetGameId() == s.Game.GetId() && e.GetVersion() <= s.Game.GetVersion() {
		s.note(e)
		return false
	}
	before, score := s.Twenty48(), s.Score()
	next := e.GetVersion() == s.Game.GetVersion()+1
	if !s.Game.Apply(e) {
		return false
	}
	s.Change = Change{Marks: board.NoMarks, Jump: s.Jump}
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
			s.Jump = &pb.TriboloMove{Cell: c, Taken: action.Moved.GetTaken()}
		}
	case *pb.Event_Undone, nil: // nil: unknown
		s.Jump = nil
	}
	s.Milestone = s.milestone(before, score)
	s.note(e)
	return true
}

// note adds an event to the log, unless the log has it.
func (s *State) note(e *pb.Event) {
	what := happened(s.Game.Game, e)
	i, found := slices.BinarySearchFunc(s.Log, e.GetVersion(), func(l Entry, version int32) int { return cmp.Compare(version, l.Version) })
	if what == "" || found {
		return
	}
	gained := e.GetMoved().GetGained()
	if taken := len(e.GetMoved().GetTaken()); taken > 0 {
		gained = int32(taken) + 1 // the cell that was jumped to, too
	}
	s.Log = slices.Insert(s.Log, i, Entry{Version: e.GetVersion(), Move: e.GetPosition().GetMoveCount(), What: what, Gained: gained})
	s.Log = s.Log[:min(len(s.Log), LogLimit)]
}

// ConnectionProblem explains why the stream ended before the game did or, after two tries, why it cannot be resumed.
// It returns "" if there is no such problem.
func (s *State) ConnectionProblem() string {
	if s.Over() {
		return ""
	}
	return problem(s.Err, s.connection)
}

// problem explains the error with which a stream ended or, after two tries, why it cannot be resumed.
func problem(ended error, c client.Connection) string {
	const tries = 2
	switch {
	case ended != nil:
		return ui.Explain(ended, "Open it again to retry.")
	case c.State == client.Reconnecting && c.Attempt > tries:
		return ui.Explain(c.Err, ui.Gone)
	default:
		return ""
	}
}

// Waits reports whether a game or a race's row waits for players. The server stops listing it soon after they have
// left.
func Waits(g *pb.Game) bool { return g.GetStatus() == pb.GameStatus_GAME_STATUS_WAITING }

// LiveTime is how long a game counts as live after an event.
const LiveTime = 30 * time.Second

// Idle returns the time since a game's last event, and whether that is too long for it to count as live.
func Idle(g *pb.Game, now time.Time) (age time.Duration, idle bool) {
	age = max(now.Sub(g.GetUpdateTime().AsTime()), 0)
	return age, age >= LiveTime
}

// Stage says in a few words whether a game is live, or how it ended; see Idle.
func Stage(g *pb.Game, now time.Time) string {
	_, idle := Idle(g, now)
	switch status := g.GetStatus(); {
	case status == pb.GameStatus_GAME_STATUS_FINISHED:
		return strings.ToLower(describe.Ending(g))
	case status == pb.GameStatus_GAME_STATUS_WAITING:
		return "waiting"
	case status != pb.GameStatus_GAME_STATUS_ACTIVE:
		return "?"
	case g.GetChallengeId() != "":
		return "attempt"
	case idle:
		return "idle"
	case g.GetExhibition():
		return "exhibition"
	default:
		return "live"
	}
}

// Status returns a sign and words for the state of a game, such as "●" and "live", and their style.
func Status(t ui.Theme, g *pb.Game, now time.Time) (sign, words string, look lipgloss.Style) {
	switch age, idle := Idle(g, now); {
	case g.GetStatus() == pb.GameStatus_GAME_STATUS_FINISHED:
		return "■", "finished", t.Dim()
	case Waits(g):
		return "◌", "waiting", t.Accent()
	// In a race, the age of a game without moves includes the wait for the start.
	case idle && g.GetPosition().GetMoveCount() == 0 && g.GetChallengeId() != "":
		return "○", "no moves yet", t.Dim()
	case idle:
		return "○", "idle " + describe.Span(age), t.Dim()
	default:
		return "●", "live", t.Good()
	}
}

// Badge returns a label for the state of the connection or, if that is good, of the game.
func (s *State) Badge(t ui.Theme, now time.Time) string {
	sign, words, look := Status(t, s.Game.Game, now)
	switch {
	case s.Over():
	case s.Err != nil:
		sign, words, look = "◌", "ended", t.Bad()
	case s.connection.State == client.Reconnecting:
		sign, words, look = "◌", "reconnecting", t.Warn()
	case s.connection.State == client.Connecting:
		sign, words, look = "◌", "connecting", t.Dim()
	}
	return look.Render(sign + " " + words)
}

// Show animates the last move, if it is known and fast is set.
func (s *State) Show(env *ui.Env, t *ui.Tasks, fast bool) tea.Cmd {
	s.Motion.Stop()
	if fast && s.Before != nil {
		return s.Motion.Start(env, t)
	}
	return nil
}
