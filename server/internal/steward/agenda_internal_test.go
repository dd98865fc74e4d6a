package steward

import (
	"errors"
	"slices"
	"strconv"
	"sync"
	"testing"
	"time"

	"github.com/redis/go-redis/v9"
	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	redistest "github.com/gridstand/gridstand/internal/testkit/redis"
)

// list is an agenda on a Redis of a test, with what is due by how many
// milliseconds from the test's beginning.
type list struct {
	agenda
	t     *testing.T
	began time.Time
}

func newList(t *testing.T, client redis.UniversalClient, due map[string]time.Duration) list {
	t.Helper()
	began, err := client.Time(t.Context()).Result()
	require.NoError(t, err)
	l := list{agenda: agenda{client, client}, t: t, began: began.Truncate(time.Millisecond)}
	for id, in := range due {
		require.NoError(t, l.at(t.Context(), id, l.began.Add(in)))
	}
	return l
}

// in is when somebody must look at a game, from the test's beginning on; ok is
// false for never.
func (l list) in(id string) (d time.Duration, ok bool) {
	l.t.Helper()
	score, err := l.client.ZScore(l.t.Context(), dueKey, id).Result()
	if errors.Is(err, redis.Nil) {
		return 0, false
	}
	require.NoError(l.t, err)
	return time.UnixMilli(int64(score)).Sub(l.began), true
}

// about requires that a game is due at a moment, or up to a while later: the
// test took that long to come there.
func (l list) about(id string, want time.Duration) {
	l.t.Helper()
	got, ok := l.in(id)
	require.True(l.t, ok, "%s is not on the list", id)
	assert.GreaterOrEqual(l.t, got, want, id)
	assert.Less(l.t, got, want+time.Minute, id)
}

// Ensure whatever notes a game moves it only as it says.
func TestAgenda_Note(t *testing.T) {
	t.Parallel()
	const early, middle, late = time.Hour, 2 * time.Hour, 3 * time.Hour
	for name, c := range map[string]struct {
		note func(t *testing.T, l list, id string) error
		want time.Duration // for what was noted for earlier
	}{
		// As if it were claimed.
		"soon": {func(t *testing.T, l list, id string) error { return l.soon(t.Context(), id, middle) }, early - time.Millisecond},
		"by":   {func(t *testing.T, l list, id string) error { return l.by(t.Context(), id, l.began.Add(middle)) }, early},
		"at":   {func(t *testing.T, l list, id string) error { return l.at(t.Context(), id, l.began.Add(middle)) }, middle},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			redistest.Each(t, func(t *testing.T, client redis.UniversalClient) {
				l := newList(t, client, map[string]time.Duration{"early": early, "late": late})
				for _, id := range []string{"early", "late", "new"} {
					require.NoError(t, c.note(t, l, id))
				}
				l.about("late", middle)
				l.about("new", middle)
				l.about("early", c.want)
			})
		})
	}
}

// Ensure now makes games due that were noted for later, claimed, or not at all,
// and that a game which is taken off is due no more.
func TestAgenda_Now(t *testing.T) {
	t.Parallel()
	redistest.Each(t, func(t *testing.T, client redis.UniversalClient) {
		l := newList(t, client, map[string]time.Duration{"claimed": -time.Hour, "later": time.Hour, "gone": -time.Hour})
		require.NoError(t, l.remove(t.Context(), "gone"))
		require.NoError(t, l.remove(t.Context(), "gone"))
		ids, _, err := l.claim(t.Context(), 10, time.Hour)
		require.NoError(t, err)
		require.Equal(t, []string{"claimed"}, ids)
		require.NoError(t, l.now(t.Context()))
		require.NoError(t, l.now(t.Context(), "claimed", "later", "new"))
		ids, _, err = l.claim(t.Context(), 10, time.Hour)
		require.NoError(t, err)
		assert.ElementsMatch(t, []string{"claimed", "later", "new"}, ids)
	})
}

// Ensure what is due is claimed, the longest due first, as much as is asked for,
// once, and again after the claim.
func TestAgenda_Claim(t *testing.T) {
	t.Parallel()
	redistest.Each(t, func(t *testing.T, client redis.UniversalClient) {
		ctx := t.Context()
		l := newList(t, client, map[string]time.Duration{"c": -time.Second, "a": -time.Hour, "b": -time.Minute, "later": time.Hour})
		ids, until, err := l.claim(ctx, 2, time.Hour)
		require.NoError(t, err)
		assert.Equal(t, []string{"a", "b"}, ids)
		l.about("a", time.Hour)
		got, _ := l.in("b")
		assert.Equal(t, until, l.began.Add(got))
		l.about("later", time.Hour)

		ids, _, err = l.claim(ctx, 2, -time.Second)
		require.NoError(t, err)
		assert.Equal(t, []string{"c"}, ids)
		ids, _, err = l.claim(ctx, 2, time.Hour)
		require.NoError(t, err)
		assert.Equal(t, []string{"c"}, ids, "its claim has passed")
		ids, until, err = l.claim(ctx, 2, time.Hour)
		require.NoError(t, err)
		assert.Empty(t, ids)
		assert.True(t, until.After(l.began))
	})
}

