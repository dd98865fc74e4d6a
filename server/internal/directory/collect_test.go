package directory

import (
	"context"
	"errors"
	"testing"
	"testing/synctest"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/gridstand/gridstand/server/internal/store"
)

// load is what Collect calls to look up candidates.
type load = func(_ context.Context, candidates []store.Place) (map[string]int, error)

// only returns a load function that finds the given games.
func only(numbers ...int) load {
	found := map[string]int{}
	for _, n := range numbers {
		found[game(n)] = n
	}
	return func(context.Context, []store.Place) (map[string]int, error) { return found, nil }
}

// collectAll reads a list page by page, and returns all its games. Each page but the last must be full.
func collectAll(t *testing.T, d *Directory, size int, load load) (got []int) {
	t.Helper()
	for token := ""; ; {
		items, next, err := Collect(t.Context(), d, &Shared[int]{}, store.List{}, "", token, size, load)
		require.NoError(t, err)
		got = append(got, items...)
		if token = next; token == "" {
			return got
		}
		require.Len(t, items, size)
	}
}

// Ensure that pages are full however many candidates are omitted, and that the last page has
// no token.
func TestCollect(t *testing.T) {
	t.Parallel()
	d, _ := open(20)
	for name, want := range map[string][]int{
		"all":         {19, 18, 17, 16, 15, 14, 13, 12, 11, 10, 9, 8, 7, 6, 5, 4, 3, 2, 1, 0},
		"none":        nil,
		"some":        {19, 16, 13, 10, 7, 4, 1},
		"the oldest":  {3, 2, 1, 0},
		"the latest":  {19, 18, 17, 16},
		"just a page": {19, 18, 17},
	} {
		assert.Equal(t, want, collectAll(t, d, 3, only(want...)), name)
	}
	failure := errors.New("no head")
	_, _, err := Collect(t.Context(), d, &Shared[int]{}, store.List{}, "", "", 3, func(context.Context, []store.Place) (map[string]int, error) { return nil, failure })
	require.ErrorIs(t, err, failure)
	items, _, err := Collect(t.Context(), d, &Shared[int]{}, store.List{PlayerID: "malformed"}, "", "", 3, only(1))
	require.NoError(t, err)
	assert.Empty(t, items)
}

// Ensure that one call looks up a limited number of candidates, in few round trips, and that
// the next call continues from there. With only two games per lookup, a page of one game could take up
// to 1,000 round trips.
func TestCollect_GivesUp(t *testing.T) {
	t.Parallel()
	d, _ := open(maxScanned + 300)
	calls, candidates := 0, 0
	load := func(_ context.Context, some []store.Place) (map[string]int, error) {
		calls, candidates = calls+1, candidates+len(some)
		return map[string]int{game(0): 0}, nil
	}
	items, token, err := Collect(t.Context(), d, &Shared[int]{}, store.List{}, "", "", 1, load)
	require.NoError(t, err)
	assert.Empty(t, items)
	assert.Less(t, candidates, maxScanned+chunk)
	assert.LessOrEqual(t, calls, 1+maxScanned/chunk)
	require.NotEmpty(t, token)
	items, token, err = Collect(t.Context(), d, &Shared[int]{}, store.List{}, "", token, 1, load)
	require.NoError(t, err)
	assert.Equal(t, []int{0}, items)
	assert.Equal(t, maxScanned+300, candidates)
	assert.Empty(t, token)
}

// Ensure that a page of a public list is read once however many callers request it and with which
// size, that the pages after it follow on, that a new game appears in it at once, and that it is read
// again after a second, but not because a listing was written once more.
func TestCollect_Shared(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		d, _ := open(60)
		shared, loads := &Shared[int]{}, 0
		load := func(_ context.Context, candidates []store.Place) (map[string]int, error) {
			loads++
			found := map[string]int{}
			for n := range 61 {
				found[game(n)] = n
			}
			return found, nil
		}
		read := func(l store.List, caller, token string, size, first, last, wantLoads int) string {
			t.Helper()
			items, next, err := Collect(t.Context(), d, shared, l, caller, token, size, load)
			require.NoError(t, err)
			require.Len(t, items, first-last+1)
			assert.Equal(t, []int{first, last}, []int{items[0], items[len(items)-1]})
			assert.Equal(t, wantLoads, loads)
			return next
		}
		read(store.List{}, "", "", 50, 59, 10, 1)
		next := read(store.List{}, player(1), "", 20, 59, 40, 1)
		next = read(store.List{}, player(1), next, 20, 39, 20, 2)
		assert.Empty(t, read(store.List{}, player(1), next, 20, 19, 0, 3))
		read(store.List{}, "", "", 50, 59, 10, 3)
		require.NoError(t, d.Put(t.Context(), listing(60)))
		read(store.List{}, "", "", 20, 60, 41, 4)
		require.NoError(t, d.Enter(t.Context(), listing(60)))
		read(store.List{}, "", "", 20, 60, 41, 4)
		time.Sleep(sharedFor) //nolint:forbidigo // The bubble's clock is fake.
		read(store.List{}, "", "", 20, 60, 41, 5)
	})
}
