package redis

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"io"
	"log/slog"
	"net"
	"strings"
	"sync"
	"sync/atomic"
	"testing"

	goredis "github.com/redis/go-redis/v9"
	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	redistest "github.com/gridstand/gridstand/internal/testkit/redis"
	waittest "github.com/gridstand/gridstand/internal/testkit/wait"
	"github.com/gridstand/gridstand/server/internal/store"
)

// recorder is a Listener that records its calls.
type recorder struct{ words chan string }

func newRecorder() *recorder { return &recorder{words: make(chan string, 1024)} }

func (rec *recorder) Listening() { rec.words <- "listening" }

func (rec *recorder) Published(r store.Record) { rec.words <- fmt.Sprintf("version %d", r.ID.Version) }

func (rec *recorder) AudienceCounted(n int, _ store.Reactions) {
	rec.words <- fmt.Sprintf("audience %d", n)
}

const testPatience = waittest.Patience

// expect waits for the next call.
func (rec *recorder) expect(t *testing.T, want string) {
	t.Helper()
	require.Equal(t, want, waittest.Receive(t, want, rec.words))
}

// await waits for a call, and ignores all others before it.
func (rec *recorder) await(t *testing.T, want string) {
	t.Helper()
	for word := ""; word != want; {
		word = waittest.Receive(t, want, rec.words)
	}
}

// Write records a line of a log.
func (rec *recorder) Write(line []byte) (int, error) {
	rec.words <- string(line)
	return len(line), nil
}

// follow starts a feed that runs until the test ends and logs to log.
func follow(t *testing.T, client goredis.UniversalClient, log io.Writer) *feed {
	t.Helper()
	f := newFeed(client, slog.New(slog.NewTextHandler(log, nil)))
	var group sync.WaitGroup
	group.Go(func() { f.run(t.Context()) })
	t.Cleanup(group.Wait)
	return f
}

// Ensure that a broken connection is replaced, that every listener learns that it may
// have missed entries, that following can start while Redis is unavailable, and that the log
// says so and when it has ended.
func TestFeed_Reconnect(t *testing.T) {
	t.Parallel()
	each(t, func(t *testing.T, r *rig) {
		proxy := redistest.StartProxy(t, r.addr)
		log, early, late := newRecorder(), newRecorder(), newRecorder()
		f := follow(t, redistest.NewClient(t, proxy.Addr()), log)
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
		assert.Contains(t, waittest.Receive(t, "the warning", log.words), "id=games-not-followed")
		proxy.Accept()
		early.await(t, "listening")
		late.await(t, "listening")
		assert.Contains(t, waittest.Receive(t, "the end", log.words), "received again")
		r.play(name("b"), b, 1)
		late.await(t, "version 2")
	})
}

// Ensure that the log says when all games are followed again, although other nodes than those that failed have
// their channels now, and then warns of the next failure.
func TestFeed_FollowedElsewhere(t *testing.T) {
	t.Parallel()
	var log bytes.Buffer
	f, ctx := newFeed(redistest.NewClient(t, "127.0.0.1:1"), slog.New(slog.NewTextHandler(&log, nil))), t.Context()
	f.Follow("a", newRecorder())
	f.Follow("b", newRecorder())
	f.Follow("left", newRecorder())
	confirm := func(gameID string) {
		n := &nodeFeed{addr: "another node", channels: map[string]bool{}}
		f.answered(ctx, n, &goredis.Subscription{Kind: "ssubscribe", Channel: feedKey(gameID)})
	}
	for range 2 {
		f.failed(ctx, []string{feedKey("a"), feedKey("left")}, io.EOF)
		f.failed(ctx, []string{feedKey("b"), feedKey("unknown")}, io.EOF)
		assert.Equal(t, 1, strings.Count(log.String(), "id=games-not-followed"))
		f.Leave("left")
		confirm("a")
		assert.NotContains(t, log.String(), "received again")
		confirm("b")
		assert.Contains(t, log.String(), "received again")
		log.Reset()
	}
}

// faulty is a connection on which the first write that contains word fails before any of
// its data is sent.
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

// Ensure that a game is followed even if subscribing to it failed on a connection that
// was replaced immediately.
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
		f, rec := follow(t, client, io.Discard), newRecorder()
		a, b := r.create(name("a"), 1), r.create(name("b"), 1)
		f.Follow(name("a"), rec)
		rec.expect(t, "listening")
		word := feedKey(name("b"))
		(<-connections).word.Store(&word)
		other := newRecorder()
		f.Follow(name("b"), other)
		other.await(t, "listening")
		r.play(name("b"), b, 1)
		other.await(t, "version 2")
		r.play(name("a"), a, 1)
		rec.await(t, "version 2")
	})
}
