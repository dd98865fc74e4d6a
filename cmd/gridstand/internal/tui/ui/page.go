// Package ui is what all pages of the terminal program share: what a page is, what it
// asks of the server, and how one page opens another.
package ui

import (
	"slices"
	"time"

	"charm.land/bubbles/v2/help"
	tea "charm.land/bubbletea/v2"

	"github.com/gridstand/gridstand/client"
	"github.com/gridstand/gridstand/cmd/gridstand/internal/tui/style"
	pb "github.com/gridstand/gridstand/proto/gridstand/v1"
)

// Page is one page of the program. The program calls its methods from one goroutine.
type Page interface {
	// Init returns the command with which the page begins.
	Init() tea.Cmd
	// Update handles a message: what the page's tasks bring, and keys, clicks and pastes
	// while the page is shown. The program handles window sizes, themes and the time, and
	// keeps Env up to date.
	Update(msg tea.Msg) tea.Cmd
	// View draws the page for a body of width × height.
	View(width, height int) View
	// Keys are the keys that the page handles now, for its footer and its help.
	Keys() help.KeyMap
	// Farewell is the line that stays in the terminal after the program, empty for none.
	Farewell() string
	// Tasks are the page's commands in flight. The program stops them when the page closes,
	// and gives what they bring to this page only.
	Tasks() *Tasks
}

// View is a drawn page.
type View struct {
	// Title of the terminal's window, empty for the program's name.
	Title string
	// Left and Right are the texts of the header, each the longest first: the program
	// takes those that fit.
	Left, Right []string
	// Body is the page's content, at most as large as the page was asked to draw.
	Body string
	// Status is a line for news and problems, empty for none.
	Status string
	// Dialog lies over the body, empty for none. Brief replaces it if the window is too
	// small for it.
	Dialog, Brief string
	// OnClick returns the command of a click on a column and row of the body; may be nil.
	OnClick func(x, y int) tea.Cmd
}

// Typing is a page that may be taking text: then it gets all keys but ctrl-c.
type Typing interface{ Typing() bool }

// Env is what a page knows of the program. The program changes it before it calls a page;
// pages read it.
type Env struct {
	Server Server
	// Clock returns the time; Now is the time of the last message.
	Clock func() time.Time
	Now   time.Time
	Theme style.Theme
	// Width and Height are the size of the window.
	Width, Height int
	// Me is the id of the player's account, empty as long as there is none.
	Me string
	// Local says how games end with a server of this process, nil if it is another's.
	Local *Local
	// Guest is the reason that the user can only watch, empty if they can play.
	Guest string
	// Command writes a command of the program that does words ("watch", "<id>"), in the
	// form in which this user types it; empty if this user has no such command.
	Command func(words ...string) string
}

// Seated reports whether the user has a seat in a game.
func (e *Env) Seated(g *pb.Game) bool {
	return slices.ContainsFunc(g.GetSeats(), e.Owns)
}

// Owns reports whether a seat is the user's.
func (e *Env) Owns(seat *pb.Seat) bool { return e.Me != "" && seat.GetPlayer().GetId() == e.Me }

// Local describes a server that ends with the program.
type Local struct {
	// Resume is the command that resumes a game, empty if its games are lost.
	Resume string
	// Site is the address of its web pages for others, empty if they cannot connect.
	Site string
}

// The messages with which a page leaves for another.
type (
	// OpenMsg opens a page on top of this one.
	OpenMsg struct{ Route Route }
	// ReplaceMsg opens a page in place of this one.
	ReplaceMsg struct{ Route Route }
	// BackMsg closes the page. The program ends after its last one.
	BackMsg struct{}
	// ResumedMsg tells a page that it is shown again, since the one on top of it closed, or
	// still, since the one that it wanted could not open.
	ResumedMsg struct{}
)

// Route is a page to open. One of its fields is set.
type Route struct {
	// Lobby opens the lobby.
	Lobby bool
	// Play plays a game in which the user has a seat; Join takes a seat in a game first.
	Play, Join string
	// Seat is the seat to join, nil for the first open one.
	Seat *int32
	// New creates a game and opens it.
	New *NewGame
	// Watch watches games: one, or several side by side. They are whole ids.
	Watch []string
	// TV watches one live game after another.
	TV bool
	// Follow watches the games of a player, by name.
	Follow string
	// Replay shows a game from its start.
	Replay string
	// Rules shows the rules of a variant, by id.
	Rules string
}

// NewGame is a game to create.
type NewGame struct {
	Variant string
	Options client.GameOptions
}

// Open returns the command that opens a page on top.
func Open(r Route) tea.Cmd { return func() tea.Msg { return OpenMsg{r} } }

// Replace returns the command that opens a page in place of this one.
func Replace(r Route) tea.Cmd { return func() tea.Msg { return ReplaceMsg{r} } }

// Back closes the page.
func Back() tea.Msg { return BackMsg{} }
