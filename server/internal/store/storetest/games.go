package storetest

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"sync"
	"testing"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/gridstand/gridstand/server/internal/store"
)

// games are the Games of a test.
type games struct {
	store.Games
	t *testing.T
	s *store.Store
}

func newGames(t *testing.T, open Open) games {
	t.Helper()
	s := open(t)
	return games{s.Games, t, s}
}

// entryAfter returns an entry that follows prev, of which there are as many as
// varieties.
func entryAfter(prev store.ID, variety uint64) store.Entry {
	// Digests use all their bits.
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

// begin is what entryAfter takes for the first entry of a game.
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

// holds requires that a game has these entries and no others, and a head of the last.
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
	ends, n, err := g.EndsWith(ctx, gameID, last.ID)
	require.NoError(g.t, err)
	require.True(g.t, ends)
	require.Equal(g.t, watchers, n)
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

func (g games) head(gameID string) store.Head {
	g.t.Helper()
	heads, err := g.Heads(g.t.Context(), []string{gameID})
	require.NoError(g.t, err)
	require.Len(g.t, heads, 1)
	return heads[0]
}

// absent requires that there is nothing of a game.
func (g games) absent(gameID string) {
	g.t.Helper()
	tail, err := g.Tail(g.t.Context(), gameID)
	require.NoError(g.t, err)
	tail.Watchers = 0 // some may wait for the game
	require.Equal(g.t, store.Tail{}, tail)
	got, err := g.Entries(g.t.Context(), gameID, 1, 10)
	require.NoError(g.t, err)
	require.Empty(g.t, got)
	require.Equal(g.t, store.Head{}, g.head(gameID))
	require.NotContains(g.t, g.visited(g.IDs), gameID)
}

// visited returns the ids that a walk visits, each once.
func (g games) visited(walk func(context.Context, func([]string) error) error) []string {
	g.t.Helper()
	var ids []string
	require.NoError(g.t, walk(g.t.Context(), func(some []string) error {
		ids = append(ids, some...)
		return nil
	}))
	slices.Sort(ids)
	return slices.Compact(ids)
}

// Games is the contract of store.Games.
func Games(t *testing.T, open Open) {
	t.Run("appends entries", func(t *testing.T) {
		g := newGames(t, open)
		ctx := t.Context()
		require.NoError(t, g.Ready(ctx))
		g.absent("a")
		began, err := g.s.Time(ctx)
		require.NoError(t, err)
		var want []store.Record
		for n := range 5 {
			want = append(want, g.create("a"+fmt.Sprint(n), 1)...)
		}
		for n, first := range want {
			g.holds("a"+fmt.Sprint(n), []store.Record{first}, 0)
		}
		records := g.create("b", 12)
		g.holds("b", records, 0)
		ended, err := g.s.Time(ctx)
		require.NoError(t, err)
		before := began.Truncate(time.Millisecond)
		for _, r := range records {
			assert.WithinRange(t, r.Time, before, ended)
			assert.Equal(t, r.Time.Truncate(time.Millisecond), r.Time)
			before = r.Time
		}
		ends, _, err := g.EndsWith(ctx, "b", records[3].ID)
		require.NoError(t, err)
		assert.False(t, ends, "it went on")
		ends, _, err = g.EndsWith(ctx, "nothing", records[3].ID)
		require.NoError(t, err)
		assert.False(t, ends)
		require.NoError(t, g.Ready(ctx))
		g.holds("b", records, 0)
	})
	t.Run("refuses what does not follow", func(t *testing.T) {
		g := newGames(t, open)
		refused := func(gameID string, e store.Entry) *store.ConflictError {
			t.Helper()
			_, err := g.Append(t.Context(), gameID, e)
			var conflict *store.ConflictError
			require.ErrorAs(t, err, &conflict)
			return conflict
		}
		records := g.create("a", 6)
		late := entryAfter(records[2].ID, 1)
		conflict := refused("a", late)
		assert.Equal(t, records[5].ID, conflict.Last)
		require.NotNil(t, conflict.Standing)
		g.same(records[3:4], []store.Record{*conflict.Standing})
		// A game that exists is not created again.
		conflict = refused("a", entryAfter(begin("b"), 0))
		require.NotNil(t, conflict.Standing)
		g.same(records[:1], []store.Record{*conflict.Standing})
		// Same version, another history.
		other := records[5].ID
		other.Digest++
		conflict = refused("a", entryAfter(other, 0))
		assert.Equal(t, &store.ConflictError{Last: records[5].ID}, conflict)
		// Nor is something appended to what does not exist, or is not there yet.
		assert.Equal(t, &store.ConflictError{}, refused("b", late))
		conflict = refused("a", entryAfter(store.ID{Version: 9, Digest: 1}, 0))
		assert.Equal(t, &store.ConflictError{Last: records[5].ID}, conflict)
		g.holds("a", records, 0)
		g.absent("b")
	})
	t.Run("appends an entry once", func(t *testing.T) {
		g := newGames(t, open)
		first := entryAfter(begin("a"), 0)
		second := entryAfter(first.Next, 0)
		created, moved := g.add("a", first), g.add("a", second)
		assert.Equal(t, 0, moved.Watchers)
		for range 2 {
			again := g.add("a", second)
			assert.Equal(t, moved.Time, again.Time)
			assert.Equal(t, -1, again.Watchers)
			// Also when others follow, and too late for it.
			first.NotAfter = created.Time.Add(-time.Hour)
			assert.Equal(t, created.Time, g.add("a", first).Time)
		}
		g.holds("a", []store.Record{
			{ID: first.Next, Time: created.Time, Raw: first.Raw, Seed: first.Seed}, {ID: second.Next, Time: moved.Time, Raw: second.Raw},
		}, 0)
	})
	t.Run("keeps to the bounds of an entry's time", func(t *testing.T) {
		g := newGames(t, open)
		records := g.create("a", 2)
		last := records[1]
		for _, tt := range []struct {
			notBefore, notAfter time.Duration
			want                error
		}{
			{time.Hour, 0, store.ErrTooEarly},
			{time.Hour, 2 * time.Hour, store.ErrTooEarly},
			{0, -time.Millisecond, store.ErrTooLate},
			{-time.Hour, -time.Minute, store.ErrTooLate},
			{-time.Hour, 0, nil},
			{0, time.Hour, nil},
			{-time.Minute, time.Minute, nil},
		} {
			e := entryAfter(last.ID, 0)
			if tt.notBefore != 0 {
				e.NotBefore = last.Time.Add(tt.notBefore)
			}
			if tt.notAfter != 0 {
				e.NotAfter = last.Time.Add(tt.notAfter)
			}
			appended, err := g.Append(t.Context(), "a", e)
			if tt.want != nil {
				require.ErrorIs(t, err, tt.want, "%+v", tt)
				require.False(t, store.IsError(err), "%+v", tt)
				continue
			}
			require.NoError(t, err)
			last = store.Record{ID: e.Next, Time: appended.Time, Raw: e.Raw}
			records = append(records, last)
		}
		g.holds("a", records, 0)
		// The first entry has bounds, too.
		first := entryAfter(begin("b"), 0)
		first.NotAfter = last.Time.Add(-time.Hour)
		_, err := g.Append(t.Context(), "b", first)
		require.ErrorIs(t, err, store.ErrTooLate)
		g.absent("b")
		first.NotAfter = last.Time.Add(time.Hour)
		appended := g.add("b", first)
		g.holds("b", []store.Record{{ID: first.Next, Time: appended.Time, Raw: first.Raw, Seed: first.Seed}}, 0)
	})
	t.Run("does what follows in the same transaction", func(t *testing.T) {
		g := newGames(t, open)
		ctx := t.Context()
		records := g.create("a", 1)
		calls := 0
		var at time.Time
		var refusal error
		e := entryAfter(records[0].ID, 0)
		e.Then = func(ctx context.Context, time time.Time) error {
			calls, at = calls+1, time
			if err := g.s.Queue.Set(ctx, "a", time); err != nil {
				return err
			}
			return refusal
		}
		jobs := func() []string {
			ids, err := g.s.Queue.Due(ctx, -time.Minute, time.Minute, 10)
			require.NoError(t, err)
			return ids
		}
		if !g.s.Transactional() {
			assert.False(t, g.add("a", e).Then)
			assert.Zero(t, calls)
			return
		}
		refusal = errors.New("no")
		_, err := g.Append(ctx, "a", e)
		require.ErrorIs(t, err, refusal)
		g.holds("a", records, 0)
		assert.Empty(t, jobs())

		refusal = nil
		appended := g.add("a", e)
		assert.True(t, appended.Then)
		assert.Equal(t, appended.Time, at)
		assert.Equal(t, 2, calls)
		assert.Equal(t, []string{"a"}, jobs())
		assert.True(t, g.add("a", e).Then, "when it was appended")
		assert.Equal(t, 2, calls)
		late := entryAfter(records[0].ID, 1)
		late.Then = e.Then
		_, err = g.Append(ctx, "a", late)
		require.ErrorAs(t, err, new(*store.ConflictError))
		assert.Equal(t, 2, calls)
		g.holds("a", append(records, store.Record{ID: e.Next, Time: appended.Time, Raw: e.Raw}), 0)
	})
	t.Run("settles an append whose caller left", func(t *testing.T) {
		g := newGames(t, open)
		records := g.create("a", 1)
		for i := range 20 {
			ctx, cancel := context.WithCancel(t.Context())
			e := entryAfter(records[len(records)-1].ID, 0)
			group := sync.WaitGroup{}
			if i%2 == 0 {
				cancel()
			} else {
				group.Go(cancel)
			}
			first, err := g.Append(ctx, "a", e)
			group.Wait()
			cancel()
			if err != nil {
				require.True(t, store.IsError(err), "%v", err)
			}
			again := g.add("a", e)
			if err == nil {
				require.Equal(t, first.Time, again.Time)
			}
			records = append(records, store.Record{ID: e.Next, Time: again.Time, Raw: e.Raw})
		}
		g.holds("a", records, 0)
	})
	t.Run("lets one of many win", func(t *testing.T) {
		g := newGames(t, open)
		records := g.create("a", 1)
		on := []store.Games{g.s.Games, g.s.Background.Games}
		for round := range 20 {
			last, same := records[len(records)-1].ID, round%2 == 0
			const callers = 8
			var group sync.WaitGroup
			results, errs := make([]store.Appended, callers), make([]error, callers)
			entries := make([]store.Entry, callers)
			for i := range callers {
				if entries[i] = entryAfter(last, uint64(i)); same {
					entries[i] = entryAfter(last, 0)
				}
				group.Go(func() { results[i], errs[i] = on[i%2].Append(t.Context(), "a", entries[i]) })
			}
			group.Wait()
			tail, err := g.Tail(t.Context(), "a")
			require.NoError(t, err)
			require.Equal(t, last.Version+1, tail.Last.Version)
			var won *store.Record
			for i, err := range errs {
				var conflict *store.ConflictError
				switch {
				case err == nil:
					require.Equal(t, tail.Last, entries[i].Next)
					if won != nil {
						require.Equal(t, won.Time, results[i].Time)
					}
					won = &store.Record{ID: entries[i].Next, Time: results[i].Time, Raw: entries[i].Raw}
				case same:
					require.NoError(t, err)
				default:
					require.ErrorAs(t, err, &conflict)
					require.Equal(t, tail.Last, conflict.Last)
					require.Equal(t, tail.Last, conflict.Standing.ID)
				}
			}
			require.NotNil(t, won)
			records = append(records, *won)
		}
		g.holds("a", records, 0)
	})
	t.Run("reads a log that grows at one moment", func(t *testing.T) {
		g := newGames(t, open)
		first := g.create("a", 1)
		const entries = 100
		stop, done := make(chan struct{}), make(chan struct{})
		go func() {
			defer close(done)
			for seen := int32(0); ; {
				select {
				case <-stop:
					return
				default:
				}
				tail, err := g.Tail(t.Context(), "a")
				if !assert.NoError(t, err) || !assert.True(t, tail.Sound(), "%+v", tail) ||
					!assert.GreaterOrEqual(t, tail.Last.Version, seen) {
					return
				}
				seen = tail.Last.Version
			}
		}()
		last := first[0].ID
		for range entries {
			e := entryAfter(last, 0)
			g.add("a", e)
			last = e.Next
		}
		close(stop)
		<-done
	})
	t.Run("reads entries in pages", func(t *testing.T) {
		g := newGames(t, open)
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
		g := newGames(t, open)
		heads, err := g.Heads(t.Context(), nil)
		require.NoError(t, err)
		assert.Empty(t, heads)
		a, b := g.create("a", 3), g.create("b", 1)
		heads, err = g.Heads(t.Context(), []string{"b", "nothing", "a", "b"})
		require.NoError(t, err)
		require.Len(t, heads, 4)
		assert.Equal(t, store.Head{}, heads[1])
		for i, want := range map[int]store.Record{0: b[0], 2: a[2], 3: b[0]} {
			assert.Equal(t, want.ID, heads[i].Last)
			assert.Equal(t, want.Time, heads[i].Time)
		}
	})
	t.Run("mends no head that is right", func(t *testing.T) {
		g := newGames(t, open)
		ctx := t.Context()
		records := g.create("a", 3)
		require.NoError(t, g.Mend(ctx, "a", records[1].ID, records[1].Time, []byte("old")))
		g.holds("a", records, 0)
		last := records[2]
		require.NoError(t, g.Mend(ctx, "a", last.ID, last.Time, fmt.Appendf(nil, "head\xff %s", last.ID)))
		g.holds("a", records, 0)
		require.NoError(t, g.Mend(ctx, "b", records[1].ID, records[1].Time, []byte("head")))
		g.absent("b")
	})
	t.Run("expires games", func(t *testing.T) {
		g := newGames(t, open)
		ctx := t.Context()
		now, err := g.s.Time(ctx)
		require.NoError(t, err)
		require.NoError(t, g.Expire(ctx, now))
		a := g.create("a", 3)
		g.create("b", 3)
		g.create("c", 3)
		require.NoError(t, g.Expire(ctx, now.Add(time.Hour), "a", "b", "nothing"))
		g.holds("a", a, 0)
		require.NoError(t, g.Expire(ctx, now.Add(-time.Second), "c", "b"))
		g.holds("a", a, 0)
		g.absent("b")
		g.absent("c")
		g.absent("nothing")
		assert.Equal(t, []string{"a"}, g.visited(g.IDs))
		// The ID is free again, without anything of the old game.
		g.holds("b", g.create("b", 1), 0)
	})
	t.Run("quarantines games", func(t *testing.T) {
		g := newGames(t, open)
		ctx := t.Context()
		records := g.create("a", 3)
		last := records[2].ID
		require.ErrorIs(t, g.Quarantine(ctx, "a", records[1].ID, time.Hour), store.ErrMoved)
		require.ErrorIs(t, g.Quarantine(ctx, "a", store.ID{}, time.Hour), store.ErrMoved)
		require.ErrorIs(t, g.Quarantine(ctx, "b", last, time.Hour), store.ErrMoved)
		g.holds("a", records, 0)
		g.absent("b")
		refused := func(gameID string, e store.Entry) {
			t.Helper()
			_, err := g.Append(ctx, gameID, e)
			require.ErrorIs(t, err, store.ErrBroken)
		}
		for range 2 {
			require.NoError(t, g.Quarantine(ctx, "a", last, time.Hour))
			require.NoError(t, g.Quarantine(ctx, "b", store.ID{}, time.Hour))
			refused("a", entryAfter(last, 0))
			refused("b", entryAfter(begin("b"), 0))
			require.NoError(t, g.Mend(ctx, "a", last, records[2].Time, []byte("head")))
		}
		tail, err := g.Tail(ctx, "a")
		require.NoError(t, err)
		assert.Equal(t, store.Tail{Length: 3, Last: last, Head: store.Quarantined}, tail)
		tail, err = g.Tail(ctx, "b")
		require.NoError(t, err)
		assert.Equal(t, store.Tail{Head: store.Quarantined}, tail)
		assert.Equal(t, store.Quarantined, g.head("a").Last)
		assert.True(t, g.head("b").Exists)
		ends, _, err := g.EndsWith(ctx, "a", last)
		require.NoError(t, err)
		assert.False(t, ends)
		got, err := g.Entries(ctx, "a", 1, 10)
		require.NoError(t, err)
		g.same(records, got)
		// What was appended before stands there.
		assert.Equal(t, records[2].Time, g.add("a", entryAfter(records[1].ID, 0)).Time)
	})
	t.Run("walks through all games", func(t *testing.T) {
		g := newGames(t, open)
		assert.Empty(t, g.visited(g.IDs))
		var want []string
		for i := range 60 {
			want = append(want, fmt.Sprintf("game%02d", i))
			g.create(want[i], 1)
		}
		assert.Equal(t, want, g.visited(g.IDs))
		assert.Subset(t, want, g.visited(g.IDsAtRisk))
		enough := errors.New("enough")
		assert.ErrorIs(t, g.IDs(t.Context(), func([]string) error { return enough }), enough)
	})
	t.Run("counts the audience", func(t *testing.T) {
		g := newGames(t, open)
		report := func(server string, count, want int) {
			t.Helper()
			total, err := g.Audience(t.Context(), "a", server, count)
			require.NoError(t, err)
			require.Equal(t, want, total)
		}
		report("one", 3, 3)
		g.absent("a")
		records := g.create("a", 1)
		report("one", 3, 3)
		g.holds("a", records, 3)
		report("two", 4, 7)
		report("one", 5, 9)
		g.holds("a", records, 9)
		e := entryAfter(records[0].ID, 0)
		appended := g.add("a", e)
		assert.Equal(t, 9, appended.Watchers)
		assert.Equal(t, -1, g.add("a", e).Watchers)
		records = append(records, store.Record{ID: e.Next, Time: appended.Time, Raw: e.Raw})
		g.holds("a", records, 9)
		report("one", 0, 4)
		report("one", 0, 4)
		report("two", 0, 0)
		g.holds("a", records, 0)
	})
}

// GamesExpire is the part of the contract of store.Games that needs time to pass.
func GamesExpire(t *testing.T, open OpenClock) {
	start := func(t *testing.T) (games, func(time.Duration)) {
		s, forward := open(t)
		return games{s.Games, t, s}, forward
	}
	t.Run("games expire in time", func(t *testing.T) {
		g, forward := start(t)
		ctx := t.Context()
		now, err := g.s.Time(ctx)
		require.NoError(t, err)
		g.create("a", 2)
		kept := g.create("b", 2)
		quarantined := g.create("c", 2)
		require.NoError(t, g.Expire(ctx, now.Add(time.Hour), "a"))
		require.NoError(t, g.Quarantine(ctx, "c", quarantined[1].ID, time.Hour))
		require.NoError(t, g.Quarantine(ctx, "d", store.ID{}, time.Hour))
		forward(30 * time.Minute)
		assert.True(t, g.head("a").Exists)
		assert.True(t, g.head("c").Exists)
		forward(31 * time.Minute)
		g.absent("a")
		g.absent("c")
		g.absent("d")
		g.holds("b", kept, 0)
		assert.Equal(t, []string{"b"}, g.visited(g.IDs))
	})
	t.Run("too early becomes too late", func(t *testing.T) {
		g, forward := start(t)
		last := g.create("a", 1)[0]
		e := entryAfter(last.ID, 0)
		e.NotBefore, e.NotAfter = last.Time.Add(time.Hour), last.Time.Add(2*time.Hour)
		_, err := g.Append(t.Context(), "a", e)
		require.ErrorIs(t, err, store.ErrTooEarly)
		forward(90 * time.Minute)
		appended := g.add("a", e)
		assert.WithinRange(t, appended.Time, e.NotBefore, e.NotAfter)
		forward(time.Hour)
		assert.Equal(t, appended.Time, g.add("a", e).Time)
		next := entryAfter(e.Next, 0)
		next.NotAfter = e.NotAfter
		_, err = g.Append(t.Context(), "a", next)
		require.ErrorIs(t, err, store.ErrTooLate)
	})
	t.Run("reports of watchers expire", func(t *testing.T) {
		g, forward := start(t)
		ctx := t.Context()
		records := g.create("a", 1)
		_, err := g.Audience(ctx, "a", "one", 3)
		require.NoError(t, err)
		forward(store.AudienceTTL - 5*time.Second)
		total, err := g.Audience(ctx, "a", "two", 4)
		require.NoError(t, err)
		assert.Equal(t, 7, total)
		g.holds("a", records, 7)
		forward(10 * time.Second)
		total, err = g.Audience(ctx, "a", "two", 4)
		require.NoError(t, err)
		assert.Equal(t, 4, total)
		forward(store.AudienceTTL + 5*time.Second)
		g.holds("a", records, 0)
	})
}