// Ensure servers that claim at once never get the same game.
func TestAgenda_ClaimAtOnce(t *testing.T) {
	t.Parallel()
	redistest.Each(t, func(t *testing.T, client redis.UniversalClient) {
		due := map[string]time.Duration{}
		var want []string
		for n := range 100 {
			id := strconv.Itoa(n)
			due[id], want = -time.Minute, append(want, id)
		}
		l := newList(t, client, due)
		var group sync.WaitGroup
		var mu sync.Mutex
		var claimed []string
		for range 8 {
			group.Go(func() {
				for {
					ids, _, err := l.claim(t.Context(), 7, time.Hour)
					if !assert.NoError(t, err) || len(ids) == 0 {
						return
					}
					mu.Lock()
					claimed = append(claimed, ids...)
					mu.Unlock()
				}
			})
		}
		group.Wait()
		slices.Sort(want)
		slices.Sort(claimed)
		assert.Equal(t, want, claimed)
	})
}

// Ensure the end of a claim sets or removes what it claimed, and leaves alone
// what was noted or claimed meanwhile.
func TestAgenda_Settle(t *testing.T) {
	t.Parallel()
	for name, c := range map[string]struct {
		meanwhile func(t *testing.T, l list, id string)
		next      time.Duration // from the beginning, 0 for never
		want      time.Duration // where it is on the list then
		gone      bool
	}{
		"next":               {next: 2 * time.Hour, want: 2 * time.Hour},
		"earlier":            {next: -time.Hour, want: -time.Hour},
		"never":              {gone: true},
		"noted meanwhile":    {meanwhile: noteSooner, next: 2 * time.Hour, want: time.Minute},
		"noted, never":       {meanwhile: noteSooner, want: time.Minute},
		"noted as soon":      {meanwhile: noteSoon, next: 2 * time.Hour, want: time.Hour - time.Millisecond},
		"noted, never again": {meanwhile: noteSoon, want: time.Hour - time.Millisecond},
		"claimed again":      {meanwhile: claimAgain, next: 2 * time.Hour, want: 5 * time.Hour},
		"taken off":          {meanwhile: takeOff, next: 2 * time.Hour, gone: true},
		"taken off for good": {meanwhile: takeOff, gone: true},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			redistest.Each(t, func(t *testing.T, client redis.UniversalClient) {
				ctx := t.Context()
				l := newList(t, client, map[string]time.Duration{"g": -time.Second, "other": time.Hour})
				ids, until, err := l.claim(ctx, 1, time.Hour)
				require.NoError(t, err)
				require.Equal(t, []string{"g"}, ids)
				if c.meanwhile != nil {
					c.meanwhile(t, l, "g")
				}
				var next time.Time
				if c.next != 0 {
					next = l.began.Add(c.next)
				}
				require.NoError(t, l.settle(ctx, "g", until, next))
				l.about("other", time.Hour)
				if c.gone {
					_, ok := l.in("g")
					assert.False(t, ok)
					return
				}
				l.about("g", c.want)
			})
		})
	}
}

func noteSooner(t *testing.T, l list, id string) {
	require.NoError(t, l.by(t.Context(), id, l.began.Add(time.Minute)))
}

// noteSoon is what a server does before it appends: for as long as a claim takes.
func noteSoon(t *testing.T, l list, id string) {
	require.NoError(t, l.soon(t.Context(), id, time.Hour))
}

// claimAgain is what another server does when a claim has passed.
func claimAgain(t *testing.T, l list, id string) {
	require.NoError(t, l.at(t.Context(), id, l.began.Add(-time.Second)))
	ids, _, err := l.claim(t.Context(), 1, 5*time.Hour)
	require.NoError(t, err)
	require.Equal(t, []string{id}, ids)
}

func takeOff(t *testing.T, l list, id string) { require.NoError(t, l.remove(t.Context(), id)) }

// Ensure games whose claim nobody heard of are found, and no others.
func TestAgenda_Claimed(t *testing.T) {
	t.Parallel()
	redistest.Each(t, func(t *testing.T, client redis.UniversalClient) {
		ctx, a := t.Context(), agenda{client, client}
		require.NoError(t, a.now(ctx, "game"))
		require.NoError(t, a.soon(ctx, "later", time.Minute))
		require.NoError(t, a.soon(ctx, "sooner", time.Second))
		_, _, err := a.claim(ctx, 1, 30*time.Second)
		require.NoError(t, err)
		ids, err := a.claimed(ctx, 20*time.Second, 30*time.Second)
		require.NoError(t, err)
		assert.Equal(t, []string{"game"}, ids)
	})
}
