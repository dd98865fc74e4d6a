package redis

import (
	"context"
	"errors"
	"fmt"
	"log/slog"
	"maps"
	"slices"
	"strconv"
	"testing"
	"time"

	peer "github.com/alicebob/miniredis/v2/server"
	goredis "github.com/redis/go-redis/v9"
	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/gridstand/gridstand/internal/id"
	"github.com/gridstand/gridstand/internal/testkit/process"
	redistest "github.com/gridstand/gridstand/internal/testkit/redis"
	"github.com/gridstand/gridstand/server/internal/store"
)

// rig is a Redis server and a store that uses it.
type rig struct {
	t      *testing.T
	client goredis.UniversalClient
	addr   string
	store  *store.Store
}

// each runs a test with miniredis and with Redis.
func each(t *testing.T, test func(t *testing.T, r *rig)) {
	t.Helper()
	redistest.Each(t, func(t *testing.T, client *goredis.Client) { test(t, newRig(t, client)) })
}

func newRig(t *testing.T, client *goredis.Client) *rig {
	t.Helper()
	addr := client.Options().Addr
	return &rig{t: t, client: client, addr: addr, store: openAt(t, addr)}
}

// openAt returns a store that uses a Redis server, or a cluster if there are several addresses.
func openAt(t *testing.T, addrs ...string) *store.Store {
	t.Helper()
	connect := func(retries int) goredis.UniversalClient {
		return goredis.NewUniversalClient(&goredis.UniversalOptions{Addrs: addrs, MaxRetries: retries, ReadTimeout: testPatience})
	}
	s, err := New(Clients{
		Appends: connect(-1), Calls: connect(0), Background: connect(0),
		Logger: slog.New(slog.DiscardHandler),
	})
	require.NoError(t, err)
	t.Cleanup(func() { assert.NoError(t, s.Close()) })
	return s
}

func name(s string) string { return id.Derive([]byte("game"), []byte(s)) }

// entry returns an entry that follows prev.
func entry(prev store.ID) store.Entry {
	next := store.ID{Version: prev.Version + 1, Digest: prev.Digest*31 + 7}
	e := store.Entry{Prev: prev, Next: next, Raw: fmt.Appendf(nil, "entry %s", next), Head: fmt.Appendf(nil, "head %s", next)}
	if prev.Version == 0 {
		e.Prev, e.Seed = store.ID{}, []byte("seed")
	}
	return e
}

// play appends n entries to a game.
func (r *rig) play(gameID string, last store.ID, n int) store.ID {
	r.t.Helper()
	for range n {
		e := entry(last)
		_, err := r.store.Games.Append(r.t.Context(), gameID, e)
		require.NoError(r.t, err)
		last = e.Next
	}
	return last
}

// create creates a game with n entries.
func (r *rig) create(gameID string, n int) store.ID {
	r.t.Helper()
	return r.play(gameID, store.ID{Digest: uint64(gameID[0])}, n)
}

// content holds a game's data in Redis, and the total number of keys in Redis.
type content struct {
	log  []goredis.XMessage
	meta map[string]string
	keys int
}

func (r *rig) content(gameID string) content {
	r.t.Helper()
	ctx := r.t.Context()
	log, err := r.client.XRange(ctx, logKey(gameID), "-", "+").Result()
	require.NoError(r.t, err)
	meta, err := r.client.HGetAll(ctx, metaKey(gameID)).Result()
	require.NoError(r.t, err)
	keys, err := r.client.Keys(ctx, "*").Result()
	require.NoError(r.t, err)
	return content{log: log, meta: meta, keys: len(keys)}
}

// unchanged checks that calling do does not change a game's data.
func (r *rig) unchanged(gameID string, do func()) {
	r.t.Helper()
	before := r.content(gameID)
	do()
	require.Equal(r.t, before, r.content(gameID), "the game changed")
}

