package cached

import (
	"context"
	"errors"
	"sync"
	"testing"
	"testing/synctest"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/gridstand/gridstand/internal/testkit/testmain"
)

func TestMain(m *testing.M) { testmain.Run(m) }

// Ensure that callers share a read that has ended recently or is running, except for its error, and
// that each waits for it only as long as its own context allows.
func TestReads(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		const maxAge, takes = time.Second, 3 * time.Second
		var reads Reads[string, int]
		calls, failure := 0, errors.New("no answer")
		get := func(ctx context.Context, key string, fails error) (int, error) {
			return reads.Get(ctx, key, maxAge, func() (int, error) {
				calls++
				n := calls
				time.Sleep(takes) //nolint:forbidigo // The bubble's clock is fake.
				return n, fails
			})
		}
		began := time.Now()
		var group sync.WaitGroup
		for range 3 {
			group.Go(func() {
				n, err := get(t.Context(), "a", nil)
				assert.NoError(t, err)
				assert.Equal(t, 1, n)
			})
		}
		synctest.Wait()
		hurried, cancel := context.WithTimeout(t.Context(), time.Millisecond)
		defer cancel()
		_, err := get(hurried, "a", nil)
		require.ErrorIs(t, err, context.DeadlineExceeded)
		assert.Equal(t, time.Millisecond, time.Since(began))
		group.Wait()
		assert.Equal(t, takes, time.Since(began))

		n, err := get(t.Context(), "b", nil)
		require.NoError(t, err)
		assert.Equal(t, 2, n, "another key")
		_, err = get(t.Context(), "a", failure)
		require.ErrorIs(t, err, failure, "the result is too old")
		n, err = get(t.Context(), "a", nil)
		require.NoError(t, err)
		assert.Equal(t, 4, n, "after the failure")
	})
}

// Ensure that the number of results in memory is bounded.
func TestReads_Bound(t *testing.T) {
	t.Parallel()
	var reads Reads[int, int]
	for n := range 10 * maxKeys {
		got, err := reads.Get(t.Context(), n, time.Hour, func() (int, error) { return n, nil })
		require.NoError(t, err)
		require.Equal(t, n, got)
		require.LessOrEqual(t, len(reads.all), maxKeys)
	}
}

// Ensure that a read that was running when its key was forgotten is not shared with later callers, and
// that other keys are kept.
func TestReads_Forget(t *testing.T) {
	t.Parallel()
	var reads Reads[string, int]
	get := func(key string, read func() (int, error)) int {
		n, err := reads.Get(t.Context(), key, time.Hour, read)
		require.NoError(t, err)
		return n
	}
	returns := func(n int) func() (int, error) { return func() (int, error) { return n, nil } }
	assert.Equal(t, 1, get("a", func() (int, error) {
		reads.Forget("a")
		return 1, nil
	}))
	assert.Equal(t, 2, get("a", returns(2)))
	assert.Equal(t, 2, get("a", returns(3)))
	assert.Equal(t, 4, get("b", returns(4)))
	reads.Forget("a")
	assert.Equal(t, 5, get("a", returns(5)))
	assert.Equal(t, 4, get("b", returns(6)))
}
