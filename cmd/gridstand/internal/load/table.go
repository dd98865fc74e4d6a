package load

import (
	"context"
	"sync"
	"time"

	"github.com/gridstand/gridstand/client"
)

// table is a sequence of games with the same watchers.
type table struct {
	mu      sync.Mutex
	game    *game
	last    bool          // whether this is the last game
	changed chan struct{} // closed and replaced when game or last changes
}

func newTable() *table { return &table{changed: make(chan struct{})} }

func (t *table) change(edit func()) {
	t.mu.Lock()
	defer t.mu.Unlock()
	edit()
	close(t.changed)
	t.changed = make(chan struct{})
}

// begin puts a game on the table.
func (t *table) begin(g *game) { t.change(func() { t.game = g }) }

// close marks the current game as the last one.
func (t *table) close() { t.change(func() { t.last = true }) }

// next waits for the game after the given one. It returns nil if that was the last game, or
// if ctx is done.
func (t *table) next(ctx context.Context, before *game) *game {
	for {
		t.mu.Lock()
		g, last, changed := t.game, t.last, t.changed
		t.mu.Unlock()
		switch {
		case ctx.Err() != nil:
			return nil
		case g != nil && g != before:
			return g
		case last:
			return nil
		}
		select {
		case <-changed:
		case <-ctx.Done():
		}
	}
}

// game is one game of the run.
type game struct {
	id   string
	seat *client.Seat

	// known is the state of the game that its player has seen. Only the player accesses it
	// until all players are done.
	known client.Game
	lost  bool // the server can no longer return it

	mu    sync.RWMutex
	first int32           // version created by the first move in sent
	sent  []time.Duration // when each move was sent, as the time since the start of the run
}

func newGame(g client.Game, seat *client.Seat) *game {
	return &game{id: g.GetId(), seat: seat, known: g, first: g.GetVersion() + 1}
}

func (g *game) over() bool { return g.lost || g.known.Over() }

// send records now as the time when the move that creates the next version is sent.
func (g *game) send(now time.Duration) {
	g.mu.Lock()
	defer g.mu.Unlock()
	index := int(g.known.GetVersion() + 1 - g.first)
	// Skip versions that were not created by a move of this run.
	for index > len(g.sent) {
		g.sent = append(g.sent, unknown)
	}
	g.sent = append(g.sent[:index], now)
}

// unknown is recorded in place of a time for versions that were not created by this
// player's moves.
const unknown = time.Duration(-1)

// sentAt returns when the move that created the given version was sent, or false if that is
// unknown.
func (g *game) sentAt(version int32) (time.Duration, bool) {
	g.mu.RLock()
	defer g.mu.RUnlock()
	if i := int(version - g.first); i >= 0 && i < len(g.sent) && g.sent[i] != unknown {
		return g.sent[i], true
	}
	return 0, false
}
