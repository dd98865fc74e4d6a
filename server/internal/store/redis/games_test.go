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

	goredis "github.com/redis/go-redis/v9"
	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/gridstand/gridstand/internal/id"
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
	redistest.Each(t, func(t *testing.T, client goredis.UniversalClient) { test(t, newRig(t, client)) })
}

func newRig(t *testing.T, client goredis.UniversalClient) *rig {
	t.Helper()
	addr := client.(*goredis.Client).Options().Addr
	return &rig{t: t, client: client, addr: addr, store: openAt(t, addr, 10*time.Second)}
}

// openAt returns a store that uses the Redis server at addr, with the given read timeout.
func openAt(t *testing.T, addr string, readTimeout time.Duration) *store.Store {
	t.Helper()
	connect := func(retries int) goredis.UniversalClient {
		return goredis.NewClient(&goredis.Options{Addr: addr, MaxRetries: retries, ReadTimeout: readTimeout})
	}
	s, err := New(Clients{
		Appends: connect(-1), Calls: connect(0), Background: connect(0), Once: connect(-1),
		Name: addr, Logger: slog.New(slog.DiscardHandler),
	})
	require.NoError(t, err)
	t.Cleanup(func() { assert.NoError(t, s.Close()) })
	return s
}

func name(s string) string { return id.Derive([]byte("game"), []byte(s)) }

// entry returns an entry that follows prev. Entries with different values of variety
// differ.
func entry(prev store.ID, variety ...uint64) store.Entry {
	next := store.ID{Version: prev.Version + 1, Digest: prev.Digest*31 + 7}
	for _, v := range variety {
		next.Digest += v
	}
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
	ctx := r.t.Context()
	log, err := r.client.XRange(ctx, logKey(gameID), "-", "+").Result()
	require.NoError(r.t, err)
	require.NoError(r.t, r.client.Del(ctx, logKey(gameID)).Err())
	for _, m := range change(log) {
		values := make([]any, 0, 6)
		for _, field := range slices.Sorted(maps.Keys(m.Values)) {
			values = append(values, field, m.Values[field])
		}
		require.NoError(r.t, r.client.XAdd(ctx, &goredis.XAddArgs{Stream: logKey(gameID), ID: m.ID, Values: values}).Err())
	}
}

// sound checks that a log is undamaged and ends with last.
func (r *rig) sound(gameID string, last store.ID) {
	r.t.Helper()
	tail, err := r.store.Games.Tail(r.t.Context(), gameID)
	require.NoError(r.t, err)
	require.True(r.t, tail.Sound(), "%+v", tail)
	require.Equal(r.t, last, tail.Last)
	heads, err := r.store.Games.Heads(r.t.Context(), []string{gameID})
	require.NoError(r.t, err)
	require.Equal(r.t, last, heads[0].Last)
}

func ms(t time.Time) string { return strconv.FormatInt(t.UnixMilli(), 10) }

// Ensure that an append writes the entry and its meta and notifies followers, all with
// the same time.
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
		}
	})
}

// Ensure that an append to a truncated log returns the entry that the log now ends with.
func TestAppend_Cut(t *testing.T) {
	t.Parallel()
	each(t, func(t *testing.T, r *rig) {
		gameID := name("a")
		last := r.create(gameID, 6)
		r.rewrite(gameID, func(log []goredis.XMessage) []goredis.XMessage { return log[:2] })
		refused := func() *store.ConflictError {
			var conflict *store.ConflictError
			r.unchanged(gameID, func() {
				_, err := r.store.Games.Append(t.Context(), gameID, entry(last))
				require.ErrorAs(t, err, &conflict)
			})
			return conflict
		}
		conflict := refused()
		assert.EqualValues(t, 2, conflict.Last.Version)
		assert.Nil(t, conflict.Standing)
		require.NoError(t, r.client.Del(t.Context(), logKey(gameID)).Err())
		assert.Equal(t, &store.ConflictError{}, refused())
	})
}

