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
	// Keys returns the mode's own keys.
	Keys(p *page) []ui.Key
	// Board returns the board to draw. mine is set if it is the user's turn.
	Board(s *gamestate.State, mine bool) board.Board
	// Panel returns the blocks of the panel, most important first.
	Panel(p *page, l board.Layout) []string
	// PanelLines returns the number of lines in the panel if it is below the board.
	PanelLines() int
	// Intro explains the game to a new player in one line, which fits into 50 columns.
	Intro() string
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

// direction is a direction of moves, with its keys.
type direction struct {
	*pb.Cell // the step to the next cell
	to       pb.Direction
	keys     string
	label    string
	name     string
}

var directions = []direction{
	{&pb.Cell{Y: -1}, pb.Direction_DIRECTION_UP, "up w k", "↑ w k", "up"},
	{&pb.Cell{Y: 1}, pb.Direction_DIRECTION_DOWN, "down s j", "↓ s j", "down"},
	{&pb.Cell{X: -1}, pb.Direction_DIRECTION_LEFT, "left a h", "← a h", "left"},
	{&pb.Cell{X: 1}, pb.Direction_DIRECTION_RIGHT, "right d l", "→ d l", "right"},
}

// directionKeys returns the keys of directions. what is their description in the footer.
func directionKeys(what string, do func(d direction) tea.Cmd) (keys []ui.Key) {
	for _, d := range directions {
		keys = append(keys, ui.On(d.keys, d.label, d.name, true, func() tea.Cmd { return do(d) }))
	}
	keys[0] = keys[0].FooterAs(1, "↑↓←→", what)
	return keys
}
