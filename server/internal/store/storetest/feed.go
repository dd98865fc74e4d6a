package storetest

import (
	"fmt"
	"sync"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	waittest "github.com/gridstand/gridstand/internal/testkit/wait"
	"github.com/gridstand/gridstand/server/internal/store"
)

// follower is a Listener that records its calls.
type follower struct{ calls chan string }

func newFollower() *follower { return &follower{make(chan string, 1024)} }

func (f *follower) Listening() { f.calls <- "listening" }

func (f *follower) Published(r store.Record) { f.calls <- fmt.Sprintf("version %d", r.ID.Version) }

func (f *follower) AudienceCounted(n int, shown store.Reactions) {
	f.calls <- fmt.Sprintf("audience %d %v", n, shown)
}

// expect waits for the next call.
func (f *follower) expect(t *testing.T, want string) {
	t.Helper()
	require.Equal(t, want, waittest.Receive(t, want, f.calls))
}

// await waits for a call and ignores all others before it.
func (f *follower) await(t *testing.T, want string) {
	t.Helper()
	for call := ""; call != want; {
		call = waittest.Receive(t, want, f.calls)
	}
}

// Feed tests that a feed passes on the audience to a follower until it leaves. Only the feed of a shared
// engine calls Published.
func Feed(t *testing.T, open Open) {
	g, f, other, again := newGames(t, open(t)), newFollower(), newFollower(), newFollower()
	var running sync.WaitGroup
	running.Go(func() { g.s.Run(t.Context()) })
	t.Cleanup(running.Wait)
	report := func(gameID string, count int, shown store.Reactions) {
		t.Helper()
		_, err := g.Audience(t.Context(), gameID, "one", count, shown)
		require.NoError(t, err)
	}
	for gameID, l := range map[string]*follower{"followed": f, "other": other} {
		g.create(gameID, 1)
		g.s.Feed.Follow(gameID, l)
		l.expect(t, "listening")
	}
	report("followed", 2, store.Reactions{1000, 7})
	f.expect(t, "audience 2 [1000 7 0 0 0 0]")
	if g.s.Shared() {
		_, err := g.Audience(t.Context(), "followed", "two", 0, store.Reactions{5: 3})
		require.NoError(t, err)
		f.expect(t, "audience 2 [0 0 0 0 0 3]")
	}
	report("followed", 0, store.Reactions{})
	f.expect(t, "audience 0 [0 0 0 0 0 0]")
	g.s.Feed.Leave("followed")
	g.s.Feed.Leave("nothing")
	report("followed", 3, store.Reactions{})
	report("other", 1, store.Reactions{})
	other.expect(t, "audience 1 [0 0 0 0 0 0]")
	assert.Empty(t, f.calls)
	g.s.Feed.Follow("followed", again)
	again.await(t, "listening")
	report("followed", 4, store.Reactions{})
	again.await(t, "audience 4 [0 0 0 0 0 0]")
}
