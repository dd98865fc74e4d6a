package match

import (
	"context"
	"errors"
	"iter"
	"sync/atomic"
	"time"

	lru "github.com/hashicorp/golang-lru/v2"

	"github.com/gridstand/gridstand/game/replay"
	"github.com/gridstand/gridstand/server/internal/gamelog"
)

const (
	// chunkSize is the number of events in a full chunk.
	chunkSize = 128
	// maxChunks limits the number of cached chunks. A chunk takes about 100 kB.
	maxChunks = 256
)

// chunk is a part of a game's history that was read from the log. All readers share it. Chunk
// n begins with version n·chunkSize+1.
type chunk struct {
	reading chan struct{} // a semaphore of one, held while the chunk is read
	full    atomic.Bool   // set once the chunk no longer changes

	// The fields below are guarded by reading until full is set.
	begun  bool
	events []*Event    // append-only
	tip    gamelog.Tip // the tip after the last of events
}

// chunkKey identifies a chunk. It contains the Match rather than the game's ID because a
// Match only ever follows one history. After a rollback of the store, the game may continue
// with different entries, and a match that was loaded later could not detect that from a
// chunk.
type chunkKey struct {
	match *Match
	n     int32
}

func newChunks() *lru.Cache[chunkKey, *chunk] {
	chunks, _ := lru.New[chunkKey, *chunk](maxChunks) // fails only for a size below 1
	return chunks
}

// chunk returns chunk n from the cache. If it is not cached, chunk adds an empty chunk and
// returns it.
func (m *Match) chunk(n int32) *chunk {
	key := chunkKey{m, n}
	if found, ok := m.hub.chunks.Get(key); ok {
		return found
	}
	fresh := &chunk{reading: make(chan struct{}, 1)}
	if found, ok, _ := m.hub.chunks.PeekOrAdd(key, fresh); ok {
		return found
	}
	return fresh
}

// errFarBack means that an entry reverts the game to a state before the previous chunk.
var errFarBack = errors.New("a state before the previous chunk is needed")

// readWithin limits the time to read a chunk. It is shorter than the time for which a replay
// waits for its turn, so that replays of other games get their turn even if the part of the
// store that holds this game does not answer.
const readWithin = 3 * time.Second

// readChunk returns chunk n and its events after the given version. prev is the preceding
// chunk, or nil for the first. There are no events if the log ends at that version.
func (m *Match) readChunk(ctx context.Context, prev *chunk, n, after int32, count Count) ([]*Event, *chunk, error) {
	c := m.chunk(n)
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
			missing := int(m.State().Version - c.tip.ID.Version)
			if err := count(min(missing, chunkSize-len(c.events))); err != nil {
				return nil, nil, err
			}
			if err := m.extend(ctx, prev, c); err != nil {
				return nil, nil, err
			}
		}
	}
	known := max(0, int(after)-int(n)*chunkSize)
	return c.events[min(known, len(c.events)):], c, nil
}

// extend reads the rest of a chunk from the log. The caller holds c.reading.
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
		// Reuse events that are in memory, so that they are encoded once for all readers.
		shared := m.ring.at(e.State.Version)
		if shared == nil {
			shared = &Event{Event: e}
		}
		c.events, c.tip = append(c.events, shared), tip
	})
	c.full.Store(len(c.events) == chunkSize)
	return err
}

// nearestChunk returns the last full chunk in memory before chunk n and the number of the
// chunk that follows it. If there is no such chunk, it returns nil and 0.
func (m *Match) nearestChunk(n int32) (*chunk, int32) {
	for ; n > 0; n-- {
		if c, ok := m.hub.chunks.Get(chunkKey{m, n - 1}); ok && c.full.Load() {
			return c, n
		}
	}
	return nil, 0
}

// Turn waits for the caller's turn to read and send a chunk of a game's history. It first
// calls read, which takes a few seconds at most, and then send, which may wait for the
// client.
type Turn func(read, send func() error) error

// Count counts events that are about to be read from the log. If it returns an error, they are
// not read.
type Count func(events int) error

// Bounds bounds what a replay costs the server.
type Bounds struct {
	Turn  Turn
	Count Count
	// Admit is called before a replay of the whole log, for a game with an undo far back. Its events
	// are not counted.
	Admit Admit
}

// Replay calls do with every event of the game's log after the given version, in order, up to
// the version that the game has in memory. If do returns an error, Replay stops and returns
// it. It reads one chunk per turn, including any earlier chunks that it needs to compute the
// first state. Readers of the same game share chunks, and each event is encoded once. It counts
// the events that it reads from the log instead of memory.
//
// If the log is shorter than the game in memory, Replay returns the error from Confirm, so that
// a watcher that resumes learns why it gets no more events.
func (m *Match) Replay(ctx context.Context, after int32, bounds Bounds, do func(*Event) error) error {
	version, last := m.State().Version, after
	prev, n := m.nearestChunk(after / chunkSize)
	for last < version {
		before := last
		var events []*Event
		var c *chunk
		err := bounds.Turn(func() (err error) {
			events, c, err = m.readChunk(ctx, prev, n, last, bounds.Count)
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
			return m.replayAlone(ctx, last, bounds, do)
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

// replayAlone is Replay for the few games with an entry that reverts the game far back. It
// replays the log from the start without sharing chunks.
func (m *Match) replayAlone(ctx context.Context, after int32, bounds Bounds, do func(*Event) error) error {
	done, err := bounds.Admit(ctx, m.State().Version)
	if err != nil {
		return err
	}
	defer done()
	reverts := m.hub.Log.FindReverts(ctx, m.id)
	ctx, cancel := context.WithCancelCause(ctx)
	defer cancel(nil)
	var ended error
	next, stop := iter.Pull(func(yield func(*replay.Event) bool) {
		ended = m.hub.Log.ReplayReverted(ctx, m.id, reverts, func(e *replay.Event) error {
			if !yield(e) {
				return context.Canceled
			}
			return nil
		})
	})
	defer stop()
	for more := true; more; {
		var events []*Event
		err := bounds.Turn(func() error {
			late := time.AfterFunc(readWithin, func() { cancel(context.DeadlineExceeded) })
			defer late.Stop()
			for range chunkSize {
				var e *replay.Event
				if e, more = next(); !more {
					break
				}
				if e.State.Version > after {
					events = append(events, &Event{Event: e})
				}
			}
			return context.Cause(ctx)
		}, func() error {
			for _, e := range events {
				if err := do(e); err != nil {
					return err
				}
			}
			return nil
		})
		if err != nil {
			return err
		}
	}
	return ended
}
