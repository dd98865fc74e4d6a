package tui

import (
	"context"
	"time"

	tea "charm.land/bubbletea/v2"

	"github.com/gridstand/gridstand/client"
	pb "github.com/gridstand/gridstand/proto/gridstand/v1"
)

// Tribolo is the screen on which a game of Tribolo is played, in one seat or in
// several of the same player. It shows only what the server acknowledged.
type Tribolo struct {
	playing
	keys *triboloKeys
	me   string // id of the player's account

	cursor pb.Cell
	hints  bool

	// acting is set while a call is under way, since actingSince.
	acting      bool
	actingSince time.Time
	// rung is the version at which the player was last told that it is his
	// turn.
	rung int32
}

// NewTribolo makes the screen of a game. Its commands end with ctx.
func NewTribolo(ctx context.Context, server Server, c PlayConfig) *Tribolo {
	t := &Tribolo{playing: newPlaying(ctx, server, c), keys: newTriboloKeys(), me: c.Me}
	t.nextOptions = func() client.GameOptions { return t.sameSeats(c.Options) }
	t.open(c.Game)
	return t
}

// open begins a game in the place of the one before.
func (t *Tribolo) open(g *pb.Game) {
	t.playing.open(g)
	t.acting, t.rung = false, 0
	t.cursor.X, t.cursor.Y = t.tribolo().GetColumns()/2, t.tribolo().GetRows()/2
	t.keys.solo(t.alone())
}

// Init implements tea.Model.
func (t *Tribolo) Init() tea.Cmd { return tea.Batch(t.start(), t.follow()) }

// follow begins to watch the game.
func (t *Tribolo) follow() tea.Cmd { return tea.Batch(t.watch(), t.changed()) }

// jumpMsg is a click on a cell.
type jumpMsg struct{ to *pb.Cell }

// Update implements tea.Model.
func (t *Tribolo) Update(msg tea.Msg) (tea.Model, tea.Cmd) {
	if cmd, done := t.take(msg); done {
		return t, cmd
	}
	if isLate(msg, t.opened.GetId()) {
		return t, nil
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
		return t, t.heard(msg)
	case actedMsg:
		return t, t.acted(msg)
	case fetchedMsg:
		return t, t.fetched(msg)
	case resignedMsg:
		return t, t.resigned(msg)
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
	switch t.agreed(msg, t.keys.playKeys) {
	case noQuestion:
		return nil
	case askRestart:
		first := int32(1)
		return t.undo(&first)
	case askUndo:
		return t.undo(nil)
	default:
		return t.giveUp()
	}
}

// heard takes in an update of the stream.
func (t *Tribolo) heard(msg updateMsg) tea.Cmd {
	if msg.err != nil {
		t.streamEnded(msg.err)
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
