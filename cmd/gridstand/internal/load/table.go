package load

import (
	"context"
	"sync"
	"time"

	"github.com/gridstand/gridstand/client"
)

// table has one game after the other, with the same watchers.
type table struct {
	mu      sync.Mutex
	game    *game
	last    bool          // no other game follows
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

// close marks that no other game follows.
func (t *table) close() { t.change(func() { t.last = true }) }

// next waits for a game other than before; nil means that none follows.
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

// game is a game of this run.
type game struct {
	id   string
	seat *client.Seat

	// What its player knows; only the player reads it until the players are done.
	known client.Game
	lost  bool // it cannot be read from the server any longer

	mu    sync.RWMutex
	first int32           // version that the first of sent leads to
	sent  []time.Duration // when each move was sent, counted from the run's beginning
}

func newGame(g client.Game, seat *client.Seat) *game {
	return &game{id: g.GetId(), seat: seat, known: g, first: g.GetVersion() + 1}
}

func (g *game) over() bool { return g.lost || g.known.Over() }

// send notes when the move that leads to the next version is sent.
func (g *game) send(now time.Duration) {
	g.mu.Lock()
	defer g.mu.Unlock()
	index := int(g.known.GetVersion() + 1 - g.first)
	// Versions in between are missing only if they are not moves of this run.
	for index > len(g.sent) {
		g.sent = append(g.sent, unknown)
	}
	g.sent = append(g.sent[:index], now)
}

// unknown is the time of a version that this player did not make.
const unknown = time.Duration(-1)

// sentAt is when the move that led to a version was sent; false if unknown.
func (g *game) sentAt(version int32) (time.Duration, bool) {
	g.mu.RLock()
	defer g.mu.RUnlock()
	if i := int(version - g.first); i >= 0 && i < len(g.sent) && g.sent[i] != unknown {
		return g.sent[i], true
	}
	return 0, false
}
