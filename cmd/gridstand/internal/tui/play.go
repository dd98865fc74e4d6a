package tui

import (
	"context"
	"errors"
	"fmt"
	"io"
	"time"

	tea "charm.land/bubbletea/v2"

	"github.com/gridstand/gridstand/client"
	pb "github.com/gridstand/gridstand/proto/gridstand/v1"
)

// Limits and times of a game that one plays.
const (
	queueLimit  = 64                     // keys that may wait for the move under way
	markTime    = 150 * time.Millisecond // how long what changed is marked
	rankTime    = time.Minute            // from one look at the leaderboard to the next
	slowTime    = time.Second            // from when on a move under way is worth a word
	recordTries = 6                      // looks at the leaderboard for a result just made
)

// none is no direction.
const none = pb.Direction_DIRECTION_UNSPECIFIED

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
	// Clock tells the time; nil is the system's.
	Clock func() time.Time
}

// Play is the screen on which a game of 2048 is played. It shows only what the
// server acknowledged.
type Play struct {
	base
	match
	keys    *playKeys
	server  Server
	options client.GameOptions
	ends    bool // there will be nothing to come back to

	// opened is the game as it was opened. Commands read it: it never changes.
	opened *pb.Game
	// leaveGame ends the stream of the game.
	leaveGame context.CancelFunc

	// moving is the move under way since movingSince, none where it is no
	// direction; queue holds those that wait for it, dropped says that some
	// found no place there.
	moving      pb.Direction
	movingSince time.Time
	queue       []pb.Direction
	dropped     bool

	// undoing is what is to be taken back, nil for nothing.
	undoing *undoing
	// solving is the solver that plays, nil while the player does himself.
	solving *solving

	// question is what is asked before something is lost, wanted the solver that
	// it is about; starting is set while the next game is being made.
	question question
	wanted   string
	starting bool

	// day and all are the player's places, nil until they are known.
	day, all *Place
	// problem is what went wrong last, notice anything else worth a line.
	problem, notice string
}

// NewPlay makes the screen of a game. Its commands end with ctx.
func NewPlay(ctx context.Context, server Server, c PlayConfig) *Play {
	p := &Play{
		base: newBase(ctx, c.Clock), keys: newPlayKeys(), server: server,
		options: c.Options, ends: c.Ends,
	}
	p.address = c.Server
	p.open(c.Game)
	return p
}

// open begins a game in the place of the one before.
func (p *Play) open(g *pb.Game) {
	if p.leaveGame != nil {
		p.leaveGame()
	}
	p.opened, p.match = g, newMatch(g)
	p.moving, p.queue, p.dropped, p.starting = none, nil, false, false
	p.undoing, p.solving, p.question = nil, nil, noQuestion
	p.day, p.problem, p.notice = nil, "", ""
}

// The messages of a game name it: those of a game that was left are dropped.
type (
	updateMsg struct {
		gameID string
		stream Stream
		update client.Update
		err    error
	}
	movedMsg struct {
		gameID string
		event  *pb.Event
		err    error
	}
	fetchedMsg struct {
		gameID string
		game   *pb.Game
		err    error
	}
	placedMsg struct {
		gameID   string
		day, all *Place
		tries    int
		err      error
	}
	rankMsg struct {
		gameID string
		tries  int
	}
	unmarkMsg struct {
		gameID  string
		version int32
	}
	openedMsg struct {
		game *pb.Game
		err  error
	}
	resignedMsg struct {
		gameID string
		event  *pb.Event
		err    error
	}
)

// Init implements tea.Model.
func (p *Play) Init() tea.Cmd { return tea.Batch(p.start(), p.follow()) }

// follow begins to watch the game and to look at the leaderboard.
func (p *Play) follow() tea.Cmd {
	ctx, cancel := context.WithCancel(p.tasks.ctx)
	p.leaveGame = cancel
	after, tries := p.opened.GetVersion(), 0
	if p.over() {
		tries = 1
	}
	return tea.Batch(
		next(p.tasks, p.opened.GetId(), p.server.Watch(ctx, p.opened.GetId(), &after)),
		p.look(tries),
	)
}

// next waits for the next update of a stream.
func next(t *tasks, gameID string, s Stream) tea.Cmd {
	return t.do(func(context.Context) tea.Msg {
		u, err := s.Next()
		return updateMsg{gameID: gameID, stream: s, update: u, err: err}
	})
}

// fetch asks for a game as it is now.
func fetch(t *tasks, s Server, gameID string) tea.Cmd {
	return t.do(func(ctx context.Context) tea.Msg {
		g, err := s.Game(ctx, gameID)
		return fetchedMsg{gameID: gameID, game: g, err: err}
	})
}