// Ensure that nothing is written to a game whose log and meta contradict each other, even
// if the log's last entry is the expected one.
func TestAppend_Broken(t *testing.T) {
	t.Parallel()
	meta := func(last string) func(context.Context, *rig, string) error {
		return func(ctx context.Context, r *rig, gameID string) error {
			return r.client.HSet(ctx, metaKey(gameID), "last", last).Err()
		}
	}
	damages := map[string]func(ctx context.Context, r *rig, gameID string) error{
		"cut at the front": func(ctx context.Context, r *rig, gameID string) error {
			return r.client.XTrimMaxLen(ctx, logKey(gameID), 4).Err()
		},
		"an entry deleted": func(ctx context.Context, r *rig, gameID string) error {
			return r.client.XDel(ctx, logKey(gameID), r.content(gameID).log[2].ID).Err()
		},
		"an entry too many": func(_ context.Context, r *rig, gameID string) error {
			r.rewrite(gameID, func(log []goredis.XMessage) []goredis.XMessage {
				return append([]goredis.XMessage{{ID: "0-5", Values: log[1].Values}}, log...)
			})
			return nil
		},
		"meta ahead":                      meta("9-1"),
		"meta of another history":         meta("6-1"),
		"meta behind, of another history": meta("3-12345"),
		"invalid meta":                    meta("none"),
	}
	each(t, func(t *testing.T, r *rig) {
		for what, damage := range damages {
			t.Run(what, func(t *testing.T) {
				gameID := name(what)
				last := r.create(gameID, 6)
				require.NoError(t, damage(t.Context(), r, gameID))
				r.unchanged(gameID, func() {
					_, err := r.store.Games.Append(t.Context(), gameID, entry(last))
					require.ErrorIs(t, err, store.ErrBroken)
				})
			})
		}
	})
}

// Ensure that an append detects damage at the end of a log.
func TestAppend_Damaged(t *testing.T) {
	t.Parallel()
	const length = 8
	again := func(m goredis.XMessage) goredis.XMessage {
		last, _ := store.ParseID(m.ID)
		return goredis.XMessage{ID: store.ID{Version: last.Version, Digest: last.Digest + 1}.String(), Values: m.Values}
	}
	damages := map[string]func(ctx context.Context, r *rig, gameID string) error{
		"swapped for another game's": func(ctx context.Context, r *rig, gameID string) error {
			r.create("x"+gameID, length)
			return r.client.Rename(ctx, logKey("x"+gameID), logKey(gameID)).Err()
		},
		"emptied": func(ctx context.Context, r *rig, gameID string) error {
			return r.client.XTrimMaxLen(ctx, logKey(gameID), 0).Err()
		},
		"the last entry deleted": func(ctx context.Context, r *rig, gameID string) error {
			return r.client.XDel(ctx, logKey(gameID), r.content(gameID).log[length-1].ID).Err()
		},
		"an entry twice": func(_ context.Context, r *rig, gameID string) error {
			r.rewrite(gameID, func(log []goredis.XMessage) []goredis.XMessage {
				return append(log[:5:5], append([]goredis.XMessage{again(log[4])}, log[5:]...)...)
			})
			return nil
		},
		"the last entry twice": func(_ context.Context, r *rig, gameID string) error {
			r.rewrite(gameID, func(log []goredis.XMessage) []goredis.XMessage { return append(log, again(log[length-1])) })
			return nil
		},
		"the last digest altered": func(_ context.Context, r *rig, gameID string) error {
			r.rewrite(gameID, func(log []goredis.XMessage) []goredis.XMessage {
				return append(log[:length-1:length-1], again(log[length-1]))
			})
			return nil
		},
		"an entry by an operator": func(ctx context.Context, r *rig, gameID string) error {
			return r.client.XAdd(ctx, &goredis.XAddArgs{Stream: logKey(gameID), Values: []any{"e", "x"}}).Err()
		},
	}
	each(t, func(t *testing.T, r *rig) {
		for what, damage := range damages {
			t.Run(what, func(t *testing.T) {
				gameID := name(what)
				last := r.create(gameID, length)
				require.NoError(t, damage(t.Context(), r, gameID))
				r.unchanged(gameID, func() {
					_, err := r.store.Games.Append(t.Context(), gameID, entry(last))
					require.Error(t, err)
					require.NotErrorIs(t, err, store.ErrUnsettled)
					require.NotErrorAs(t, err, new(*store.Error))
				})
			})
		}
	})
}

// Ensure that a game whose log is lost cannot be created again while its meta exists.
func TestAppend_MetaWithoutLog(t *testing.T) {
	t.Parallel()
	each(t, func(t *testing.T, r *rig) {
		gameID := name("a")
		r.create(gameID, 1)
		require.NoError(t, r.client.Del(t.Context(), logKey(gameID)).Err())
		r.unchanged(gameID, func() {
			_, err := r.store.Games.Append(t.Context(), gameID, entry(store.ID{}))
			require.ErrorIs(t, err, store.ErrBroken)
		})
	})
}

// Ensure that an append succeeds even if the meta is outdated or missing, and that it
// corrects the meta.
func TestAppend_MetaBehind(t *testing.T) {
	t.Parallel()
	each(t, func(t *testing.T, r *rig) {
		ctx, gameID := t.Context(), name("a")
		last := r.create(gameID, 2)
		old := r.content(gameID).meta
		last = r.play(gameID, last, 2)
		require.NoError(t, r.client.HSet(ctx, metaKey(gameID), old).Err())
		last = r.play(gameID, last, 1)
		r.sound(gameID, last)
		require.NoError(t, r.client.Del(ctx, metaKey(gameID)).Err())
		r.sound(gameID, r.play(gameID, last, 1))
	})
}

