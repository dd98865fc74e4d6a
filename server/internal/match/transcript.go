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
	// maxChunks bounds the chunks in memory without a reader. One takes some
	// 100 kB.
	maxChunks = 256
)

// chunk is a piece of a game's past that was read from the log, shared by all who
// read it: chunk n has the versions from n·chunkSize+1 on.
type chunk struct {
	reading chan struct{} // a semaphore of one, held while the chunk is read
	full    atomic.Bool   // the chunk no longer changes

	// Guarded by reading until full.
	begun  bool
	events []*Event    // only ever appended to
	tip    gamelog.Tip // after the last of events
}

// chunkKey names a chunk.
type chunkKey struct {
	match *Match
	n     int32
}

// chunks are those that were read lately, of all matches.
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

// of returns a chunk, which may be empty yet.
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

// readWithin bounds how long a piece of a game's past is waited for.
const readWithin = 5 * time.Second

// read returns the events that chunk n has after a version, and the chunk. prev
// is the chunk before, nil if it is not at hand or n is 0. There are no events if
// the log ends there.
func (m *Match) read(ctx context.Context, prev *chunk, n, after int32) ([]*Event, *chunk, error) {
	if prev == nil && n > 0 {
		var err error
		if prev, err = m.chunkBefore(ctx, n); err != nil || prev == nil {
			return nil, nil, err
		}
	}
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

// chunkBefore returns the chunk before chunk n, read with all before it that are
// needed for that; nil if the log ends before chunk n.
func (m *Match) chunkBefore(ctx context.Context, n int32) (*chunk, error) {
	var prev *chunk
	first := n - 1
	for ; first >= 0 && prev == nil; first-- {
		if c, ok := m.hub.chunks.recent.Get(chunkKey{m, first}); ok && c.full.Load() {
			prev = c
		}
	}
	if prev != nil {
		first++
	}
	for k := first + 1; k < n; k++ {
		_, c, err := m.read(ctx, prev, k, (k+1)*chunkSize-1)
		if err != nil || c == nil || !c.full.Load() {
			return nil, err
		}
		prev = c
	}
	return prev, nil
}

// extend reads what the log has of a chunk, which the caller holds.
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
	err := m.hub.log.After(ctx, m.id, c.tip, chunkSize-len(c.events), past, func(tip gamelog.Tip, e *replay.Event) {
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

// Replay calls do with every event of the game's log after the given version, in
// order, until do returns an error, which it returns, or up to the version that
// the game has in memory. The work is done piece by piece, each of them within a
// call of turn, which may have it wait for its turn. Those who read the same
// game share what was read, and each event is encoded once.
//
// Errors: those of Confirm if the log is shorter than the game was, so that
// a watcher who resumes learns why the missing events do not come.
func (m *Match) Replay(ctx context.Context, after int32, turn func(func() error) error, do func(*Event) error) error {
	version, last := m.State().Version, after
	show := func(e *Event) error {
		err := do(e)
		if err == nil {
			last = e.Version()
		}
		return err
	}
	var prev *chunk
	var at int32 // of prev
	for last < version {
		before := last
		err := turn(func() error {
			n := last / chunkSize
			if prev != nil && at != n-1 {
				prev = nil
			}
			events, c, err := m.read(ctx, prev, n, last)
			if err != nil {
				return err
			}
			prev, at = c, n
			for _, e := range events {
				if err := show(e); err != nil {
					return err
				}
			}
			return nil
		})
		if errors.Is(err, errFarBack) {
			// For the few games with such an entry nothing is shared.
			return turn(func() error {
				return m.hub.log.Replay(ctx, m.id, last, func(e *replay.Event) error { return show(newEvent(e)) })
			})
		}
		if err != nil {
			return err
		}
		if last == before {
			_, err := m.Confirm(ctx)
			return err
		}
	}
	return nil
}
