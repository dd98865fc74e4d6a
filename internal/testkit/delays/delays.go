// Package delaystest measures how long a machine delays programs, so that tests can limit how long
// an operation takes on any machine. Only tests import it.
package delaystest

import (
	"context"
	"os"
	"path/filepath"
	"sync/atomic"
	"testing"
	"time"
)

const (
	// every is the time between two measurements.
	every = 200 * time.Millisecond
	// steps is the number of steps of one operation that the machine may delay, for instance the
	// appends and the heartbeats when one server takes over from another.
	steps = 10
)

// Delays measures how late timers fire, plus how long it takes to sync a file to disk. Its methods
// are safe for concurrent use.
type Delays struct{ longest atomic.Int64 }

// Measure measures delays until the test ends.
func Measure(t testing.TB) *Delays {
	t.Helper()
	file, err := os.Create(filepath.Join(t.TempDir(), "synced"))
	if err != nil {
		t.Fatal(err)
	}
	d := &Delays{}
	done := make(chan error, 1)
	t.Cleanup(func() {
		if err := <-done; err != nil {
			t.Errorf("measuring delays: %v", err)
		}
		_ = file.Close()
	})
	go func() { done <- d.measure(t.Context(), file) }()
	return d
}

func (d *Delays) measure(ctx context.Context, file *os.File) error {
	for {
		began := time.Now()
		select {
		case <-time.After(every):
		case <-ctx.Done():
			return nil
		}
		if _, err := file.WriteString("."); err != nil {
			return err
		}
		if err := file.Sync(); err != nil {
			return err
		}
		d.longest.Store(max(d.longest.Load(), int64(time.Since(began)-every)))
	}
}

// Longest returns the longest measured delay.
func (d *Delays) Longest() time.Duration { return time.Duration(d.longest.Load()) }

// Allowance returns how much longer an operation may take than on a quick machine: as long as if
// this machine delayed each step of the operation by the longest measured delay.
func (d *Delays) Allowance() time.Duration { return steps * d.Longest() }
