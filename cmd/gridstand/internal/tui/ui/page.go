// Package ui defines what all pages of the terminal program share: the interfaces of a page
// and of the server that it uses, tasks, keys and dialogs, the frame, the theme and what pages draw
// with it, and the messages that pages use to open other pages.
package ui

import (
	"context"
	"slices"
	"time"

	tea "charm.land/bubbletea/v2"

	"github.com/gridstand/gridstand/client"
	"github.com/gridstand/gridstand/internal/names"
	pb "github.com/gridstand/gridstand/proto/gridstand/v1"
)

// Page is one page of the program. It embeds its Tasks. The program calls its methods from
// one goroutine.
type Page interface {
	// Init returns the page's first command.
	Init() tea.Cmd
	// View draws the page for a body of the given size. The program itself handles window sizes,
	// themes and the time, and keeps Env up to date.
	View(width, height int) View
	// Keys returns the keys that the page handles now, with their actions, footer and help.
	Keys() KeyTable
	// Continue calls a continuation of the page's tasks, or the action of a key. Pages that have to
	// handle what it changed override it.
	Continue(then Then) tea.Cmd
	// Own returns the page's tasks. The program stops them when the page closes.
	Own() *Tasks
}

// View is a drawn page.
type View struct {
	// Title is the title of the terminal window. The default is the program's name.
	Title string
	// Left and Right are the parts of the two sides of the header. If there is no room, the program leaves out the
	// outer ones: the first of Left and the last of Right.
	Left, Right []string
	// Body is the page's content, at most as large as the page was asked to draw.
	Body string
	// Status is an optional line for problems and hints.
	Status string
	// OnClick returns the command for a click at a column and row of the body. It may be
	// nil.
	OnClick func(x, y int) tea.Cmd

	dialog string // what Draw puts over the body
}

// Press passes a key to a page.
func Press(p Page, msg tea.KeyPressMsg) tea.Cmd {
	return p.Continue(func() tea.Cmd { cmd, _ := p.Keys().Press(msg); return cmd })
}

// Pausing is implemented by pages that make no requests while another page is on top of them. Pause is called
// when it opens.
type Pausing interface{ Pause() }

// Resuming is implemented by pages that need to know that they are visible again because the page on top has
// closed.
type Resuming interface{ Resumed() tea.Cmd }

// Closing is implemented by pages that leave lines in the terminal when the program ends. The
// text may be empty.
type Closing interface{ ClosingMessage() string }

// Env is the environment of a page. The program updates it before it calls a page. Pages
// only read it, except for NewName and NameAsked, and Me if a task signs the user in.
type Env struct {
	Server Server
	// Clock returns the current time by the server's clock. Now is the time of the last message.
	Clock func() time.Time
	Now   time.Time
	Theme Theme
	// Width and Height are the size of the window.
	Width, Height int
	// Remote is set for a remote terminal, on which ctrl-z does nothing.
	Remote bool
	// Me is the id of the user's account, or "" until the user has one. SignIn creates an account
	// with the name of a guest, makes Server act for it, and returns its id.
	Me     string
	SignIn func(ctx context.Context) (id string, err error)
	// Rename gives the account another name. NewName is the name that the user has chosen, if any.
	// NameAsked is set once a result has asked a guest for a name.
	Rename    func(ctx context.Context, name string) error
	NewName   string
	NameAsked bool
	// Others returns the number of other programs and browsers that are connected to the server inside this
	// program, which ends with it. It is nil without one, and if other machines cannot connect.
	Others func() int
	// WatchOnly is the reason why the user can only watch. It is empty if they can play.
	WatchOnly string
	// Reactions reports whether watchers can show reactions.
	Reactions bool
	// Command returns the command line for the given words ("watch", "<id>") as this user
	// would type it, or "" if this user has no such command.
	Command func(words ...string) string
	// Invite is like Command, but for another person, who may be on another machine.
	Invite func(words ...string) string
	// Site is the address of the server's web pages, used in the links that the user shares: the
	// public one or, if the server does not report it, the one that the program has dialed. It is
	// "" if the user cannot use that address.
	Site string
}

// Seated reports whether the user has a seat in a game.
func (e *Env) Seated(g *pb.Game) bool {
	return slices.ContainsFunc(g.GetSeats(), e.Owns)
}