// Ensure that Mend updates an outdated meta, but never moves it back, and does not
// overwrite it if the log has lost entries.
func TestMend(t *testing.T) {
	t.Parallel()
	each(t, func(t *testing.T, r *rig) {
		ctx, gameID := t.Context(), name("a")
		first := r.create(gameID, 1)
		old := r.content(gameID).meta
		last := r.play(gameID, first, 3)
		want := r.content(gameID)
		entries, err := r.store.Games.Entries(ctx, gameID, last.Version, 1)
		require.NoError(t, err)
		mend := func() error {
			return r.store.Games.Mend(ctx, gameID, last, entries[0].Time, []byte(want.meta["head"]))
		}
		require.NoError(t, r.client.HSet(ctx, metaKey(gameID), old).Err())
		require.NoError(t, mend())
		assert.Equal(t, want, r.content(gameID))
		require.NoError(t, r.client.Del(ctx, metaKey(gameID)).Err())
		require.NoError(t, mend())
		assert.Equal(t, want, r.content(gameID))

		require.NoError(t, r.client.HSet(ctx, metaKey(gameID), "last", "3-1").Err())
		r.unchanged(gameID, func() { require.NoError(t, mend()) })
		require.NoError(t, r.client.Del(ctx, logKey(gameID)).Err())
		r.unchanged(gameID, func() { require.NoError(t, mend()) })
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
		r.sound(gameID, last)
		entries, err := r.store.Games.Entries(t.Context(), gameID, last.Version, 1)
		require.NoError(t, err)
		assert.Equal(t, future, entries[0].Time)
	})
}

// Ensure that the scripts are sent again to a Redis server that no longer has them.
func TestAppend_NoScript(t *testing.T) {
	t.Parallel()
	each(t, func(t *testing.T, r *rig) {
		gameID := name("a")
		last := r.create(gameID, 1)
		for range 3 {
			require.NoError(t, r.client.ScriptFlush(t.Context()).Err())
			last = r.play(gameID, last, 2)
		}
		require.NoError(t, r.client.ScriptFlush(t.Context()).Err())
		r.sound(gameID, last)
	})
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
		{fmt.Errorf("wrapped: %w", goredis.ErrNoScript), false},
		{goredis.ErrAutoPipelineQueueFull, false},
		{goredis.ErrClosed, true},
		{goredis.ErrPoolTimeout, true},
		{context.DeadlineExceeded, true},
		{context.Canceled, true},
		{errors.New("connection reset by peer"), true},
	} {
		got := appendError(tt.err)
		assert.Equal(t, tt.unsettled, errors.Is(got, store.ErrUnsettled), "%v", tt.err)
		assert.ErrorIs(t, got, tt.err)
		assert.True(t, store.IsError(got), "%v", tt.err)
	}
}

// Ensure that Tail reports an unreadable last entry or meta.
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

// Ensure that EndsWith returns false if log and meta disagree.
func TestEndsWith_Contradiction(t *testing.T) {
	t.Parallel()
	each(t, func(t *testing.T, r *rig) {
		ctx, gameID := t.Context(), name("a")
		ends := func(last store.ID) bool {
			ends, _, err := r.store.Games.EndsWith(ctx, gameID, last)
			require.NoError(t, err)
			return ends
		}
		first := r.create(gameID, 1)
		last := r.play(gameID, first, 3)
		good := r.content(gameID)
		put := func(meta map[string]string, entries []goredis.XMessage) {
			require.NoError(t, r.client.Del(ctx, metaKey(gameID)).Err())
			if len(meta) > 0 {
				require.NoError(t, r.client.HSet(ctx, metaKey(gameID), meta).Err())
			}
			r.rewrite(gameID, func([]goredis.XMessage) []goredis.XMessage { return entries })
		}
		put(good.meta, good.log[:2])
		assert.False(t, ends(last), "the log was truncated")
		put(nil, good.log)
		assert.False(t, ends(last), "the meta is missing")
		put(map[string]string{"last": first.String()}, good.log)
		assert.False(t, ends(first), "the meta is outdated")
		assert.False(t, ends(last), "the meta is outdated")
		put(good.meta, good.log)
		assert.True(t, ends(last))
	})
}

