//go:build slow

package contract

import (
	"testing"
	"time"

	redistest "github.com/gridstand/gridstand/internal/testkit/redis"
)

// TestFairness_Restarts is like TestFairness, but the server is replaced by another one with the same
// store after each moment.
func TestFairness_Restarts(t *testing.T) {
	t.Parallel()
	eachFairKind(t, func(f *fairness) {
		redis := redistest.StartMiniredis(f.t)
		redis.SetTime(f.clock.Now())
		f.clock.Moved = func(d time.Duration) {
			redis.SetTime(f.clock.Now())
			redis.FastForward(d)
		}
		f.start("redis://" + redis.Addr())
		f.run(func() {
			f.s.stop()
			f.start("redis://" + redis.Addr())
		})
	})
}