// rewrite replaces the entries of a log without any checks.
func (r *rig) rewrite(gameID string, change func([]goredis.XMessage) []goredis.XMessage) {
	r.t.Helper()
	ctx, log := r.t.Context(), r.content(gameID).log
	require.NoError(r.t, r.client.Del(ctx, logKey(gameID)).Err())
	for _, m := range change(log) {
		values := make([]any, 0, 6)
		for _, field := range slices.Sorted(maps.Keys(m.Values)) {
			values = append(values, field, m.Values[field])
		}
		require.NoError(r.t, r.client.XAdd(ctx, &goredis.XAddArgs{Stream: logKey(gameID), ID: m.ID, Values: values}).Err())
	}
}

func ms(t time.Time) string { return strconv.FormatInt(t.UnixMilli(), 10) }

// Ensure that an append writes the entry and its meta and notifies followers, all with
// the same time, but without the seed, also if Redis has lost the scripts, and that a refused append does
// not notify them.
func TestAppend(t *testing.T) {
	t.Parallel()
	each(t, func(t *testing.T, r *rig) {
		ctx, gameID := t.Context(), name("a")
		sub := r.client.Subscribe(ctx, feedKey(gameID))
		defer func() { assert.NoError(t, sub.Close()) }()
		_, err := sub.Receive(ctx)
		require.NoError(t, err)
		messages := sub.Channel()
		var last store.ID
		for range 4 {
			require.NoError(t, r.client.ScriptFlush(ctx).Err())
			e := entry(last)
			appended, err := r.store.Games.Append(ctx, gameID, e)
			require.NoError(t, err)
			last = e.Next
			at := ms(appended.Time)
			c := r.content(gameID)
			want := map[string]any{"t": at, "e": string(e.Raw)}
			if last.Version == 1 {
				want["s"] = "seed"
			}
			require.Len(t, c.log, int(last.Version))
			assert.Equal(t, goredis.XMessage{ID: last.String(), Values: want}, c.log[last.Version-1])
			assert.Equal(t, map[string]string{"last": last.String(), "time": at, "head": string(e.Head)}, c.meta)
			assert.Equal(t, "e "+last.String()+" "+at+" "+string(e.Raw), (<-messages).Payload)
			assert.Equal(t, 2, c.keys)

			stale, late := entry(last), entry(last)
			stale.Prev.Digest++
			late.NotAfter = appended.Time.Add(-time.Hour)
			for _, refused := range []store.Entry{stale, late} {
				_, err = r.store.Games.Append(ctx, gameID, refused)
				require.Error(t, err)
			}
		}
	})
}

// damages are what happens to a game with six entries. An append then fails with the given
// error, or with any that says that nothing was written.
var damages = map[string]struct {
	do   func(ctx context.Context, r *rig, gameID string) error
	want error
}{
	"cut at the front": {func(ctx context.Context, r *rig, gameID string) error {
		return r.client.XTrimMaxLen(ctx, logKey(gameID), 4).Err()
	}, store.ErrBroken},
	"an entry deleted": {func(ctx context.Context, r *rig, gameID string) error {
		return r.client.XDel(ctx, logKey(gameID), r.content(gameID).log[2].ID).Err()
	}, store.ErrBroken},
	"an entry too many": {func(_ context.Context, r *rig, gameID string) error {
		r.rewrite(gameID, func(log []goredis.XMessage) []goredis.XMessage {
			return append([]goredis.XMessage{{ID: "0-5", Values: log[1].Values}}, log...)
		})
		return nil
	}, store.ErrBroken},
	"meta ahead":                      {lastInMeta("9-1"), store.ErrBroken},
	"meta of another history":         {lastInMeta("6-1"), store.ErrBroken},
	"meta behind, of another history": {lastInMeta("3-12345"), store.ErrBroken},
	"invalid meta":                    {lastInMeta("none"), store.ErrBroken},
	"swapped for another game's": {func(ctx context.Context, r *rig, gameID string) error {
		r.create("x"+gameID, 6)
		return r.client.Rename(ctx, logKey("x"+gameID), logKey(gameID)).Err()
	}, nil},
	"emptied": {func(ctx context.Context, r *rig, gameID string) error {
		return r.client.XTrimMaxLen(ctx, logKey(gameID), 0).Err()
	}, nil},
	"the last entry deleted": {func(ctx context.Context, r *rig, gameID string) error {
		return r.client.XDel(ctx, logKey(gameID), r.content(gameID).log[5].ID).Err()
	}, nil},
	"an entry by an operator": {func(ctx context.Context, r *rig, gameID string) error {
		return r.client.XAdd(ctx, &goredis.XAddArgs{Stream: logKey(gameID), Values: []any{"e", "x"}}).Err()
	}, nil},
}

