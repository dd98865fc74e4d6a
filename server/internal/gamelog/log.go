// Package gamelog stores games. A game is a log, an append-only list of entries. Each entry's
// ID contains its version and a digest of the entry and all entries before it, so that reads
// and appends detect a log that was truncated, swapped or rolled back. This package defines
// entries and digests; the engine of the store only compares IDs.
package gamelog

import (
	"context"
	"errors"
	"fmt"
	"runtime"

	"golang.org/x/sync/semaphore"

	"github.com/gridstand/gridstand/game/replay"
	"github.com/gridstand/gridstand/server/internal/store"
)

// ErrNotFound means that the game does not exist.
var ErrNotFound = errors.New("no such game")

// DamagedError means that a game's log is lost, truncated or altered.
type DamagedError struct {
	GameID string
	// Version is the last version that can be read, or 0 if none can.
	Version int32
	// Quarantined is set if the game was quarantined.
	Quarantined bool
	// Detail describes the damage for the operator.
	Detail string
}

func (e *DamagedError) Error() string {
	return fmt.Sprintf("log is damaged after version %d: %s", e.Version, e.Detail)
}

// Log reads and writes the logs of all games. It is safe for concurrent use.
type Log struct {
	// Games stores the logs.
	store.Games
	// applying has slots for pages of history that are being applied. If there are several
	// processors, half are left for moves.
	applying *semaphore.Weighted
}

// New returns a Log that uses the given store.
func New(games store.Games) *Log {
	return &Log{games, semaphore.NewWeighted(int64(max(1, runtime.GOMAXPROCS(0)/2)))}
}

// Head is the part of a game that lists show. It is read without the log.
type Head struct {
	// Exists reports whether the game exists and is not in quarantine.
	Exists bool
	// State is nil if this server cannot read the game. No entry can be applied to it,
	// because it has no seed before the game is over.
	State *replay.State
	// Watchers is the number of spectators on all servers.
	Watchers int
}

// Heads returns the heads of the given games, in the given order.
func (l *Log) Heads(ctx context.Context, gameIDs []string) ([]Head, error) {
	stored, err := l.Games.Heads(ctx, gameIDs)
	if err != nil {
		return nil, err
	}
	heads := make([]Head, len(stored))
	for i, h := range stored {
		heads[i].Exists = h.Exists && h.Last != store.Quarantined
		if !heads[i].Exists || h.Last == (store.ID{}) {
			continue
		}
		// Ignore the error: lists omit games that cannot be read, and reading the game
		// itself returns the error.
		heads[i].State, _ = decodeHead(gameIDs[i], h.Last, h.Time, h.Encoded)
		heads[i].Watchers = h.Watchers
	}
	return heads, nil
}

// Head is like Heads but reads one game.
func (l *Log) Head(ctx context.Context, gameID string) (Head, error) {
	heads, err := l.Heads(ctx, []string{gameID})
	if err != nil {
		return Head{}, err
	}
	return heads[0], nil
}

// mend replaces the head of a game, which has the ID from, with that of its log's end.
func (l *Log) mend(ctx context.Context, from store.ID, tip Tip) error {
	s := tip.State
	head, err := encodeHead(s, board(s))
	if err != nil {
		return err
	}
	return l.Games.Mend(ctx, s.ID, from, store.Head{Last: tip.ID, Time: s.UpdateTime, Encoded: head})
}
