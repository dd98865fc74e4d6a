package tui

import (
	"context"
	"errors"
	"fmt"
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

// Play is the screen on which a game of 2048 is played. It shows only what the
// server acknowledged.
type Play struct {
	playing
	keys *playKeys

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

	// wanted is the solver that the question is about.
	wanted string

	// day and all are the player's places, nil until they are known.
	day, all *Place
}

// NewPlay makes the screen of a game. Its commands end with ctx.
func NewPlay(ctx context.Context, server Server, c PlayConfig) *Play {
	p := &Play{playing: newPlaying(ctx, server, c), keys: newPlayKeys()}
	p.nextOptions = func() client.GameOptions { return c.Options }
	p.open(c.Game)
	return p
}

// open begins a game in the place of the one before.
func (p *Play) open(g *pb.Game) {
	p.playing.open(g)
	p.moving, p.queue, p.dropped = none, nil, false
	p.undoing, p.solving, p.day = nil, nil, nil
}

// The messages of a game.
type (
	updateMsg struct {
		gameID string
		stream Stream
		update client.Update
		err    error
	}
	// reply is the answer to a call: an event, a game, or an error.
	reply struct {
		gameID string
		event  *pb.Event
		game   *pb.Game
		err    error
	}
	movedMsg    reply
	fetchedMsg  reply
	resignedMsg reply
	actedMsg    reply // to any other call
	placedMsg   struct {
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
)

// ofGame is a message about a game. Screens drop it after they left that game.
type ofGame interface{ about() (gameID string) }

func (m updateMsg) about() string   { return m.gameID }
func (m movedMsg) about() string    { return m.gameID }
func (m fetchedMsg) about() string  { return m.gameID }
func (m placedMsg) about() string   { return m.gameID }
func (m rankMsg) about() string     { return m.gameID }
func (m unmarkMsg) about() string   { return m.gameID }
func (m resignedMsg) about() string { return m.gameID }
func (m actedMsg) about() string    { return m.gameID }

// isLate reports whether a message is about another game than the given one.
func isLate(msg tea.Msg, gameID string) bool {
	m, ok := msg.(ofGame)
	return ok && m.about() != gameID
}

// Init implements tea.Model.
func (p *Play) Init() tea.Cmd { return tea.Batch(p.start(), p.follow()) }

// follow begins to watch the game and to look at the leaderboard.
func (p *Play) follow() tea.Cmd {
	tries := 0
	if p.over() {
		tries = 1
	}
	return tea.Batch(p.watch(), p.look(tries))
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
	if isLate(msg, p.opened.GetId()) {
		return p, nil
	}
	switch msg := msg.(type) {
	case tea.KeyPressMsg:
		return p, p.key(msg)
	case openedMsg:
		return p, p.begin(msg)
	case updateMsg:
		return p, p.heard(msg)
	case movedMsg:
		return p, p.moved(msg)
	case fetchedMsg:
		return p, p.fetched(msg)
	case actedMsg:
		return p, p.undone(msg)
	case solvedMsg:
		return p, p.solved(msg)
	case solveMsg:
		if msg.by == p.solving {
			return p, p.solveOn()
		}
	case resignedMsg:
		return p, p.resigned(msg)
	case placedMsg:
		return p, p.placed(msg)
	case rankMsg:
		return p, p.look(msg.tries)
	case unmarkMsg:
		if msg.version == p.game.GetVersion() {
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

// another begins a new game, after a question when one is running.
func (p *Play) another() tea.Cmd {
	switch {
	case p.starting:
		return nil
	case p.over():
		return p.create()
	default:
		p.question = askNew
		return nil
	}
}

// begin shows the new game.
func (p *Play) begin(msg openedMsg) tea.Cmd {
	if !p.created(msg) {
		return nil
	}
	var notice string
	if p.over() {
		notice = "The game before ended with " + comma(p.score()) + " points."
	}
	p.open(msg.game)
	p.notice = notice
	return p.follow()
}

// answer handles a key while something is asked.
func (p *Play) answer(msg tea.KeyPressMsg) tea.Cmd {
	switch asked := p.agreed(msg, p.keys); {
	case asked == noQuestion:
		return nil
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
		p.streamEnded(msg.err)
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
