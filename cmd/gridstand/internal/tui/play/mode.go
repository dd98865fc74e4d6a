package play

import (
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
	Keys() []ui.Key
	// Key handles a key. It ignores keys that are not the mode's own.
	Key(p *page, msg tea.KeyPressMsg) tea.Cmd
	// Board returns the board to draw. mine is set if it is the user's turn.
	Board(s *gamestate.State, mine bool) board.Board
	// Panel returns the blocks of the panel, most important first.
	Panel(p *page, l board.Layout) []string
	// PanelLines returns the number of lines in the panel if it is below the board.
	PanelLines() int
	// Facts returns the facts of a finished game, in lines of at most width columns.
	Facts(p *page, width int) string
	// Intro explains the game to a new player in three lines.
	Intro(s *gamestate.State) string
}

// clickable is a Mode in which a click on the board acts. In other modes, the terminal keeps the mouse
// to itself, so that text can be marked.
type clickable interface {
	// Click handles a click on a column and row of the board. c is the size of its cells.
	Click(p *page, c board.Size, x, y int) tea.Cmd
}

// newMode returns the mode for a game. New kinds of games are added here. Games of a kind that this
// program does not know are refused by package client.
func newMode(g *pb.Game) Mode {
	if g.GetPosition().GetTribolo() != nil {
		return &jumping{}
	}
	return sliding{}
}

// Move is a move that the player wants to make.
type Move struct {
	client.Move
	// Legal reports whether the move is legal in a game.
	Legal func(s *gamestate.State) bool
}

// arrows are the directions that keys stand for, by their names.
var arrows = map[string]pb.Direction{
	"up": pb.Direction_DIRECTION_UP, "w": pb.Direction_DIRECTION_UP, "k": pb.Direction_DIRECTION_UP,
	"down": pb.Direction_DIRECTION_DOWN, "s": pb.Direction_DIRECTION_DOWN, "j": pb.Direction_DIRECTION_DOWN,
	"left": pb.Direction_DIRECTION_LEFT, "a": pb.Direction_DIRECTION_LEFT, "h": pb.Direction_DIRECTION_LEFT,
	"right": pb.Direction_DIRECTION_RIGHT, "d": pb.Direction_DIRECTION_RIGHT, "l": pb.Direction_DIRECTION_RIGHT,
}

// arrowKeys lists the keys of directions. what is their description in the footer.
func arrowKeys(what string) []ui.Key {
	return []ui.Key{
		ui.Listed("↑ w k", "up").FooterAs(1, "↑↓←→", what), ui.Listed("↓ s j", "down"),
		ui.Listed("← a h", "left"), ui.Listed("→ d l", "right"),
	}
}
