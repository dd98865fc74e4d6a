package match

import (
	"context"
	"errors"
	"sync/atomic"
	"time"

	lru "github.com/hashicorp/golang-lru/v2"

	"github.com/gridstand/gridstand/game/replay"
	"github.com/gridstand/gridstand/server/internal/gamelog"
)

const (
	// chunkSize is how many events a chunk has.
	chunkSize = 128
	// maxChunks bounds the cache of chunks. A chunk takes some 100 kB.
	maxChunks = 256
)

// chunk is a part of a game's past that was read from the log, shared by all its
// readers: chunk n has the versions from n·chunkSize+1 on.
type chunk struct {
	reading chan struct{} // a semaphore of one, held while the chunk is read
	full    atomic.Bool   // the chunk no longer changes

	// Guarded by reading until full.
	begun  bool
	events []*Event    // only ever appended to
	tip    gamelog.Tip // after the last of events
}

// chunkKey names a chunk. The Match stands for the history that the chunk is part
// of: its tip moves along one only. A game's ID does not: after a rollback of the store
// the game may go on with other entries, and a chunk holds nothing by which a match
// that was loaded later could tell them apart.
type chunkKey struct {
	match *Match
	n     int32
}

// chunks is a cache of the chunks of all matches that were read last.
type chunks struct {
	recent *lru.Cache[chunkKey, *chunk]
}

func newChunks() chunks {
	recent, err := lru.New[chunkKey, *chunk](maxChunks)
	if err != nil {
		panic(err) // only for a size below 1
	}
	return chunks{recent}
}

// of returns a chunk, an empty one if it is not in the cache.
func (c chunks) of(m *Match, n int32) *chunk {
	key := chunkKey{m, n}
	if found, ok := c.recent.Get(key); ok {
		return found
	}
	fresh := &chunk{reading: make(chan struct{}, 1)}
	if found, ok, _ := c.recent.PeekOrAdd(key, fresh); ok {
		return found
	}
	return fresh
}

// errFarBack means that an entry goes back to a state before the previous chunk.
var errFarBack = errors.New("a state before the previous chunk is needed")

// readWithin bounds how long a chunk is waited for: less than a replay waits for its
// turn, so that one of another game gets it if this game's store does not answer.
const readWithin = 3 * time.Second

// readChunk returns the events that chunk n has after a version, and the chunk. prev
// is the chunk before, nil for none. There are no events if the log ends there.
func (m *Match) readChunk(ctx context.Context, prev *chunk, n, after int32) ([]*Event, *chunk, error) {
	c := m.hub.chunks.of(m, n)
	if !c.full.Load() {
		ctx, cancel := context.WithTimeout(ctx, readWithin)
		defer cancel()
		select {
		case c.reading <- struct{}{}:
			defer func() { <-c.reading }()
		case <-ctx.Done():
			return nil, nil, ctx.Err()
		}
		if !c.begun {
			c.begun, c.tip = true, gamelog.Tip{ID: gamelog.Genesis(m.id)}
			if prev != nil {
				c.tip = prev.tip
			}
		}
		if !c.full.Load() && c.tip.ID.Version <= after {
			if err := m.extend(ctx, prev, c); err != nil {
				return nil, nil, err
			}
		}
	}
	known := max(0, int(after)-int(n)*chunkSize)
	return c.events[min(known, len(c.events)):], c, nil
}

// extend reads the rest of a chunk from the log. The caller holds the chunk's
// reading.
func (m *Match) extend(ctx context.Context, prev, c *chunk) error {
	past := func(version int32) (*replay.State, error) {
		for _, each := range []*chunk{c, prev} {
			if each == nil || len(each.events) == 0 {
				continue
			}
			if n := version - each.events[0].Version(); n >= 0 && int(n) < len(each.events) {
				return each.events[n].State, nil
			}
		}
		return nil, errFarBack
	}
	err := m.hub.Log.After(ctx, m.id, c.tip, chunkSize-len(c.events), past, func(tip gamelog.Tip, e *replay.Event) {
		// Events in memory are shared, encoded once for all readers.
		shared := m.ring.at(e.State.Version)
		if shared == nil {
			shared = newEvent(e)
		}
		c.events, c.tip = append(c.events, shared), tip
	})
	c.full.Store(len(c.events) == chunkSize)
	return err
}

// nearestChunk returns the last full chunk in memory before chunk n, nil for none,
// and the number of the chunk that follows it.
func (m *Match) nearestChunk(n int32) (*chunk, int32) {
	for ; n > 0; n-- {
		if c, ok := m.hub.chunks.recent.Get(chunkKey{m, n - 1}); ok && c.full.Load() {
			return c, n
		}
	}
	return nil, 0
}

// Turn has a chunk of a game's past read and sent when it is the caller's turn: first
// read, which takes no longer than a few seconds, then send, which may wait for the
// client.
type Turn func(read, send func() error) error

// Replay calls do with every event of the game's log after the given version, in
// order, until do returns an error, which it returns, or up to the version that
// the game has in memory. It reads one chunk in each turn, also of those before the
// version that are needed for it. Readers of the same game share what was read,
// and each event is encoded once.
//
// Errors: those of Confirm if the log is shorter than the game was, so that
// a watcher that resumes learns why it gets no more events.
func (m *Match) Replay(ctx context.Context, after int32, turn Turn, do func(*Event) error) error {
	version, last := m.State().Version, after
	prev, n := m.nearestChunk(after / chunkSize)
	for last < version {
		before := last
		var events []*Event
		var c *chunk
		err := turn(func() (err error) {
			events, c, err = m.readChunk(ctx, prev, n, last)
			return err
		}, func() error {
			for _, e := range events {
				if err := do(e); err != nil {
					return err
				}
				last = e.Version()
			}
			return nil
		})
		switch {
		case errors.Is(err, errFarBack):
			// Nothing is shared of the few games with such an entry.
			return turn(func() error { return nil }, func() error {
				return m.hub.Log.Replay(ctx, m.id, last, func(e *replay.Event) error { return do(newEvent(e)) })
			})
		case err != nil:
			return err
		case c.full.Load() && last >= (n+1)*chunkSize:
			prev, n = c, n+1
		case last == before:
			_, err := m.Confirm(ctx)
			return err
		}
	}
	return nil
}
