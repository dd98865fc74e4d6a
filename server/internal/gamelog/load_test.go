package gamelog

import (
	"errors"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	"github.com/redis/go-redis/v9"
	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/gridstand/gridstand/game/replay"
	redistest "github.com/gridstand/gridstand/internal/testkit/redis"
)

func TestTail(t *testing.T) {
	t.Parallel()
	each(t, func(t *testing.T, r *rig) {
		ctx, gameID := t.Context(), name("a")
		tail, err := r.log.Tail(ctx, gameID)
		require.NoError(t, err)
		assert.Equal(t, Tail{}, tail)
		assert.False(t, tail.Sound())

		first := r.create(gameID, "classic")
		tip := r.play(first, 3)
		tail, err = r.log.Tail(ctx, gameID)
		require.NoError(t, err)
		assert.Equal(t, Tail{Length: 4, Last: tip.ID, Meta: tip.ID}, tail)
		assert.True(t, tail.Sound())

		require.NoError(t, r.client.HSet(ctx, metaKey(gameID), "last", first.ID.String()).Err())
		tail, err = r.log.Tail(ctx, gameID)
		require.NoError(t, err)
		assert.Equal(t, first.ID, tail.Meta)
		assert.False(t, tail.Sound())

		require.NoError(t, r.client.HSet(ctx, metaKey(gameID), "last", "rubbish").Err())
		tail, err = r.log.Tail(ctx, gameID)
		require.NoError(t, err)
		assert.EqualValues(t, -1, tail.Meta.Version)
		assert.False(t, tail.Sound())
	})
}

// Ensure that a log ends with its last entry alone, and with none where log and
// meta do not agree on it.
func TestEndsWith(t *testing.T) {
	t.Parallel()
	each(t, func(t *testing.T, r *rig) {
		ctx, gameID := t.Context(), name("a")
		ends := func(tip Tip) bool {
			ends, _, err := r.log.EndsWith(ctx, gameID, tip.ID)
			require.NoError(t, err)
			return ends
		}
		first := r.create(gameID, "classic")
		assert.True(t, ends(first))
		tip := r.play(first, 3)
		assert.True(t, ends(tip))
		assert.False(t, ends(first), "it went on")

		good := r.content(gameID)
		put := func(meta map[string]string, entries []redis.XMessage) {
			require.NoError(t, r.client.Del(ctx, metaKey(gameID)).Err())
			if len(meta) > 0 {
				require.NoError(t, r.client.HSet(ctx, metaKey(gameID), meta).Err())
			}
			r.rewrite(gameID, func([]redis.XMessage) []redis.XMessage { return entries })
		}
		put(good.meta, good.log[:2])
		assert.False(t, ends(tip), "it was cut")
		put(nil, good.log)
		assert.False(t, ends(tip), "its meta is gone")
		put(map[string]string{"last": first.ID.String()}, good.log)
		assert.False(t, ends(first), "its meta fell behind")
		assert.False(t, ends(tip), "its meta fell behind")
		put(good.meta, good.log)
		assert.True(t, ends(tip))
	})
}

// Ensure that the end of a log that grows meanwhile is that of one moment
// within the call, and sound.
func TestTail_Growing(t *testing.T) {
	t.Parallel()
	each(t, func(t *testing.T, r *rig) {
		ctx, gameID := t.Context(), name("a")
		tip := r.create(gameID, "classic")
		var before atomic.Int32 // the last version that was acknowledged
		before.Store(1)
		const entries = 200
		stop := make(chan struct{})
		var group sync.WaitGroup
		group.Go(func() {
			for after := int32(0); ; {
				select {
				case <-stop:
					return
				default:
				}
				least := max(after, before.Load())
				tail, err := r.log.Tail(ctx, gameID)
				if !assert.NoError(t, err) || !assert.True(t, tail.Sound(), "%+v", tail) ||
					!assert.GreaterOrEqual(t, tail.Last.Version, least) {
					return
				}
				after = tail.Last.Version
			}
		})
		for tip.ID.Version < entries && len(tip.State.LegalMoves()) > 0 {
			tip = r.play(tip, 1)
			before.Store(tip.ID.Version)
		}
		close(stop)
		group.Wait()
		r.sound(tip)
	})
}

