// Package waittest waits for conditions in tests. It holds the only deadline of tests, so that no
// test depends on the speed of a machine. Only tests import it.
package waittest

import (
	"context"
	"testing"
	"time"
)

// Patience is the deadline of every wait. Only failing tests reach it, on any machine.
const Patience = 5 * time.Minute

// Until calls is, in the test's goroutine, until it returns true. It fails the test after Patience.
// what completes the sentence "timed out waiting until …".
func Until(t testing.TB, what string, is func() bool) {
	t.Helper()
	for deadline := time.Now().Add(Patience); !is(); <-time.After(5 * time.Millisecond) {
		if time.Now().After(deadline) {
			t.Fatalf("timed out waiting until %s", what)
		}
	}
}

// Receive returns the next value from a channel, or the zero value if the channel is closed. It
// fails the test after Patience. what completes the sentence "timed out waiting for …".
func Receive[T any](t testing.TB, what string, from <-chan T) T {
	t.Helper()
	select {
	case value := <-from:
		return value
	case <-time.After(Patience):
		t.Fatalf("timed out waiting for %s", what)
		panic("unreachable")
	}
}

// Context returns a context that ends with the test, or after Patience.
func Context(t testing.TB) context.Context {
	t.Helper()
	ctx, cancel := context.WithTimeout(t.Context(), Patience)
	t.Cleanup(cancel)
	return ctx
}
