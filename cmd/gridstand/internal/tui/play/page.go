// Package play is the page of a game that the user plays. One Model plays every kind of
// game; a Mode says what is particular to a kind.
package play

import (
	"context"
	"errors"
	"time"

	tea "charm.land/bubbletea/v2"

	"github.com/gridstand/gridstand/client"
	"github.com/gridstand/gridstand/cmd/gridstand/internal/tui/gamestate"
	"github.com/gridstand/gridstand/cmd/gridstand/internal/tui/ui"
	pb "github.com/gridstand/gridstand/proto/gridstand/v1"
)

const (
	markTime = 150 * time.Millisecond // for which the last change is marked
	slowCall = 250 * time.Millisecond // above which moves are not shown in motion
	slowTime = time.Second            // after which a missing answer is mentioned
	endTime  = time.Second            // after the end, in which w still means up
)

// Model is the page. It shows only what the server acknowledged.
type Model struct {
	seated
	tasks *ui.Tasks
	keys  *keys
	// options are those of new games of one seat.
	options client.GameOptions

	mode Mode // nil if this program cannot play the game
	// opened is the game as it was opened. Commands read it: it never changes.
	opened    *pb.Game
	leaveGame context.CancelFunc // ends the stream of the game

	// inFlight is the request whose answer is awaited, nil for none; queue holds those that
	// wait for it. dropped is set if a move found no room there.
	inFlight *request
	queue    []*request
	dropped  bool
	solving  *solving // the solver that plays, nil if none
	motion   ui.Motion
	slow     bool // the last move took too long to show moves in motion
	places   places

	// question is asked before something is lost, nil if nothing is asked.
	question *question
	// starting is set while the next game is created.
	starting bool
	// closed is set once the user closed the result.
	closed  bool
	ended   time.Time // when the page saw the game end, zero if before it
	problem string    // what went wrong last
	notice  []string  // other news, the longest text first
	// told is the version at which the user was told that it is their turn, 0 if it is not.
	told int32
	lost bool // the server no longer has the game or the account
}

// New makes the page of a game in which the user has a seat. Its commands end with ctx.
func New(ctx context.Context, env *ui.Env, g *pb.Game, options client.GameOptions) ui.Page {
	p := &Model{seated: seated{env: env}, tasks: ui.NewTasks(ctx), options: options}
	p.open(g)
	return p
}

// open begins a game in place of the one before.
func (p *Model) open(g *pb.Game) {
	if p.leaveGame != nil {
		p.leaveGame()
	}
	*p = Model{
		seated: seated{gamestate.New(g), p.env}, tasks: p.tasks, options: p.options,
		motion: p.motion, slow: p.slow, opened: g, mode: newMode(g), keys: newKeys(p.env),
		places: places{all: p.places.all},
	}
	if p.mode != nil {
		p.keys.setMode(p.mode)
	}
	p.keys.allowUndo(p.alone())
	p.motion.Reset()
}

// Init implements ui.Page.
func (p *Model) Init() tea.Cmd {
	ctx, cancel := context.WithCancel(p.tasks.Ctx)
	p.leaveGame = cancel
	after := p.opened.GetVersion()
	stream := p.env.Server.Watch(ctx, p.opened.GetId(), ui.WatchOptions{After: &after})
	tries := 0
	if p.Over() {
		tries = 1
	}
	return tea.Batch(
		p.tasks.Next(p.opened.GetId(), stream),
		lookUp(p.tasks, p.env.Server, p.opened, tries), p.ring(),
	)
}

// Tasks implements ui.Page.
func (p *Model) Tasks() *ui.Tasks { return p.tasks }

// Update implements ui.Page.
func (p *Model) Update(msg tea.Msg) tea.Cmd {
	if ui.Late(msg, p.opened.GetId()) {
		return nil
	}
	switch msg := msg.(type) {
	case tea.KeyPressMsg:
		return p.key(msg)
	case clickMsg:
		switch {
		case p.Over() || p.question != nil:
			return nil
		case p.held() != nil:
			return p.takeBack()
		}
		return p.act(msg.act())
	case ui.UpdateMsg:
		return p.updated(msg)
	case ui.FetchedMsg:
		return p.fetched(msg)
	case ui.FrameMsg:
		return p.frame(msg)
	case answerMsg:
		return p.answered(msg)
	case solveMsg:
		return p.solveOn(msg.by)
	case placedMsg:
		return p.places.update(msg, &p.seated, p.tasks)
	case rankMsg:
		return lookUp(p.tasks, p.env.Server, p.opened, msg.tries)
	case unmarkMsg:
		if msg.version == p.Game.GetVersion() {
			p.Unmark()
		}
	case resignedMsg:
		return p.resigned(msg)
	case createdMsg:
		return p.created(msg)
	}
	return nil
}

