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

// Tribolo is the screen on which a game of Tribolo is played, in one seat or in
// several of the same player. It shows only what the server acknowledged.
type Tribolo struct {
	base
	match
	keys    *triboloKeys
	server  Server
	me      string // id of the player's account
	options client.GameOptions
	ends    bool // there will be nothing to come back to

	// opened is the game as it was opened. Commands read it: it never changes.
	opened *pb.Game
	// leaveGame ends the stream of the game.
	leaveGame context.CancelFunc

	cursor pb.Cell
	hints  bool

	// acting is set while a call is under way, since actingSince.
	acting      bool
	actingSince time.Time
	// rung is the version at which the player was last told that it is his
	// turn.
	rung int32
	// question is asked before something is given up; starting is set while the
	// next game is being made.
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

// NewTribolo makes the screen of a game. Its commands end with ctx.
func NewTribolo(ctx context.Context, server Server, c PlayConfig) *Tribolo {
	t := &Tribolo{
		base: newBase(ctx, c.Clock), keys: newTriboloKeys(), server: server, me: c.Me,
		options: c.Options, ends: c.Ends,
	}
	t.address = c.Server
	t.open(c.Game)
	return t
}

// NewPlayer makes the screen on which a game is played, whichever kind it is.
func NewPlayer(ctx context.Context, server Server, c PlayConfig) Screen {
	if c.Game.GetPosition().GetTribolo() != nil {
		return NewTribolo(ctx, server, c)
	}
	return NewPlay(ctx, server, c)
}

// open begins a game in the place of the one before.
func (t *Tribolo) open(g *pb.Game) {
	if t.leaveGame != nil {
		t.leaveGame()
	}
	t.opened, t.match = g, newMatch(g)
	t.acting, t.starting, t.problem, t.notice, t.rung = false, false, "", "", 0
	t.cursor.X, t.cursor.Y = t.tribolo().GetColumns()/2, t.tribolo().GetRows()/2
	t.keys.solo(t.alone())
}

// Init implements tea.Model.
func (t *Tribolo) Init() tea.Cmd { return tea.Batch(t.start(), t.follow()) }

// follow begins to watch the game.
func (t *Tribolo) follow() tea.Cmd {
	ctx, cancel := context.WithCancel(t.tasks.ctx)
	t.leaveGame = cancel
	after := t.opened.GetVersion()
	return tea.Batch(
		next(t.tasks, t.opened.GetId(), t.server.Watch(ctx, t.opened.GetId(), &after)),
		t.changed(),
	)
}

// actedMsg brings the answer to a call: an event, or a game.
type actedMsg struct {
	gameID string
	event  *pb.Event
	game   *pb.Game
	err    error
}

// jumpMsg is a click on a cell.
type jumpMsg struct{ to *pb.Cell }

// Update implements tea.Model.
func (t *Tribolo) Update(msg tea.Msg) (tea.Model, tea.Cmd) {
	if cmd, done := t.take(msg); done {
		return t, cmd
	}
	switch msg := msg.(type) {
	case tea.KeyPressMsg:
		return t, t.key(msg)
	case jumpMsg:
		if t.held() != nil {
			return t, t.takeBack()
		}
		t.cursor.X, t.cursor.Y = msg.to.GetX(), msg.to.GetY()
		return t, t.leap()
	case openedMsg:
		return t, t.begin(msg)
	case updateMsg:
		if msg.gameID == t.opened.GetId() {
			return t, t.heard(msg)
		}
	case actedMsg:
		if msg.gameID == t.opened.GetId() {
			return t, t.acted(msg)
		}
	case fetchedMsg:
		if msg.gameID == t.opened.GetId() {
			return t, t.fetched(msg)
		}
	case resignedMsg:
		if msg.gameID == t.opened.GetId() {
			return t, t.resigned(msg)
		}
	}
	return t, nil
}

// key handles a key.
func (t *Tribolo) key(msg tea.KeyPressMsg) tea.Cmd {
	if cmd, done := t.takeKey(msg, &t.keys.commonKeys); done {
		return cmd
	}
	k := t.keys
	switch {
	case t.help:
		return nil
	case t.question != noQuestion:
		return t.answer(msg)
	case pressed(msg, k.Leave):
		return tea.Quit
	case t.held() != nil:
		return t.takeBack()
	case pressed(msg, k.Hints):
		t.hints = !t.hints
	case pressed(msg, k.Jump):
		return t.leap()
	case t.starting && (pressed(msg, k.New) || pressed(msg, k.Undo) || pressed(msg, k.Restart)):
		return nil
	case pressed(msg, k.New):
		if t.over() {
			return t.create()
		}
		t.question = askNew
	case pressed(msg, k.Undo) && !t.over():
		if t.game.GetRanked() {
			t.question = askUndo
			return nil
		}
		return t.undo(nil)
	case pressed(msg, k.Restart) && !t.over():
		t.question = askRestart
	default:
		t.move(msg)
	}
	return nil
}

// move moves the cursor.
func (t *Tribolo) move(msg tea.KeyPressMsg) {
	d, ok := t.keys.direction(msg)
	if !ok {
		return
	}
	columns, rows := t.tribolo().GetColumns(), t.tribolo().GetRows()
	switch d {
	case pb.Direction_DIRECTION_UP:
		t.cursor.Y = (t.cursor.Y + rows - 1) % rows
	case pb.Direction_DIRECTION_DOWN:
		t.cursor.Y = (t.cursor.Y + 1) % rows
	case pb.Direction_DIRECTION_LEFT:
		t.cursor.X = (t.cursor.X + columns - 1) % columns
	case pb.Direction_DIRECTION_RIGHT:
		t.cursor.X = (t.cursor.X + 1) % columns
	}
}

// answer handles a key while something is asked.
func (t *Tribolo) answer(msg tea.KeyPressMsg) tea.Cmd {
	asked := t.question
	switch {
	case pressed(msg, t.keys.Yes):
		t.question = noQuestion
		switch asked {
		case askRestart:
			first := int32(1)
			return t.undo(&first)
		case askUndo:
			return t.undo(nil)
		default:
			return t.giveUp()
		}
	case pressed(msg, t.keys.No):
		t.question = noQuestion
	}
	return nil
}

// heard takes in an update of the stream.
func (t *Tribolo) heard(msg updateMsg) tea.Cmd {
	if msg.err != nil {
		if !errors.Is(msg.err, io.EOF) {
			t.lost = true
			t.fail(msg.err)
		}
		return nil
	}
	more := next(t.tasks, msg.gameID, msg.stream)
	changed := t.update(msg.update, t.now)
	if changed && msg.update.Event.GetUndone() != nil {
		more = tea.Batch(more, fetch(t.tasks, t.server, msg.gameID)) // the seats are as they were, too
	}
	return tea.Batch(more, t.changed())
}

// changed follows a change of the game: the player is told when it is his turn.
func (t *Tribolo) changed() tea.Cmd {
	t.keys.solo(t.alone())
	if t.over() {
		t.question = noQuestion
		return nil
	}
	if !t.mine() {
		t.rung = 0
		return nil
	}
	if t.rung != 0 {
		return nil
	}
	t.rung = t.game.GetVersion()
	return tea.Raw("\a")
}

// turn is the seat to move, -1 for none.
func (m *match) turn() int {
	if p := m.game.GetPosition(); p != nil && p.Turn != nil {
		return int(p.GetTurn())
	}
	return -1
}

// own reports whether a seat is the player's.
func (t *Tribolo) own(seat *pb.Seat) bool {
	return t.me != "" && seat.GetPlayer().GetId() == t.me
}

// mine reports whether the player is to move, himself.
func (t *Tribolo) mine() bool {
	seat := t.seat(t.turn())
	return !t.over() && t.own(seat) && seat.GetStandIn() == ""
}

// held is the first of the player's seats that a stand-in holds, nil for none.
func (t *Tribolo) held() *pb.Seat {
	for _, seat := range t.game.GetSeats() {
		if t.own(seat) && seat.GetStandIn() != "" && !seat.GetResigned() && !t.over() {
			return seat
		}
	}
	return nil
}

// alone reports whether nobody else plays, so that moves can be taken back.
func (t *Tribolo) alone() bool {
	for _, seat := range t.game.GetSeats() {
		if seat.GetOpen() != nil || seat.GetPlayer() != nil && !t.own(seat) {
			return false
		}
	}
	return t.me != ""
}

// fail shows what went wrong.
func (t *Tribolo) fail(err error) {
	t.problem = plainly(err, sameKey)
	t.ends = t.ends || forgotten(err)
}
