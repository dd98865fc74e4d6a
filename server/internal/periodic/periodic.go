// Package periodic repeats work at an interval.
package periodic

import (
	"context"
	"time"
)

// Run calls do at once and then at every interval until ctx ends. An interval
// that passes while do runs is skipped.
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