// Owns reports whether a seat is the user's.
func (e *Env) Owns(seat *pb.Seat) bool { return e.Is(seat.GetPlayer()) }

// Is reports whether a player, who may be nil, is the user.
func (e *Env) Is(p *pb.Player) bool { return e.Me != "" && p.GetId() == e.Me }

// Guest reports whether a player, who is the user, has not chosen a name.
func (e *Env) Guest(p *pb.Player) bool { return e.NewName == "" && names.IsGuest(p.GetName()) }

// StatusHeight is the minimum height of a window with a row for the status. In a lower window, the
// status covers the last row of the page.
const StatusHeight = 14

// Messages that a page sends to open another page or to close.
type (
	// OpenMsg opens a page on top of the current one.
	OpenMsg struct{ Route Route }
	// ReplaceMsg opens a page in place of the one that has the given tasks, unless the user
	// has closed that page. If the new page cannot be opened, the old one stays.
	ReplaceMsg struct {
		Owner *Tasks
		Route Route
	}
	// BackMsg closes the current page. Closing the last page ends the program.
	BackMsg struct{}
)

// Route is a page to open: the lobby if no field is set. Otherwise one field is set, and Replay may be set
// along with Watch.
type Route struct {
	// Play plays a game in which the user has a seat. Join first takes the first open seat in a game.
	Play, Join string
	// New creates a game and opens it.
	New *NewGame
	// Watch watches one game, or several side by side, by their full ids.
	Watch []string
	// Replay plays the watched game from its start.
	Replay bool
	// TV watches one live game after another, and Wall the best ones side by side.
	TV, Wall bool
	// Follow watches the games of a player.
	Follow *pb.Player
	// Rules shows the rules of a variant, by id, over the current page.
	Rules string
	// Challenge shows the roster, boards and standings of a challenge, by its full id. The
	// user only watches.
	Challenge string
	// Enter enters a challenge, by its full id. It puts the user on the roster of a race
	// that has not started, and otherwise plays the user's attempt.
	Enter string
	// Daily plays the daily game of a variant on a given day.
	Daily *pb.DailyRequest
	// NewChallenge creates a challenge and shows it.
	NewChallenge *NewChallenge
}

// PlayOn returns the route on which the user plays on in a game. The challenge of an attempt may not have started.
func PlayOn(g *pb.Game) Route {
	if g.GetChallengeId() != "" {
		return Route{Enter: g.GetChallengeId()}
	}
	return Route{Play: g.GetId()}
}

// NewChallenge is a challenge to create.
type NewChallenge struct {
	// Request describes the challenge. It is nil to enter a race that waits for players.
	Request *pb.CreateChallengeRequest
	// Bots lists the names of the bots to put on the roster of a race.
	Bots []string
}

// NewGame is a game to create.
type NewGame struct {
	Variant string
	Options client.GameOptions
	// After is the game that it follows, or nil; see Server.NewGame.
	After *pb.Game
}

// Occupants that SeatRequest accepts besides the names of bots.
const (
	SeatMe   = "me"
	SeatOpen = "open"
)

// SeatRequest requests a seat of a new game for the user, for anyone or for a bot.
func SeatRequest(who string) *pb.SeatRequest {
	switch who {
	case SeatMe:
		return &pb.SeatRequest{Occupant: &pb.SeatRequest_Caller{Caller: &pb.Caller{}}}
	case SeatOpen:
		return &pb.SeatRequest{Occupant: &pb.SeatRequest_Open{Open: &pb.Open{}}}
	default:
		return &pb.SeatRequest{Occupant: &pb.SeatRequest_Bot{Bot: who}}
	}
}

// Find returns the first element for which matches returns true, or nil.
func Find[T any](all []*T, matches func(*T) bool) *T {
	if i := slices.IndexFunc(all, matches); i >= 0 {
		return all[i]
	}
	return nil
}

// Open returns the command that opens a page on top of the current one.
func Open(r Route) tea.Cmd { return func() tea.Msg { return OpenMsg{r} } }

// Replace returns the command that opens a page in place of the one that has the given tasks.
func Replace(t *Tasks, r Route) tea.Cmd { return func() tea.Msg { return ReplaceMsg{t, r} } }

// Back is the command that closes the current page.
func Back() tea.Msg { return BackMsg{} }
