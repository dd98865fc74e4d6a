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

// Mode is what a kind of game adds to the page: its keys, its board and its words.
type Mode interface {
	// Keys are the game's own keys, for the footer and for the help.
	Keys() (short, full []key.Binding)
	// Key handles a key that may be one of them.
	Key(s *gamestate.State, msg tea.KeyPressMsg) Act
	// Click handles a click on a column and row of the board, drawn with cells of a size.
	Click(s *gamestate.State, c board.Size, x, y int) Act
	// Board is the board to draw; mine if it is the user's turn.
	Board(s *gamestate.State, mine bool) board.Board
	// Panel is what stands beside the board, in blocks, the most important first.
	Panel(l look) []string
	// PanelLines is the height of the panel below the board.
	PanelLines() int
	// Result is a title and the facts of a finished game.
	Result(l look) (title, facts string)
	// Intro tells a new player how to play: three lines, each with its longest text first.
	Intro() [3][]string
	// Ahead is the number of moves that may wait for the one in flight. If there are any, a
	// move is made even if the board changed after the player chose it.
	Ahead() int
	// Solvers are the bots that may play for the user, in the order of their keys.
	Solvers() []string
}

// newMode returns the mode of a game, nil if this program cannot play it. A new kind of
// game is added here.
func newMode(g *pb.Game) Mode {
	switch b := g.GetPosition().GetBoard().(type) {
	case *pb.Position_Twenty48:
		return newSliding()
	case *pb.Position_Tribolo:
		return newJumping(b.Tribolo)
	default:
		return nil
	}
}

// Act is what a key does: a move, or something to say. The zero Act is nothing.
type Act struct {
	Move *Move
	// Say is a text for the status line, the longest first.
	Say []string
}

// Move is a move that the player wants.
type Move struct {
	client.Move
	// Legal reports whether the rules allow it in a game.
	Legal func(s *gamestate.State) bool
}

// look is what a mode draws: a game, in a panel of a size.
type look struct {
	*gamestate.State
	env    *ui.Env
	seat   int  // of the user
	mine   bool // the user is to move
	places places
	width  int
	height int
	wide   bool // the panel is beside the board
}

// direction returns the direction of an arrow key or a letter.
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

// arrows are the keys of the four directions.
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
