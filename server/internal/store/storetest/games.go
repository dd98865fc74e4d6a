package storetest

import (
	"fmt"
	"slices"
	"sync"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/gridstand/gridstand/server/internal/store"
)

// games is the store.Games under test, with helpers.
type games struct {
	store.Games
	t *testing.T
	s *store.Store
}

func newGames(t *testing.T, s *store.Store) games {
	t.Helper()
	return games{s.Games, t, s}
}

// entryAfter returns an entry that follows prev. Entries with different values of variety
// differ.
func entryAfter(prev store.ID, variety uint64) store.Entry {
	// Spread the digests over all 64 bits, like those of real entries.
	next := store.ID{Version: prev.Version + 1, Digest: (prev.Digest+variety)*0x9E3779B97F4A7C15 + 0xF1EA5EED}
	e := store.Entry{
		Prev: prev, Next: next,
		Raw: fmt.Appendf(nil, "entry\x00 %s", next), Head: fmt.Appendf(nil, "head\xff %s", next),
	}
	if prev.Version == 0 {
		e.Prev, e.Seed = store.ID{}, []byte("seed\x00\xfe")
	}
	return e
}

// begin returns the value to pass to entryAfter as prev for a game's first entry.
func begin(gameID string) store.ID { return store.ID{Digest: uint64(gameID[0]) << 56} }

// add appends an entry.
func (g games) add(gameID string, e store.Entry) store.Appended {
	g.t.Helper()
	appended, err := g.Append(g.t.Context(), gameID, e)
	require.NoError(g.t, err)
	return appended
}

// create creates a game with n entries and returns them.
func (g games) create(gameID string, n int) []store.Record {
	g.t.Helper()
	var records []store.Record
	last := begin(gameID)
	for range n {
		e := entryAfter(last, 0)
		records = append(records, store.Record{ID: e.Next, Time: g.add(gameID, e).Time, Raw: e.Raw, Seed: e.Seed})
		last = e.Next
	}
	return records
}

// holds checks that a game has exactly these entries, and that its head belongs to the
// last one.
func (g games) holds(gameID string, want []store.Record, watchers int) {
	g.t.Helper()
	ctx := g.t.Context()
	got, err := g.Entries(ctx, gameID, 1, len(want)+1)
	require.NoError(g.t, err)
	g.same(want, got)
	last := want[len(want)-1]
	tail, err := g.Tail(ctx, gameID)
	require.NoError(g.t, err)
	require.Equal(g.t, store.Tail{Length: int64(len(want)), Last: last.ID, Head: last.ID, Watchers: watchers}, tail)
	head := fmt.Appendf(nil, "head\xff %s", last.ID)
	require.Equal(g.t, store.Head{Exists: true, Last: last.ID, Time: last.Time, Encoded: head, Watchers: watchers}, g.head(gameID))
}

func (g games) same(want, got []store.Record) {
	g.t.Helper()
	require.Len(g.t, got, len(want))
	for i := range want {
		w, g2 := want[i], got[i]
		require.Equal(g.t, string(w.Seed), string(g2.Seed), "seed of version %d", w.ID.Version)
		w.Seed, g2.Seed = nil, nil
		require.Equal(g.t, w, g2)
	}
}

// report reports the number of spectators of game "a" on a server, and checks the total.
func (g games) report(server string, count, want int) {
	g.t.Helper()
	total, err := g.Audience(g.t.Context(), "a", server, count, store.Reactions{})
	require.NoError(g.t, err)
	require.Equal(g.t, want, total)
}

func (g games) head(gameID string) store.Head {
	g.t.Helper()
	heads, err := g.Heads(g.t.Context(), []string{gameID})
	require.NoError(g.t, err)
	require.Len(g.t, heads, 1)
	return heads[0]
}

// absent checks that the store holds no data about a game.
func (g games) absent(gameID string) {
	g.t.Helper()
	tail, err := g.Tail(g.t.Context(), gameID)
	require.NoError(g.t, err)
	tail.Watchers = 0 // the game may already have spectators
	require.Equal(g.t, store.Tail{}, tail)
	got, err := g.Entries(g.t.Context(), gameID, 1, 10)
	require.NoError(g.t, err)
	require.Empty(g.t, got)
	require.Equal(g.t, store.Head{}, g.head(gameID))
	require.NotContains(g.t, g.visited(), gameID)
}

// visited returns the IDs that IDs visits, without duplicates.
func (g games) visited() []string {
	g.t.Helper()
	var ids []string
	require.NoError(g.t, g.IDs(g.t.Context(), func(some []string) error {
		ids = append(ids, some...)
		return nil
	}))
	slices.Sort(ids)
	return slices.Compact(ids)
}

// Games tests the contract of store.Games.
func Games(t *testing.T, open Open) {
	gamesAppend(t, open)
	gamesRead(t, open)
	gamesKeep(t, open)
}

// gamesRead tests the methods that only read.
func gamesRead(t *testing.T, open Open) {
	t.Run("reads a consistent snapshot of a growing log", func(t *testing.T) {
		g := newGames(t, open(t))
		last := g.create("a", 1)[0].ID
		const length = 41
		var group sync.WaitGroup
		defer group.Wait()
		group.Go(func() {
			for last.Version < length {
				e := entryAfter(last, 0)
				if _, err := g.Append(t.Context(), "a", e); !assert.NoError(t, err) {
					return
				}
				last = e.Next
			}
		})
		for seen := int32(0); seen < length && !t.Failed(); {
			tail, err := g.Tail(t.Context(), "a")
			require.NoError(t, err)
			require.True(t, tail.Sound(), "%+v", tail)
			require.GreaterOrEqual(t, tail.Last.Version, seen)
			seen = tail.Last.Version
		}
	})
	t.Run("reads entries in pages", func(t *testing.T) {
		g := newGames(t, open(t))
		ctx := t.Context()
		records := g.create("a", 25)
		g.create("b", 3)
		for from := int32(1); from <= 27; from++ {
			for _, n := range []int{1, 7, 25, 1000} {
				got, err := g.Entries(ctx, "a", from, n)
				require.NoError(t, err)
				first := min(int(from)-1, len(records))
				g.same(records[first:min(first+n, len(records))], got)
			}
		}
	})
	t.Run("reads heads", func(t *testing.T) {
		g := newGames(t, open(t))
		heads, err := g.Heads(t.Context(), nil)
		require.NoError(t, err)
		assert.Empty(t, heads)
		a, b := g.create("a", 3), g.create("b", 1)
		heads, err = g.Heads(t.Context(), []string{"b", "nothing", "a", "b"})
		require.NoError(t, err)
		g.holds("a", a, 0)
		g.holds("b", b, 0)
		assert.Equal(t, []store.Head{g.head("b"), {}, g.head("a"), g.head("b")}, heads)
	})
}