// Update implements tea.Model.
func (p *Play) Update(msg tea.Msg) (tea.Model, tea.Cmd) {
	if cmd, done := p.take(msg); done {
		return p, cmd
	}
	switch msg := msg.(type) {
	case tea.KeyPressMsg:
		return p, p.key(msg)
	case openedMsg:
		return p, p.begin(msg)
	case updateMsg:
		if msg.gameID == p.opened.GetId() {
			return p, p.heard(msg)
		}
	case movedMsg:
		if msg.gameID == p.opened.GetId() {
			return p, p.moved(msg)
		}
	case fetchedMsg:
		if msg.gameID == p.opened.GetId() {
			return p, p.fetched(msg)
		}
	case actedMsg:
		if msg.gameID == p.opened.GetId() {
			return p, p.undone(msg)
		}
	case solvedMsg:
		return p, p.solved(msg)
	case solveMsg:
		if msg.by == p.solving {
			return p, p.solveOn()
		}
	case resignedMsg:
		if msg.gameID == p.opened.GetId() {
			return p, p.resigned(msg)
		}
	case placedMsg:
		if msg.gameID == p.opened.GetId() {
			return p, p.placed(msg)
		}
	case rankMsg:
		if msg.gameID == p.opened.GetId() {
			return p, p.look(msg.tries)
		}
	case unmarkMsg:
		if msg.gameID == p.opened.GetId() && msg.version == p.game.GetVersion() {
			p.marks = noMarks
		}
	}
	return p, nil
}

// key handles a key.
func (p *Play) key(msg tea.KeyPressMsg) tea.Cmd {
	if cmd, done := p.takeKey(msg, &p.keys.commonKeys); done {
		return cmd
	}
	if p.help {
		return nil
	}
	if p.question != noQuestion {
		return p.answer(msg)
	}
	if p.solving != nil {
		p.solverTake(msg)
		return nil
	}
	if name, ok := p.keys.solverKey(msg); ok {
		return p.wantSolver(name)
	}
	switch {
	case pressed(msg, p.keys.Leave):
		return tea.Quit
	case pressed(msg, p.keys.Undo):
		return p.wantUndo()
	case pressed(msg, p.keys.Restart) && !p.over() && !p.starting:
		p.question = askRestart
		return nil
	case pressed(msg, p.keys.New):
		return p.another()
	}
	if d, ok := p.keys.direction(msg); ok {
		return p.push(d)
	}
	return nil
}

// answer handles a key while something is asked.
func (p *Play) answer(msg tea.KeyPressMsg) tea.Cmd {
	asked := p.question
	switch {
	case pressed(msg, p.keys.Yes):
		p.question = noQuestion
	case pressed(msg, p.keys.No):
		p.question = noQuestion
		return nil
	default:
		return nil
	}
	switch {
	case asked == askNew:
		return p.giveUp()
	case p.over():
		return nil
	case asked == askUndo:
		return p.undo(nil)
	case asked == askSolver:
		return p.solve(p.wanted)
	case p.game.GetVersion() <= 1:
		p.notice = "This is the beginning."
		return nil
	default:
		first := int32(1)
		return p.undo(&first)
	}
}

// heard takes in an update of the stream.
func (p *Play) heard(msg updateMsg) tea.Cmd {
	if msg.err != nil {
		if !errors.Is(msg.err, io.EOF) {
			p.lost = true
			p.fail(msg.err)
		}
		return nil
	}
	changed := p.update(msg.update, p.now)
	return tea.Batch(next(p.tasks, msg.gameID, msg.stream), p.changed(changed))
}

// changed follows a change of the board: its marks go after a moment, and the
// end of a game is looked up on the leaderboard.
func (p *Play) changed(changed bool) tea.Cmd {
	if !changed {
		return nil
	}
	var cmds []tea.Cmd
	if p.theme.coloured() {
		cmds = append(cmds, p.tasks.after(markTime, unmarkMsg{gameID: p.opened.GetId(), version: p.game.GetVersion()}))
	}
	if p.over() {
		p.queue, p.question, p.day, p.all = nil, noQuestion, nil, nil
		p.undoing, p.solving = nil, nil
		cmds = append(cmds, p.look(1))
	}
	return tea.Batch(cmds...)
}

// fail shows what went wrong. A server that forgot the player or the game, as
// one that kept them in its memory does, has nothing to come back to.
func (p *Play) fail(err error) {
	p.problem = plainly(err, sameKey)
	p.ends = p.ends || forgotten(err)
}

// forgotten reports whether a server that knew the player and the game does not
// any more.
func forgotten(err error) bool {
	return errors.Is(err, client.ErrBadToken) || errors.Is(err, client.ErrGameNotFound)
}

// sameKey is what to do where a key came to nothing.
const sameKey = "Press the same key to retry, q to quit."

// plainly says what went wrong, and where no server is reached what is to be done.
func plainly(err error, todo string) string {
	switch {
	case errors.Is(err, client.ErrUnreachable):
		return fmt.Sprintf("The server %s. %s", client.CauseOf(err), todo)
	case errors.Is(err, client.ErrBadToken):
		return "The server no longer has your account and games. Quit and start again."
	case errors.Is(err, client.ErrGameNotFound):
		return "The server no longer has this game."
	default:
		return err.Error()
	}
}