func lastInMeta(last string) func(context.Context, *rig, string) error {
	return func(ctx context.Context, r *rig, gameID string) error {
		return r.client.HSet(ctx, metaKey(gameID), "last", last).Err()
	}
}

// Ensure that nothing is written to a game whose log is damaged, or contradicts its meta,
// even if the log's last entry is the expected one.
func TestAppend_Damaged(t *testing.T) {
	t.Parallel()
	each(t, func(t *testing.T, r *rig) {
		for what, damage := range damages {
			gameID := name(what)
			last := r.create(gameID, 6)
			require.NoError(t, damage.do(t.Context(), r, gameID))
			r.unchanged(gameID, func() {
				_, err := r.store.Games.Append(t.Context(), gameID, entry(last))
				require.Error(t, err, what)
				require.NotErrorIs(t, err, store.ErrUnsettled, what)
				require.NotErrorAs(t, err, new(*store.Error), what)
				if damage.want != nil {
					require.ErrorIs(t, err, damage.want, what)
				}
			})
		}
	})
}

// Ensure that an append to a truncated log returns the entry that the log now ends with,
// and that a game whose log is lost cannot be created again while its meta exists.
func TestAppend_Cut(t *testing.T) {
	t.Parallel()
	each(t, func(t *testing.T, r *rig) {
		gameID := name("a")
		last := r.create(gameID, 6)
		r.rewrite(gameID, func(log []goredis.XMessage) []goredis.XMessage { return log[:2] })
		refused := func(e store.Entry) (err error) {
			r.unchanged(gameID, func() { _, err = r.store.Games.Append(t.Context(), gameID, e) })
			return err
		}
		var conflict *store.ConflictError
		require.ErrorAs(t, refused(entry(last)), &conflict)
		assert.EqualValues(t, 2, conflict.Last.Version)
		require.NoError(t, r.client.Del(t.Context(), logKey(gameID)).Err())
		require.ErrorAs(t, refused(entry(last)), &conflict)
		assert.Equal(t, &store.ConflictError{}, conflict)
		require.ErrorIs(t, refused(entry(store.ID{})), store.ErrBroken)
	})
}

// Ensure that the times in a log never decrease, even if the Redis server's clock is set
// back.
func TestAppend_Time(t *testing.T) {
	t.Parallel()
	each(t, func(t *testing.T, r *rig) {
		gameID := name("a")
		last := r.create(gameID, 4)
		future := time.Now().Add(time.Hour).Truncate(time.Millisecond).UTC()
		r.rewrite(gameID, func(log []goredis.XMessage) []goredis.XMessage {
			log[3].Values["t"] = ms(future)
			return log
		})
		last = r.play(gameID, last, 2)
		entries, err := r.store.Games.Entries(t.Context(), gameID, last.Version, 1)
		require.NoError(t, err)
		assert.Equal(t, future, entries[0].Time)
	})
}