// Ensure that Entries stops at an unreadable entry, with an error that contains the
// version before it.
func TestEntries_Corrupt(t *testing.T) {
	t.Parallel()
	each(t, func(t *testing.T, r *rig) {
		ctx := t.Context()
		for what, change := range map[string]func(*goredis.XMessage){
			"an invalid time": func(m *goredis.XMessage) { m.Values["t"] = "noon" },
			"no time":         func(m *goredis.XMessage) { delete(m.Values, "t") },
		} {
			gameID := name(what)
			r.create(gameID, 6)
			r.rewrite(gameID, func(log []goredis.XMessage) []goredis.XMessage {
				change(&log[3])
				return log
			})
			records, err := r.store.Games.Entries(ctx, gameID, 2, 10)
			var corrupt *store.CorruptError
			require.ErrorAs(t, err, &corrupt, what)
			assert.EqualValues(t, 3, corrupt.Version, what)
			require.Len(t, records, 2, what)
			assert.EqualValues(t, 3, records[1].ID.Version, what)
		}
		gameID := name("by an operator")
		r.create(gameID, 3)
		require.NoError(t, r.client.XAdd(ctx, &goredis.XAddArgs{Stream: logKey(gameID), Values: []any{"e", "x"}}).Err())
		records, err := r.store.Games.Entries(ctx, gameID, 1, 10)
		var corrupt *store.CorruptError
		require.ErrorAs(t, err, &corrupt)
		assert.EqualValues(t, 3, corrupt.Version)
		assert.Len(t, records, 3)
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

// Ensure that all keys of a game expire.
func TestExpire(t *testing.T) {
	t.Parallel()
	each(t, func(t *testing.T, r *rig) {
		ctx, gameID := t.Context(), name("a")
		r.create(gameID, 1)
		require.NoError(t, r.store.Games.Expire(ctx, time.Now().Add(time.Hour), gameID))
		for _, key := range []string{logKey(gameID), metaKey(gameID)} {
			ttl, err := r.client.TTL(ctx, key).Result()
			require.NoError(t, err)
			assert.InDelta(t, time.Hour.Seconds(), ttl.Seconds(), 60)
		}
		require.NoError(t, r.store.Games.Expire(ctx, time.Now().Add(-time.Second), gameID))
		assert.Equal(t, content{log: []goredis.XMessage{}, meta: map[string]string{}}, r.content(gameID))
	})
}

// Ensure that a server's spectator count expires unless it is renewed.
func TestAudience(t *testing.T) {
	t.Parallel()
	each(t, func(t *testing.T, r *rig) {
		ctx, gameID := t.Context(), name("a")
		key := audienceKey(gameID)
		report := func(server string, count, want int) {
			t.Helper()
			total, err := r.store.Games.Audience(ctx, gameID, server, count)
			require.NoError(t, err)
			require.Equal(t, want, total)
		}
		watchers := func() int {
			t.Helper()
			heads, err := r.store.Games.Heads(ctx, []string{gameID})
			require.NoError(t, err)
			return heads[0].Watchers
		}
		report("one", 3, 3)
		assert.Zero(t, r.client.Exists(ctx, metaKey(gameID)).Val(), "a game that does not exist gets no meta")
		r.create(gameID, 1)
		report("one", 5, 5)

		// One server stopped reporting more than AudienceTTL ago, another one more
		// recently.
		now, err := r.client.Time(ctx).Result()
		require.NoError(t, err)
		ago := func(d time.Duration) string { return "100 " + ms(now.Add(-d))[:10] }
		require.NoError(t, r.client.HSet(ctx, key, "dead", ago(store.AudienceTTL+5*time.Second), "odd", "x").Err())
		require.NoError(t, r.client.HSet(ctx, key, "slow", ago(store.AudienceTTL-15*time.Second)).Err())
		report("one", 5, 105)
		assert.ElementsMatch(t, []string{"one", "slow"}, r.client.HKeys(ctx, key).Val())
		ttl := r.client.TTL(ctx, key).Val()
		assert.True(t, ttl > 0 && ttl <= store.AudienceTTL, "%v", ttl)

		require.NoError(t, r.client.HDel(ctx, key, "slow").Err())
		report("one", 0, 0)
		assert.Zero(t, watchers())
		assert.Zero(t, r.client.Exists(ctx, key).Val())
		require.NoError(t, r.client.HSet(ctx, metaKey(gameID), "watchers", ago(0)).Err())
		tail, err := r.store.Games.Tail(ctx, gameID)
		require.NoError(t, err)
		assert.Zero(t, tail.Watchers, "no server has reported spectators")

		// Expired counts are not included.
		require.NoError(t, r.client.HSet(ctx, metaKey(gameID), "watchers", ago(store.AudienceTTL+5*time.Second)).Err())
		assert.Zero(t, watchers())
	})
}
