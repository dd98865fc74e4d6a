package storetest

import (
	"errors"
	"sync"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/gridstand/gridstand/server/internal/store"
)

// concurrently makes n calls at the same time, and returns their results.
func concurrently[T any](n int, call func(i int) (T, error)) ([]T, []error) {
	results, errs := make([]T, n), make([]error, n)
	var group sync.WaitGroup
	for i := range n {
		group.Go(func() { results[i], errs[i] = call(i) })
	}
	group.Wait()
	return results, errs
}

// allSucceed is like concurrently, but no call may fail.
func allSucceed[T any](t *testing.T, n int, call func(i int) (T, error)) []T {
	t.Helper()
	results, errs := concurrently(n, call)
	for _, err := range errs {
		require.NoError(t, err)
	}
	return results
}

// updates is the number of allUpdate's calls.
const updates = 16

// allUpdate makes calls at the same time, each of which reads something and replaces it, and repeats each
// until no other call has replaced that meanwhile.
func allUpdate(t *testing.T, call func(n int) error) {
	t.Helper()
	allSucceed(t, updates, func(n int) (any, error) {
		for {
			if err := call(n); !errors.Is(err, store.ErrMoved) {
				return nil, err
			}
		}
	})
}
