// Package gamelog keeps games. A game is a log, an append-only list of entries. Each
// entry's ID holds its version and a digest of all entries before, so that reads and
// appends notice a log that was cut, swapped or rolled back. The engine of the store
// compares IDs; what an entry and a digest are stands here.
package gamelog

import (
	"context"
	"errors"
	"fmt"

	"github.com/gridstand/gridstand/game/replay"
	"github.com/gridstand/gridstand/server/internal/store"
)

// ErrNotFound means there is no such game.
var ErrNotFound = errors.New("no such game")

// DamagedError says that a game's log is lost, cut or altered.
type DamagedError struct {
	GameID string
	// Version is the last one that can be read, 0 for none.
	Version int32
	// Detail says what is wrong, for the operator.
	Detail string
}

func (e *DamagedError) Error() string {
	return fmt.Sprintf("log is damaged after version %d: %s", e.Version, e.Detail)
}

// Log reads and writes the logs of all games. It is safe for concurrent use.
type Log struct {
	// Games are the logs as they are stored.
	store.Games
}

// New makes a Log.
func New(games store.Games) *Log { return &Log{games} }

// Head is what lists show of a game, read without its log.
type Head struct {
	// Exists says that there is such a game.
	Exists bool
	// State is nil for a game that this server cannot read. No entry can be applied
	// to it: it has no seed before the game is over.
	State *replay.State
	// Watchers on all servers.
	Watchers int
}

// Heads returns the heads of the given games, in their order.
func (l *Log) Heads(ctx context.Context, gameIDs []string) ([]Head, error) {
	stored, err := l.Games.Heads(ctx, gameIDs)
	if err != nil {
		return nil, err
	}
	heads := make([]Head, len(stored))
	for i, h := range stored {
		heads[i].Exists = h.Exists
		if h.Last == (store.ID{}) || h.Last == store.Quarantined {
			continue
		}
		// Lists leave out a game that cannot be read; reading the game itself returns
		// the error.
		heads[i].State, _ = decodeHead(gameIDs[i], h.Last, h.Time, h.Encoded)
		heads[i].Watchers = h.Watchers
	}
	return heads, nil
}

// Mend writes the head of a log that it fell behind.
func (l *Log) Mend(ctx context.Context, tip Tip) error {
	s := tip.State
	head, err := encodeHead(s, board(s))
	if err != nil {
		return err
	}
	return l.Games.Mend(ctx, s.ID, tip.ID, s.UpdateTime, head)
}
