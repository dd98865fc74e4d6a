package load

import (
	"context"
	"sync"
	"time"

	"github.com/gridstand/gridstand/client"
	pb "github.com/gridstand/gridstand/proto/gridstand/v1"
)

// table is where one game is played after the other, and where the same
// watchers stay.
type table struct {
	mu      sync.Mutex
	game    *game
	last    bool          // no other game follows
	changed chan struct{} // closed and replaced when one of the two changes
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

// close says that no other game follows.
func (t *table) close() { t.change(func() { t.last = true }) }

// next waits for a game other than the one before; nil means that there will be
// none.
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

// game is a game that is played here.
type game struct {
	id   string
	seat *client.Seat

	// What its player knows; nobody else looks before the players are done.
	seats    int32
	version  int32
	position *pb.Position
	over     bool

	mu    sync.RWMutex
	first int32           // version that the first of sent leads to
	sent  []time.Duration // when each move was sent, counted from the run's beginning
}

func newGame(g *pb.Game, seat *client.Seat) *game {
	return &game{
		id: g.GetId(), seat: seat, seats: int32(len(g.GetSeats())),
		version: g.GetVersion(), position: g.GetPosition(), over: g.GetResult() != nil,
		first: g.GetVersion() + 1,
	}
}

// send notes when the move that leads to the next version is sent.
func (g *game) send(now time.Duration) {
	g.mu.Lock()
	defer g.mu.Unlock()
	// Only where a version is not one of ours is there anything to fill.
	for int(g.version+1-g.first) > len(g.sent) {
		g.sent = append(g.sent, unknown)
	}
	g.sent = append(g.sent[:g.version+1-g.first], now)
}

// unknown is the time of a version that is not a move from here.
const unknown = time.Duration(-1)

// sentAt is when the move that led to a version was sent; false if it was none.
func (g *game) sentAt(version int32) (time.Duration, bool) {
	g.mu.RLock()
	defer g.mu.RUnlock()
	if i := int(version - g.first); i >= 0 && i < len(g.sent) && g.sent[i] != unknown {
		return g.sent[i], true
	}
	return 0, false
}
