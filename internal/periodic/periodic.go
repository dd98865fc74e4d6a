// Package periodic runs a function at a fixed interval.
package periodic

import (
	"context"
	"time"
)

// Run calls do immediately and then at every interval until ctx is done. If do takes longer
// than the interval, Run skips the calls that it missed.
func Run(ctx context.Context, interval time.Duration, do func()) {
	ticker := time.NewTicker(interval)
	defer ticker.Stop()
	for {
		do()
		select {
		case <-ctx.Done():
			return
		case <-ticker.C:
		}
	}
}
