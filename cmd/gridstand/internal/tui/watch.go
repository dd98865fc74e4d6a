package tui

import (
	"context"
	"errors"
	"io"
	"time"

	tea "charm.land/bubbletea/v2"
)

// WatchConfig says what is watched.
type WatchConfig struct {
	// GameID is the whole id of the game. Empty means TV: one live game after
	// the other, chosen by what is worth a look.
	GameID string
	// Server that commands have to name; empty where they need not.
	Server string
	// Clock tells the time; nil is the system's.
	Clock func() time.Time
}

// Watch is the screen on which a game of any kind is watched.
type Watch struct {
	base
	match
	keys   *watchKeys
	server Server
	// gameID is the game on the screen, empty while there is none.
	gameID string
	// leaveGame ends its stream.
	leaveGame context.CancelFunc
	past      past
	// tv chooses the games, nil where the user did.
	tv      *tv
	problem string
}

// NewWatch makes the screen. Its commands end with ctx.
func NewWatch(ctx context.Context, server Server, c WatchConfig) *Watch {
	w := &Watch{
		base: newBase(ctx, c.Clock), match: newMatch(nil), server: server,
		gameID: c.GameID, keys: newWatchKeys(c.GameID == ""),
	}
	w.address = c.Server
	if c.GameID == "" {
		w.tv = &tv{}
	}
	return w
}

// Init implements tea.Model.
func (w *Watch) Init() tea.Cmd {
	if w.tv != nil {
		return tea.Batch(w.start(), w.find())
	}
	return tea.Batch(w.start(), w.follow())
}

// follow begins to watch the game.
func (w *Watch) follow() tea.Cmd {
	ctx, cancel := context.WithCancel(w.tasks.ctx)
	w.leaveGame = cancel
	return next(w.tasks, w.gameID, w.server.Watch(ctx, w.gameID, nil))
}

// Update implements tea.Model.
func (w *Watch) Update(msg tea.Msg) (tea.Model, tea.Cmd) {
	if cmd, done := w.take(msg); done {
		return w, cmd
	}
	if isLate(msg, w.gameID) {
		return w, nil
	}
	switch msg := msg.(type) {
	case tea.KeyPressMsg:
		return w, w.key(msg)
	case updateMsg:
		return w, w.heard(msg)
	case unmarkMsg:
		if msg.version == w.game.GetVersion() {
			w.marks = noMarks
		}
	case foundMsg:
		return w, w.found(msg)
	case pastMsg:
		return w, w.loaded(msg)
	case fetchedMsg:
		if msg.err == nil {
			w.replace(msg.game)
		}
	case findMsg:
		if w.tv != nil && msg.looks == w.tv.looks && w.past.at == 0 {
			return w, w.find()
		}
	}
	return w, nil
}

// key handles a key.
func (w *Watch) key(msg tea.KeyPressMsg) tea.Cmd {
	if cmd, done := w.takeKey(msg, &w.keys.commonKeys); done {
		return cmd
	}
	switch {
	case w.help:
		return nil
	case pressed(msg, w.keys.Leave):
		return tea.Quit
	case pressed(msg, w.keys.Next):
		return w.find()
	case pressed(msg, w.keys.Back):
		return w.step(-1)
	case pressed(msg, w.keys.Forward):
		return w.step(1)
	case pressed(msg, w.keys.Pause):
		return w.pause()
	case pressed(msg, w.keys.Live):
		return w.live()
	}
	return nil
}

// heard takes in an update of the stream.
func (w *Watch) heard(msg updateMsg) tea.Cmd {
	if msg.err != nil {
		if !errors.Is(msg.err, io.EOF) {
			w.lost, w.problem = true, plainly(msg.err, sameKey)
		}
		if w.tv != nil {
			return w.findAfter(resultTime)
		}
		return nil
	}
	more := next(w.tasks, msg.gameID, msg.stream)
	if !w.update(msg.update, w.now) {
		return more
	}
	w.past.remember(&w.match)
	if msg.update.Event.GetUndone() != nil && len(w.game.GetSeats()) > 1 {
		more = tea.Batch(more, fetch(w.tasks, w.server, msg.gameID)) // the seats are as they were, too
	}
	if !w.theme.coloured() {
		return more
	}
	return tea.Batch(more, w.tasks.after(markTime, unmarkMsg{gameID: w.gameID, version: w.game.GetVersion()}))
}
