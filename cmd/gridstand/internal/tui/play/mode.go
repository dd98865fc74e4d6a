package play

import (
	"charm.land/bubbles/v2/key"
	tea "charm.land/bubbletea/v2"

	"github.com/gridstand/gridstand/client"
	"github.com/gridstand/gridstand/cmd/gridstand/internal/tui/board"
	"github.com/gridstand/gridstand/cmd/gridstand/internal/tui/gamestate"
	"github.com/gridstand/gridstand/cmd/gridstand/internal/tui/ui"
	pb "github.com/gridstand/gridstand/proto/gridstand/v1"
)

// Mode is the part of the page that differs between kinds of games: the keys, the board and
// the wording.
type Mode interface {
	// Keys returns the mode's own keys, for the footer and for the help.
	Keys() (short, full []key.Binding)
	// Key handles a key. It ignores keys that are not the mode's own.
	Key(s *gamestate.State, msg tea.KeyPressMsg) Act
	// Click handles a click on a column and row of the board. c is the size of its cells.
	Click(s *gamestate.State, c board.Size, x, y int) Act
	// Board returns the board to draw. mine is set if it is the user's turn.
	Board(s *gamestate.State, mine bool) board.Board
	// Panel returns the blocks of the panel, most important first.
	Panel(l look) []string
	// PanelLines returns the number of lines in the panel if it is below the board.
	PanelLines() int
	// Result returns a title and the facts of a finished game.
	Result(l look) (title, facts string)
	// Intro explains the game to a new player in three lines. Each line has alternative
	// wordings, longest first.
	Intro(s *gamestate.State) [3][]string
	// Ahead returns the number of moves that may be queued behind the one in flight. If it
	// is not 0, a move is made even if the board has changed since the player chose it.
	Ahead() int
	// Solvers returns the bots that can play for the user, in the order of their keys.
	Solvers() []string
}

// newMode returns the mode for a game, or nil if this program cannot play it. New kinds of
// games are added here.
func newMode(g *pb.Game) Mode {
	switch b := g.GetPosition().GetBoard().(type) {
	case *pb.Position_Twenty48:
		return &sliding{newArrows()}
	case *pb.Position_Tribolo:
		return newJumping(b.Tribolo)
	default:
		return nil
	}
}

// Act is the effect of a key or click: a move, or a message for the user. The zero Act is a
// no-op.
type Act struct {
	Move *Move
	// Say is a message for the status line, in alternative wordings, longest first.
	Say []string
}

// Move is a move that the player wants to make.
type Move struct {
	client.Move
	// Legal reports whether the move is legal in a game.
	Legal func(s *gamestate.State) bool
}

// look is what a mode needs to draw a panel: the game and the panel's size.
type look struct {
	*seated
	places places
	width  int
	height int
	wide   bool // the panel is beside the board
}

// direction returns the direction that a key stands for, or unspecified.
func (k arrows) direction(msg tea.KeyPressMsg) pb.Direction {
	for i, b := range []key.Binding{k.Up, k.Right, k.Down, k.Left} {
		if ui.Pressed(msg, b) {
			return []pb.Direction{
				pb.Direction_DIRECTION_UP, pb.Direction_DIRECTION_RIGHT,
				pb.Direction_DIRECTION_DOWN, pb.Direction_DIRECTION_LEFT,
			}[i]
		}
	}
	return pb.Direction_DIRECTION_UNSPECIFIED
}

// arrows are the key bindings for the four directions.
type arrows struct{ Up, Down, Left, Right key.Binding }

func newArrows() arrows {
	return arrows{
		Up:    ui.Bind("↑ w k", "up", "up", "w", "k"),
		Down:  ui.Bind("↓ s j", "down", "down", "s", "j"),
		Left:  ui.Bind("← a h", "left", "left", "a", "h"),
		Right: ui.Bind("→ d l", "right", "right", "d", "l"),
	}
}

func (k arrows) all() []key.Binding { return []key.Binding{k.Up, k.Down, k.Left, k.Right} }
