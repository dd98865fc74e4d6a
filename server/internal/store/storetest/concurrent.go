package storetest

import (
	"sync"
	"testing"

	"github.com/stretchr/testify/require"
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
