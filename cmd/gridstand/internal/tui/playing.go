package tui

import (
	"context"
	"errors"
	"io"
	"time"

	tea "charm.land/bubbletea/v2"

	"github.com/gridstand/gridstand/client"
	pb "github.com/gridstand/gridstand/proto/gridstand/v1"
)

// PlayConfig says what is played.
type PlayConfig struct {
	// Game to begin with, as the server returned it.
	Game *pb.Game
	// Me is the id of the player's account.
	Me string
	// Options are those of new games, as far as the game to begin with does not
	// tell.
	Options client.GameOptions
	// Server that commands have to name; empty where they need not.
	Server string
	// Ends says that the server ends with the screen, and its games with it.
	Ends bool
	// Resume is the command that resumes the game if the server ends with the screen
	// but keeps its games, empty otherwise.
	Resume string
	// Clock tells the time; nil is the system's.
	Clock func() time.Time
}

// NewPlayer makes the screen on which a game is played, whichever kind it is.
func NewPlayer(ctx context.Context, server Server, c PlayConfig) Screen {
	if c.Game.GetPosition().GetTribolo() != nil {
		return NewTribolo(ctx, server, c)
	}
	return NewPlay(ctx, server, c)
}

// playing is what the screens of games that one plays have in common.
type playing struct {
	base
	match
	server Server
	ends   bool // there will be nothing to come back to
	resume string
	// nextOptions are those of the game that follows this one.
	nextOptions func() client.GameOptions

	// opened is the game as it was opened. Commands read it: it never changes.
	opened *pb.Game
	// leaveGame ends the stream of the game.
	leaveGame context.CancelFunc

	// question is asked before something is lost; starting is set while the next
	// game is being made.
	question question
	starting bool
	// problem is what went wrong last, notice anything else worth a line.
	problem, notice string
}

// question is what a screen asks before something is lost.
type question uint8

const (
	noQuestion question = iota
	askNew
	askUndo
	askRestart
	askSolver
)

func newPlaying(ctx context.Context, server Server, c PlayConfig) playing {
	p := playing{base: newBase(ctx, c.Clock), server: server, ends: c.Ends, resume: c.Resume}
	p.address = c.Server
	return p
}

// open begins a game in the place of the one before.
func (p *playing) open(g *pb.Game) {
	if p.leaveGame != nil {
		p.leaveGame()
	}
	p.opened, p.match = g, newMatch(g)
	p.question, p.starting, p.problem, p.notice = noQuestion, false, "", ""
}

// watch begins to watch the game.
func (p *playing) watch() tea.Cmd {
	ctx, cancel := context.WithCancel(p.tasks.ctx)
	p.leaveGame = cancel
	after := p.opened.GetVersion()
	return next(p.tasks, p.opened.GetId(), p.server.Watch(ctx, p.opened.GetId(), &after))
}

// agreed handles a key while a question is asked, and returns the question if the
// key says yes.
func (p *playing) agreed(msg tea.KeyPressMsg, keys *playKeys) question {
	asked := p.question
	switch {
	case pressed(msg, keys.Yes):
		p.question = noQuestion
		return asked
	case pressed(msg, keys.No):
		p.question = noQuestion
	}
	return noQuestion
}

// streamEnded takes in the end of the stream, which is an error before the end of
// the game.
func (p *playing) streamEnded(err error) {
	if !errors.Is(err, io.EOF) {
		p.lost = true
		p.fail(err)
	}
}

// giveUp ends the player's part in the game, so that its score counts.
func (p *playing) giveUp() tea.Cmd {
	if p.over() { // meanwhile
		return p.create()
	}
	p.starting = true
	game := p.opened
	return p.tasks.do(func(ctx context.Context) tea.Msg {
		e, err := p.server.Resign(ctx, game)
		return resignedMsg{gameID: game.GetId(), event: e, err: err}
	})
}

// resigned goes on to a new game after one was given up. A game that cannot be
// ended is left as it is.
func (p *playing) resigned(msg resignedMsg) tea.Cmd {
	switch {
	case msg.err == nil:
		p.apply(msg.event)
	case errors.Is(msg.err, client.ErrGameOver), errors.Is(msg.err, client.ErrNotSeated),
		errors.Is(msg.err, client.ErrGameNotFound), errors.Is(msg.err, client.ErrGameDamaged):
	default:
		p.starting = false
		p.fail(msg.err)
		return nil
	}
	return p.create()
}

// create asks for a new game of the same variant.
func (p *playing) create() tea.Cmd {
	p.starting = true
	variant, options := p.opened.GetVariant(), p.nextOptions()
	return p.tasks.do(func(ctx context.Context) tea.Msg {
		g, err := p.server.NewGame(ctx, variant, options)
		return openedMsg{game: g, err: err}
	})
}

// created takes in the answer to create, and reports whether there is a new game.
func (p *playing) created(msg openedMsg) bool {
	if msg.err == nil && p.foreign(msg.game.GetPosition()) {
		msg.err = client.ErrBadStream
	}
	if msg.err != nil {
		p.starting = false
		p.fail(msg.err)
	}
	return msg.err == nil
}

// fail shows what went wrong. A server that forgot the player or the game, as
// one that kept them in its memory does, has nothing to come back to.
func (p *playing) fail(err error) {
	p.problem = plainly(err, sameKey)
	p.ends = p.ends || errors.Is(err, client.ErrBadToken) || errors.Is(err, client.ErrGameNotFound)
}

// trouble is the line about what is the matter with the game or the server, empty
// if nothing is.
func (p *playing) trouble() string {
	switch {
	case p.starting:
		return p.theme.dim().Render("Starting a new game …")
	case p.problem != "":
		return p.theme.bad().Render("! " + p.problem)
	case p.mistaken() != "":
		return p.theme.bad().Render("! " + p.mistaken())
	default:
		return ""
	}
}
