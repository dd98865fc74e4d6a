package redis

import (
	"context"
	"errors"
	"fmt"
	"log/slog"
	"net"
	"strings"
	"sync/atomic"
	"testing"
	"time"

	goredis "github.com/redis/go-redis/v9"
	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	redistest "github.com/gridstand/gridstand/internal/testkit/redis"
	"github.com/gridstand/gridstand/server/internal/store"
)

// hearer is a Listener that notes what it hears.
type hearer struct {
	words   chan string
	records chan store.Record
}

func newHearer() *hearer {
	return &hearer{words: make(chan string, 1024), records: make(chan store.Record, 1024)}
}

func (h *hearer) Listening() { h.words <- "listening" }

func (h *hearer) Published(r store.Record) {
	h.words <- fmt.Sprintf("version %d", r.ID.Version)
	h.records <- r
}

func (h *hearer) Audience(n int) { h.words <- fmt.Sprintf("audience %d", n) }

const testPatience = 20 * time.Second

// expect waits for these words, and nothing in between.
func (h *hearer) expect(t *testing.T, words ...string) {
	t.Helper()
	for _, want := range words {
		select {
		case got := <-h.words:
			require.Equal(t, want, got)
		case <-time.After(testPatience):
			require.Fail(t, "not heard", want)
		}
	}
}

// await waits for a word, whatever comes before.
func (h *hearer) await(t *testing.T, want string) {
	t.Helper()
	for late := time.After(testPatience); ; {
		select {
		case got := <-h.words:
			if got == want {
				return
			}
		case <-late:
			require.Fail(t, "not heard", want)
		}
	}
}

// follow starts a feed that ends with the test.
func follow(t *testing.T, client goredis.UniversalClient) *feed {
	t.Helper()
	f := newFeed(client, slog.New(slog.DiscardHandler))
	ctx, cancel := context.WithCancel(context.Background())
	done := make(chan error, 1)
	go func() { done <- f.Run(ctx) }()
	t.Cleanup(func() {
		cancel()
		select {
		case err := <-done:
			assert.NoError(t, err)
		case <-time.After(testPatience):
			assert.Fail(t, "the feed does not end")
		}
	})
	return f
}

// Ensure that nothing is heard of a game after Leave, everything after coming
// back, and that rubbish on a channel is nothing.
func TestFeed_Leave(t *testing.T) {
	t.Parallel()
	each(t, func(t *testing.T, r *rig) {
		a, b := r.create(name("a"), 1), r.create(name("b"), 1)
		f, ha, hb := follow(t, r.client), newHearer(), newHearer()
		f.Follow(name("a"), ha)
		f.Follow(name("b"), hb)
		ha.expect(t, "listening")
		hb.expect(t, "listening")

		f.Leave(name("a"))
		a = r.play(name("a"), a, 1)
		for _, rubbish := range []string{"x", "e", "e ", "e 1-1", "e 1-1 x y", "e x 1 y", "a", "a ", "a x"} {
			require.NoError(t, r.client.Publish(t.Context(), feedKey(name("b")), rubbish).Err())
		}
		b = r.play(name("b"), b, 1)
		hb.expect(t, "version 2")
		assert.Empty(t, ha.words)

		f.Follow(name("a"), ha)
		ha.expect(t, "listening")
		f.Leave(name("b"))
		f.Follow(name("b"), hb)
		hb.expect(t, "listening")
		r.play(name("a"), a, 1)
		ha.expect(t, "version 3")
		r.play(name("b"), b, 1)
		hb.expect(t, "version 3")
	})
}

// Ensure that a broken connection is replaced, and every follower told that it
// may have missed something; and that one may begin to follow while Redis is
// away.
func TestFeed_Reconnect(t *testing.T) {
	t.Parallel()
	each(t, func(t *testing.T, r *rig) {
		proxy := redistest.StartProxy(t, r.addr)
		f, early, late := follow(t, redistest.NewClient(t, proxy.Addr())), newHearer(), newHearer()
		a, b := r.create(name("a"), 1), r.create(name("b"), 1)
		f.Follow(name("a"), early)
		early.expect(t, "listening")

		proxy.Cut()
		early.expect(t, "listening")
		a = r.play(name("a"), a, 1)
		early.await(t, "version 2")

		proxy.Refuse()
		f.Follow(name("b"), late)
		r.play(name("a"), a, 1)
		proxy.Accept()
		early.await(t, "listening")
		late.await(t, "listening")
		r.play(name("b"), b, 1)
		late.await(t, "version 2")
	})
}

// Ensure the same when Redis itself ends the connection.
func TestFeed_Killed(t *testing.T) {
	t.Parallel()
	server := redistest.StartRedis(t)
	r := newRig(t, redistest.NewClient(t, server.Addr()))
	f, h := follow(t, r.client), newHearer()
	tip := r.create(name("a"), 1)
	f.Follow(name("a"), h)
	h.expect(t, "listening")
	killed, err := r.client.Do(t.Context(), "client", "kill", "type", "pubsub").Int()
	require.NoError(t, err)
	require.Equal(t, 1, killed)
	h.expect(t, "listening")
	r.play(name("a"), tip, 1)
	h.await(t, "version 2")
}

// faulty is a connection on which a request that holds the word fails, once,
// before anything of it is sent.
type faulty struct {
	net.Conn
	word atomic.Pointer[string]
}

func (c *faulty) Write(b []byte) (int, error) {
	if word := c.word.Load(); word != nil && strings.Contains(string(b), *word) && c.word.CompareAndSwap(word, nil) {
		return 0, errors.New("broken pipe")
	}
	return c.Conn.Write(b)
}

// Ensure that a game is followed though subscribing to it failed on a
// connection that was replaced at once.
func TestFeed_SubscribeFails(t *testing.T) {
	t.Parallel()
	each(t, func(t *testing.T, r *rig) {
		connections := make(chan *faulty, 16)
		client := goredis.NewClient(&goredis.Options{
			Addr: r.addr,
			Dialer: func(_ context.Context, network, addr string) (net.Conn, error) {
				c, err := net.Dial(network, addr)
				f := &faulty{Conn: c}
				connections <- f
				return f, err
			},
		})
		t.Cleanup(func() { assert.NoError(t, client.Close()) })
		f, h := follow(t, client), newHearer()
		a, b := r.create(name("a"), 1), r.create(name("b"), 1)
		f.Follow(name("a"), h)
		h.expect(t, "listening")
		word := feedKey(name("b"))
		(<-connections).word.Store(&word)
		other := newHearer()
		f.Follow(name("b"), other)
		other.await(t, "listening")
		r.play(name("b"), b, 1)
		other.await(t, "version 2")
		r.play(name("a"), a, 1)
		h.await(t, "version 2")
	})
}
