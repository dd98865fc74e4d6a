package storetest

import (
	"context"
	"fmt"
	"sync"
	"testing"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	waittest "github.com/gridstand/gridstand/internal/testkit/wait"
	"github.com/gridstand/gridstand/server/internal/store"
)

// follower is a Listener that records its calls.
type follower struct {
	calls   chan string
	records chan store.Record
}

func newFollower() *follower {
	return &follower{calls: make(chan string, 1024), records: make(chan store.Record, 1024)}
}

func (f *follower) Listening() { f.calls <- "listening" }

func (f *follower) Published(r store.Record) {
	f.calls <- fmt.Sprintf("version %d", r.ID.Version)
	f.records <- r
}

func (f *follower) AudienceCounted(n int, shown store.Reactions) {
	f.calls <- fmt.Sprintf("audience %d %v", n, shown)
}

// expect waits for exactly these calls, in order.
func (f *follower) expect(t *testing.T, calls ...string) {
	t.Helper()
	for _, want := range calls {
		require.Equal(t, want, waittest.Receive(t, want, f.calls))
	}
}

// await waits for a call and ignores all others before it.
func (f *follower) await(t *testing.T, want string) {
	t.Helper()
	for call := ""; call != want; {
		call = waittest.Receive(t, want, f.calls)
	}
}

// runFeed runs a store until the test ends, so that its feed passes on what it receives.
func runFeed(t *testing.T, s *store.Store) {
	t.Helper()
	ctx, cancel := context.WithCancel(context.Background())
	var group sync.WaitGroup
	group.Go(func() { s.Run(ctx) })
	t.Cleanup(func() {
		cancel()
		group.Wait()
	})
}

// Feed tests the contract of store.Feed. Each subtest uses different games, because on a
// cluster a message that was published in one subtest may arrive in the next.
func Feed(t *testing.T, open Open) {
	start := func(t *testing.T) games {
		t.Helper()
		g := newGames(t, open)
		runFeed(t, g.s)
		return g
	}
	t.Run("passes on the audience to a follower", func(t *testing.T) {
		g := start(t)
		f := newFollower()
		g.create("followed", 1)
		report := func(count int, shown store.Reactions) {
			t.Helper()
			_, err := g.Audience(t.Context(), "followed", "one", count, shown)
			require.NoError(t, err)
		}
		g.s.Feed.Follow("followed", f)
		f.expect(t, "listening")
		report(2, store.Reactions{1000, 7})
		f.expect(t, "audience 2 [1000 7 0 0 0 0]")
		if g.s.Shared() {
			_, err := g.Audience(t.Context(), "followed", "two", 0, store.Reactions{5: 3})
			require.NoError(t, err)
			f.expect(t, "audience 2 [0 0 0 0 0 3]")
		}
		report(0, store.Reactions{})
		f.expect(t, "audience 0 [0 0 0 0 0 0]")
		g.s.Feed.Leave("followed")
		g.s.Feed.Leave("nothing")
		report(3, store.Reactions{})
		g.s.Feed.Follow("followed", f)
		f.await(t, "listening")
		report(4, store.Reactions{})
		f.await(t, "audience 4 [0 0 0 0 0 0]")
	})
	if !open(t).Shared() {
		return
	}
	t.Run("publishes entries in order", func(t *testing.T) {
		g := start(t)
		a, b := newFollower(), newFollower()
		g.s.Feed.Follow("a", a)
		g.s.Feed.Follow("b", b)
		a.expect(t, "listening")
		b.expect(t, "listening")

		g.create("c", 2)
		last := g.create("a", 1)[0].ID
		a.expect(t, "version 1")
		assert.Empty(t, (<-a.records).Seed, "spectators must not see the seed")
		for i := range 30 {
			e := entryAfter(last, 0)
			on := []store.Games{g.s.Games, g.s.Background.Games}[i%2]
			appended, err := on.Append(t.Context(), "a", e)
			require.NoError(t, err)
			last = e.Next
			a.expect(t, fmt.Sprintf("version %d", last.Version))
			got := <-a.records
			assert.Empty(t, got.Seed)
			got.Seed = nil
			assert.Equal(t, store.Record{ID: last, Time: appended.Time, Raw: e.Raw}, got)
		}
		g.create("b", 2)
		b.expect(t, "version 1", "version 2")
		assert.Empty(t, a.calls)
	})
	t.Run("publishes nothing for refused appends", func(t *testing.T) {
		g := start(t)
		f := newFollower()
		g.s.Feed.Follow("refused", f)
		f.expect(t, "listening")
		records := g.create("refused", 2)
		f.expect(t, "version 1", "version 2")
		_, err := g.Append(t.Context(), "refused", entryAfter(records[0].ID, 1))
		require.Error(t, err)
		late := entryAfter(records[1].ID, 0)
		late.NotAfter = records[1].Time.Add(-time.Hour)
		_, err = g.Append(t.Context(), "refused", late)
		require.Error(t, err)
		g.add("refused", entryAfter(records[1].ID, 0))
		f.expect(t, "version 3")
	})
	t.Run("stops and starts again", func(t *testing.T) {
		g := start(t)
		feed, a, b := g.s.Feed, newFollower(), newFollower()
		move := func(gameID string, last *store.ID) {
			e := entryAfter(*last, 0)
			g.add(gameID, e)
			*last = e.Next
		}
		feed.Follow("left", a)
		feed.Follow("kept", b)
		a.expect(t, "listening")
		b.expect(t, "listening")
		last, other := g.create("left", 1)[0].ID, g.create("kept", 1)[0].ID
		a.expect(t, "version 1")
		b.expect(t, "version 1")
		feed.Leave("left")
		move("left", &last)
		move("kept", &other)
		b.expect(t, "version 2")
		assert.Empty(t, a.calls)
		feed.Leave("nothing")

		feed.Follow("left", a)
		a.await(t, "listening")
		move("left", &last)
		a.await(t, "version 3")
		feed.Leave("kept")
		feed.Follow("kept", b)
		b.await(t, "listening")
		move("kept", &other)
		b.await(t, "version 3")
	})
}