// Ensure that a meta that is behind its log, or missing, is corrected by the
// next reader of the game, and never set back.
func TestLoad_Mends(t *testing.T) {
	t.Parallel()
	each(t, func(t *testing.T, r *rig) {
		ctx, gameID := t.Context(), name("a")
		first := r.create(gameID, "classic")
		old := r.content(gameID).meta
		tip := r.play(first, 3)
		require.NoError(t, r.client.HSet(ctx, metaKey(gameID), old).Err())
		_, err := r.log.Load(ctx, gameID, ID{}, 0)
		require.NoError(t, err)
		r.sound(tip)

		require.NoError(t, r.client.Del(ctx, metaKey(gameID)).Err())
		_, err = r.log.Load(ctx, gameID, ID{}, 0)
		require.NoError(t, err)
		r.sound(tip)

		// A correction that comes late has no effect.
		r.unwritten(gameID, func() { require.NoError(t, r.log.Mend(ctx, first)) })
		require.NoError(t, r.client.Del(ctx, logKey(gameID)).Err())
		r.unwritten(gameID, func() { require.NoError(t, r.log.Mend(ctx, tip)) })

		// One that is a single entry long has no other time than its own.
		other := r.create(name("b"), "classic")
		require.NoError(t, r.client.Del(ctx, metaKey(name("b"))).Err())
		require.NoError(t, r.log.Mend(ctx, other))
		r.sound(other)
	})
}

// Ensure that what is not there is not found, and is not mistaken for what was
// lost.
func TestLoad_NotFound(t *testing.T) {
	t.Parallel()
	each(t, func(t *testing.T, r *rig) {
		_, err := r.log.Load(t.Context(), name("a"), ID{}, 64)
		require.ErrorIs(t, err, ErrNotFound)
		_, found, err := r.log.At(t.Context(), name("a"), 1)
		require.NoError(t, err)
		assert.False(t, found)
		heads, err := r.log.Heads(t.Context(), []string{name("a")})
		require.NoError(t, err)
		assert.Equal(t, []Head{{}}, heads)
		heads, err = r.log.Heads(t.Context(), nil)
		require.NoError(t, err)
		assert.Empty(t, heads)
	})
}

// Ensure that logs longer than a page are read whole, and from the middle.
func TestLoad_Long(t *testing.T) {
	if testing.Short() {
		t.Skip("plays long games")
	}
	t.Parallel()
	each(t, func(t *testing.T, r *rig) {
		ctx, gameID := t.Context(), name("a")
		const length = pageSize + 234
		tip := r.play(r.create(gameID, "6x6"), length-1)
		for _, keep := range []int{0, 64, length + 1} {
			h, err := r.log.Load(ctx, gameID, tip.ID, keep)
			require.NoError(t, err)
			equal(t, tip.State, h.Tip.State)
			require.Len(t, h.Events, min(keep, length))
			for i, e := range h.Events {
				require.EqualValues(t, length-len(h.Events)+1+i, e.State.Version)
			}
		}

		for _, after := range []int32{0, 5, pageSize, length - 1, length, length + 1} {
			want := after
			require.NoError(t, r.log.Replay(ctx, gameID, after, func(e *replay.Event) error {
				want++
				require.Equal(t, want, e.State.Version)
				return nil
			}))
			require.Equal(t, want, max(length, after))

			want = after
			require.NoError(t, r.log.Read(ctx, gameID, after+1, func(rec Record) error {
				want++
				require.Equal(t, want, rec.ID.Version)
				return nil
			}))
			require.Equal(t, want, max(length, after))
		}
		// One that ends with a page ends there.
		read := 0
		require.NoError(t, r.log.Read(ctx, gameID, length-pageSize+1, func(Record) error { read++; return nil }))
		assert.Equal(t, pageSize, read)

		enough := errors.New("enough")
		require.ErrorIs(t, r.log.Replay(ctx, gameID, 3, func(*replay.Event) error { return enough }), enough)

		last, err := r.log.Find(ctx, gameID, func(_ int32, e replay.Entry) bool { return e.Seat == 0 })
		require.NoError(t, err)
		equal(t, tip.State, last.State)
		some, err := r.log.Find(ctx, gameID, func(v int32, _ replay.Entry) bool { return v == 7 || v == pageSize+100 })
		require.NoError(t, err)
		assert.EqualValues(t, pageSize+100, some.State.Version)
		none, err := r.log.Find(ctx, gameID, func(int32, replay.Entry) bool { return false })
		require.NoError(t, err)
		assert.Nil(t, none)

		record, found, err := r.log.At(ctx, gameID, pageSize+100)
		require.NoError(t, err)
		require.True(t, found)
		e, err := record.Entry()
		require.NoError(t, err)
		assert.Equal(t, some.Entry, e)
		assert.Equal(t, some.State.UpdateTime, record.Time)
		_, found, err = r.log.At(ctx, gameID, length+1)
		require.NoError(t, err)
		assert.False(t, found)
	})
}