// key handles a key.
func (p *Model) key(msg tea.KeyPressMsg) tea.Cmd {
	k := p.keys
	p.notice = nil // it answered the key before
	switch {
	case p.question != nil:
		return p.answer(msg)
	case p.solving != nil:
		p.solverKey(msg)
		return nil
	case ui.Pressed(msg, k.Back):
		return p.leave()
	case ui.Pressed(msg, k.Rules):
		return ui.Open(ui.Route{Rules: p.opened.GetVariant()})
	case ui.Pressed(msg, k.Copy):
		return p.copyGame()
	case p.starting || p.mode == nil:
		return nil
	case p.Over():
		return p.resultKey(msg)
	case p.held() != nil:
		return p.takeBack()
	case ui.Pressed(msg, k.New):
		p.question = askNew(&p.seated, p.giveUp)
		return nil
	case ui.Pressed(msg, k.Undo):
		return p.wantUndo()
	case ui.Pressed(msg, k.Restart):
		return p.wantRestart()
	}
	if name := k.solver(msg); name != "" {
		return p.wantSolver(name)
	}
	return p.act(p.mode.Key(&p.State, msg))
}

// resultKey handles a key after the end of the game.
func (p *Model) resultKey(msg tea.KeyPressMsg) tea.Cmd {
	k := p.keys
	switch {
	case ui.Pressed(msg, k.New):
		return p.create()
	case ui.Pressed(msg, k.Replay) && p.env.Now.Sub(p.ended) >= endTime:
		return ui.Open(ui.Route{Replay: p.opened.GetId()})
	case ui.Pressed(msg, k.Share):
		p.say("Copied the result.")
		return tea.SetClipboard(p.shareLine())
	case ui.Pressed(msg, k.Close):
		p.closed = !p.closed
	}
	return nil
}

// act does what a key of the game asks for.
func (p *Model) act(a Act) tea.Cmd {
	if a.Say != nil {
		p.say(a.Say...)
	}
	if a.Move == nil {
		return nil
	}
	return p.push(a.Move)
}

// say sets the news, the longest text first.
func (p *Model) say(texts ...string) { p.notice = texts }

// answer handles a key while something is asked.
func (p *Model) answer(msg tea.KeyPressMsg) tea.Cmd {
	asked := p.question
	switch {
	case ui.Pressed(msg, p.keys.Yes):
		p.question = nil
		return asked.yes()
	case ui.Pressed(msg, p.keys.No):
		p.question = nil
	}
	return nil
}

// leave closes the page, after a question if the game would be lost.
func (p *Model) leave() tea.Cmd {
	if p.env.Local == nil || p.env.Local.Resume != "" || p.Over() || p.lost {
		return ui.Back
	}
	p.question = askQuit()
	return nil
}

// fail shows what went wrong. A server that forgot the account or the game has nothing to
// resume.
func (p *Model) fail(err error) {
	p.problem = ui.Explain(err, ui.SameKey)
	p.lost = p.lost || errors.Is(err, client.ErrBadToken) || errors.Is(err, client.ErrGameNotFound)
}

// giveUp ends the user's part in the game, so that its score counts, and goes on to a new
// one.
func (p *Model) giveUp() tea.Cmd {
	if p.Over() {
		return p.create()
	}
	p.starting = true
	server, game := p.env.Server, p.opened
	return p.tasks.Do(func(ctx context.Context) tea.Msg {
		e, err := server.Resign(ctx, game)
		return resignedMsg{aboutGame: aboutGame(game.GetId()), event: e, err: err}
	})
}

// resigned goes on to a new game. A game that cannot be ended is left as it is.
func (p *Model) resigned(msg resignedMsg) tea.Cmd {
	switch {
	case msg.err == nil:
		p.Apply(msg.event)
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
func (p *Model) create() tea.Cmd {
	p.starting = true
	server, variant, options := p.env.Server, p.opened.GetVariant(), p.nextOptions(p.options)
	return p.tasks.Do(func(ctx context.Context) tea.Msg {
		g, err := server.NewGame(ctx, variant, options)
		return createdMsg{game: g, err: err}
	})
}

// created opens the new game.
func (p *Model) created(msg createdMsg) tea.Cmd {
	if msg.err == nil && p.WrongKind(msg.game.GetPosition()) {
		msg.err = client.ErrBadStream
	}
	if msg.err != nil {
		p.starting = false
		p.fail(msg.err)
		return nil
	}
	var notice []string
	if p.Over() && len(p.Game.GetSeats()) == 1 {
		notice = []string{"The game before ended with " + gamestate.Comma(p.Score()) + " points."}
	}
	p.open(msg.game)
	p.notice = notice
	return p.Init()
}