// Ensure that a second entry with a version is an unreadable one, and that a dump has the entries before it,
// and the game in quarantine.
func TestEntries_Repeated(t *testing.T) {
	t.Parallel()
	each(t, func(t *testing.T, r *rig) {
		gameID := name("a")
		r.create(gameID, 4)
		r.rewrite(gameID, func(log []goredis.XMessage) []goredis.XMessage {
			repeated := log[1]
			repeated.ID = "2-18446744073709551615"
			return slices.Insert(log, 2, repeated)
		})
		entries, err := r.store.Games.Entries(t.Context(), gameID, 1, 10)
		var corrupt *store.CorruptError
		require.ErrorAs(t, err, &corrupt)
		assert.EqualValues(t, 2, corrupt.Version)
		require.Len(t, entries, 2)
		var items []store.Item
		require.NoError(t, r.store.Dumper.Dump(t.Context(), func(i store.Item) error { items = append(items, i); return nil }))
		require.Len(t, items, 2)
		assert.Equal(t, entries, items[0].Log.Entries)
		assert.Equal(t, store.Quarantined, items[1].Head.Last)
	})
}

// Ensure that a dump fails if Redis refuses the connection on which it reads what a scan has found.
func TestDump_Refused(t *testing.T) {
	t.Parallel()
	server := redistest.StartMiniredis(t)
	server.RequireAuth("earlier")
	client := goredis.NewClient(&goredis.Options{Addr: server.Addr(), Password: "earlier", ConnMaxLifetime: 1})
	t.Cleanup(func() { _ = client.Close() })
	require.NoError(t, client.Set(t.Context(), secretKey("page"), "s", 0).Err())
	server.Server().SetPreHook(func(_ *peer.Peer, command string, _ ...string) bool {
		if command == "SCAN" {
			server.RequireAuth("later")
		}
		return false
	})
	err := dumper{client}.Dump(t.Context(), func(store.Item) error { return nil })
	require.ErrorContains(t, err, "WRONGPASS")
}

// Ensure that errors which prove that nothing was written are distinguished from errors
// after which the outcome is unknown.
func TestAppendError(t *testing.T) {
	t.Parallel()
	for _, tt := range []struct {
		err       error
		unsettled bool
	}{
		{goredis.ErrNoScript, false},
		{context.Canceled, true},
		{errors.New("connection reset by peer"), true},
	} {
		got := appendError(tt.err)
		assert.Equal(t, tt.unsettled, errors.Is(got, store.ErrUnsettled), "%v", tt.err)
		assert.ErrorIs(t, got, tt.err)
		assert.True(t, store.IsError(got), "%v", tt.err)
	}
}

// Ensure that a limited number of commands waits for a Redis server that does not respond, and that
// further ones wait for room as long as their contexts allow.
func TestPipeline_Bound(t *testing.T) {
	t.Parallel()
	silent := process.Listen(t)
	client := goredis.NewClient(&goredis.Options{
		Addr: silent.Addr().String(), DialerRetries: 1, MaxRetries: -1, DialTimeout: time.Hour, ReadTimeout: time.Hour,
	})
	pipeline, err := newPipeline(client)
	require.NoError(t, err)
	gone, cancel := context.WithCancel(t.Context())
	cancel()
	over, cancel := context.WithDeadline(t.Context(), time.Now())
	defer cancel()
	waiting := 0
	for range 2 * maxQueued {
		command := pipeline.Submit(gone, goredis.NewCmd(t.Context(), "ping"))
		if err := command.WaitContext(over); errors.Is(err, context.DeadlineExceeded) {
			waiting++
		} else {
			require.ErrorIs(t, err, context.Canceled)
		}
	}
	assert.Positive(t, waiting)
	assert.LessOrEqual(t, waiting, maxQueued)
	require.NoError(t, silent.Close()) // also closes the connection, which was not accepted
	require.NoError(t, client.Close())
}

// Ensure that Tail reports an unreadable last entry or meta, and log and meta that disagree.
func TestTail_Unreadable(t *testing.T) {
	t.Parallel()
	each(t, func(t *testing.T, r *rig) {
		ctx, gameID := t.Context(), name("a")
		first := r.create(gameID, 1)
		last := r.play(gameID, first, 3)
		tail := func() store.Tail {
			tail, err := r.store.Games.Tail(ctx, gameID)
			require.NoError(t, err)
			return tail
		}
		require.NoError(t, r.client.HSet(ctx, metaKey(gameID), "last", first.String()).Err())
		assert.Equal(t, store.Tail{Length: 4, Last: last, Head: first}, tail())
		require.NoError(t, r.client.HSet(ctx, metaKey(gameID), "last", "rubbish").Err())
		assert.EqualValues(t, -1, tail().Head.Version)
		require.NoError(t, r.client.XAdd(ctx, &goredis.XAddArgs{Stream: logKey(gameID), Values: []any{"e", "x"}}).Err())
		assert.EqualValues(t, -1, tail().Last.Version)
		require.NoError(t, r.client.Del(ctx, metaKey(gameID)).Err())
		assert.Zero(t, tail().Head)
	})
}