// Ensure that lists show what the last entry led to, and do without what cannot
// be read.
func TestHeads(t *testing.T) {
	t.Parallel()
	each(t, func(t *testing.T, r *rig) {
		ctx := t.Context()
		a := r.play(r.create(name("a"), "classic"), 3)
		b := r.create(name("b"), "twos")
		over := r.append(r.draft(r.play(r.create(name("c"), "3x3"), 3), replay.Entry{Seat: 0, Action: replay.Resigned{}}))
		for _, damaged := range []string{"d", "e", "f"} {
			r.create(name(damaged), "classic")
		}
		require.NoError(t, r.client.HSet(ctx, metaKey(name("d")), "head", "rubbish").Err())
		require.NoError(t, r.client.HSet(ctx, metaKey(name("e")), "time", "yesterday").Err())
		require.NoError(t, r.client.HDel(ctx, metaKey(name("f")), "last").Err())

		heads, err := r.log.Heads(ctx, []string{
			a.State.ID, name("d"), b.State.ID, name("e"), name("nowhere"), name("f"), over.State.ID,
		})
		require.NoError(t, err)
		require.Len(t, heads, 7)
		equal(t, a.State, heads[0].State)
		equal(t, b.State, heads[2].State)
		equal(t, over.State, heads[6].State)
		for _, i := range []int{1, 3, 4, 5} {
			assert.Nil(t, heads[i].State)
		}
	})
}

// Ensure that a game that expires is gone altogether: not found, and not
// damaged.
func TestExpire(t *testing.T) {
	t.Parallel()
	each(t, func(t *testing.T, r *rig) {
		ctx, gameID := t.Context(), name("a")
		r.create(gameID, "classic")
		require.NoError(t, r.log.Expire(ctx, time.Now().Add(time.Hour), gameID))
		for _, key := range []string{logKey(gameID), metaKey(gameID)} {
			ttl, err := r.client.TTL(ctx, key).Result()
			require.NoError(t, err)
			assert.InDelta(t, time.Hour.Seconds(), ttl.Seconds(), 60)
		}
		require.NoError(t, r.log.Expire(ctx, time.Now().Add(-time.Second), gameID))
		_, err := r.log.Load(ctx, gameID, ID{}, 1)
		assert.ErrorIs(t, err, ErrNotFound)
	})
}

// Ensure that watchers are counted over all servers, without those that said
// nothing for too long, and that lists and followers are told.
func TestAudience(t *testing.T) {
	t.Parallel()
	each(t, func(t *testing.T, r *rig) {
		ctx, gameID := t.Context(), name("a")
		key := "game:{" + gameID + "}:audience"
		say := func(server string, count, want int) {
			t.Helper()
			total, err := r.log.Audience(ctx, gameID, server, count)
			require.NoError(t, err)
			require.Equal(t, want, total)
		}
		watchers := func() int {
			t.Helper()
			heads, err := r.log.Heads(ctx, []string{gameID})
			require.NoError(t, err)
			return heads[0].Watchers
		}
		say("one", 3, 3)
		assert.Zero(t, r.client.Exists(ctx, metaKey(gameID)).Val(), "no meta of a game that is none")
		tip := r.create(gameID, "classic")
		say("one", 3, 3)
		assert.Equal(t, 3, watchers())
		say("two", 4, 7)
		say("one", 5, 9)
		assert.Equal(t, 9, watchers())
		d := r.draft(tip, moved(tip.State, 0))
		for _, want := range []int{9, -1} { // The second time nothing is looked up.
			appended, err := r.log.Append(ctx, d)
			require.NoError(t, err)
			assert.Equal(t, want, appended.Watchers)
			tip = appended.Tip
		}
		r.sound(tip)
		assert.Equal(t, 9, watchers(), "a move changes nothing")
		tail, err := r.log.Tail(ctx, gameID)
		require.NoError(t, err)
		assert.Equal(t, 9, tail.Watchers)

		// One server died half a minute ago, one has only just not.
		now, err := r.client.Time(ctx).Result()
		require.NoError(t, err)
		ago := func(d time.Duration) string { return "100 " + ms(now.Add(-d))[:10] }
		require.NoError(t, r.client.HSet(ctx, key, "dead", ago(AudienceTTL+5*time.Second), "odd", "x").Err())
		require.NoError(t, r.client.HSet(ctx, key, "slow", ago(AudienceTTL-15*time.Second)).Err())
		say("one", 5, 109)
		assert.ElementsMatch(t, []string{"one", "two", "slow"}, r.client.HKeys(ctx, key).Val())
		ttl := r.client.TTL(ctx, key).Val()
		assert.True(t, ttl > 0 && ttl <= AudienceTTL, "%v", ttl)

		require.NoError(t, r.client.HDel(ctx, key, "slow").Err())
		say("two", 0, 5)
		say("one", 0, 0)
		assert.Zero(t, watchers())
		assert.Zero(t, r.client.Exists(ctx, key).Val())
		require.NoError(t, r.client.HSet(ctx, metaKey(gameID), "watchers", ago(0)).Err())
		tail, err = r.log.Tail(ctx, gameID)
		require.NoError(t, err)
		assert.Zero(t, tail.Watchers, "nobody spoke of any lately")

		// Counts that were not renewed are not shown.
		require.NoError(t, r.client.HSet(ctx, metaKey(gameID), "watchers", ago(AudienceTTL+5*time.Second)).Err())
		assert.Zero(t, watchers())
	})
}

// Ensure that everything here runs on a cluster, where no script may touch two
// slots.
func TestCluster(t *testing.T) {
	t.Parallel()
	client := redistest.StartCluster(t, 1).Client()
	options := client.(*redis.ClusterClient).Options()
	appends := redis.NewClusterClient(&redis.ClusterOptions{Addrs: options.Addrs, MaxRedirects: -1})
	t.Cleanup(func() { assert.NoError(t, appends.Close()) })
	l, err := New(appends, client)
	require.NoError(t, err)
	r := &rig{t: t, client: client, log: l}
	a := r.play(r.create(name("a"), "classic"), 20)
	b := r.play(r.create(name("b"), "twos"), 20)
	r.sound(a)
	r.sound(b)
	total, err := l.Audience(t.Context(), name("a"), "one", 3)
	require.NoError(t, err)
	assert.Equal(t, 3, total)
	require.NoError(t, l.Mend(t.Context(), a))
	heads, err := l.Heads(t.Context(), []string{name("a"), name("b"), name("c")})
	require.NoError(t, err)
	assert.Equal(t, 3, heads[0].Watchers)
	equal(t, b.State, heads[1].State)
	require.NoError(t, l.Expire(t.Context(), time.Now().Add(time.Hour), name("a")))

	f := follow(t, client)
	heard := newHearer()
	f.Follow(name("a"), heard)
	heard.expect(t, "listening")
	r.play(a, 1)
	heard.expect(t, "version 22")
}