// Ensure that Entries stops at an unreadable entry, with an error that contains the
// version before it.
func TestEntries_Corrupt(t *testing.T) {
	t.Parallel()
	each(t, func(t *testing.T, r *rig) {
		for what, change := range map[string]func(log []goredis.XMessage){
			"an invalid time": func(log []goredis.XMessage) { log[3].Values["t"] = "noon" },
			"no time":         func(log []goredis.XMessage) { delete(log[3].Values, "t") },
			"by an operator": func(log []goredis.XMessage) {
				log[3].ID, log[4].ID, log[5].ID = "1763628486043-0", "1763628486043-1", "1763628486043-2"
			},
		} {
			gameID := name(what)
			r.create(gameID, 6)
			r.rewrite(gameID, func(log []goredis.XMessage) []goredis.XMessage {
				change(log)
				return log
			})
			records, err := r.store.Games.Entries(t.Context(), gameID, 2, 10)
			var corrupt *store.CorruptError
			require.ErrorAs(t, err, &corrupt, what)
			assert.EqualValues(t, 3, corrupt.Version, what)
			require.Len(t, records, 2, what)
			assert.EqualValues(t, 3, records[1].ID.Version, what)
		}
	})
}

// Ensure that a game with an unreadable head is not mistaken for one that does not exist.
func TestHeads_Unreadable(t *testing.T) {
	t.Parallel()
	each(t, func(t *testing.T, r *rig) {
		ctx := t.Context()
		for _, game := range []string{"a", "b", "c"} {
			r.create(name(game), 1)
		}
		require.NoError(t, r.client.HSet(ctx, metaKey(name("a")), "time", "yesterday").Err())
		require.NoError(t, r.client.HSet(ctx, metaKey(name("b")), "last", "rubbish").Err())
		require.NoError(t, r.client.HDel(ctx, metaKey(name("c")), "last").Err())
		heads, err := r.store.Games.Heads(ctx, []string{name("a"), name("b"), name("c")})
		require.NoError(t, err)
		assert.Equal(t, []store.Head{{Exists: true}, {Exists: true}, {}}, heads)
	})
}

// Ensure that spectators on a server that died before Redis' clock was set back do not count until it catches up.
func TestAudience_ClockSetBack(t *testing.T) {
	t.Parallel()
	each(t, func(t *testing.T, r *rig) {
		ctx, game := t.Context(), name("a")
		last := r.create(game, 1)
		report := fmt.Sprint("5 ", time.Now().Add(time.Hour).Unix())
		require.NoError(t, r.client.HSet(ctx, audienceKey(game), "dead", report).Err())
		require.NoError(t, r.client.HSet(ctx, metaKey(game), "watchers", report).Err())
		watchers := func(want int) {
			tail, err := r.store.Games.Tail(ctx, game)
			require.NoError(t, err)
			heads, err := r.store.Games.Heads(ctx, []string{game})
			require.NoError(t, err)
			entry := entry(last)
			appended, err := r.store.Games.Append(ctx, game, entry)
			require.NoError(t, err)
			last = entry.Next
			assert.Equal(t, [3]int{want, want, want}, [3]int{tail.Watchers, heads[0].Watchers, appended.Watchers})
		}
		watchers(0)
		total, err := r.store.Games.Audience(ctx, game, "runs", 2, store.Reactions{})
		require.NoError(t, err)
		assert.Equal(t, 2, total)
		watchers(2)
	})
}
