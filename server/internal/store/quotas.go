package store

import (
	"context"
	"time"
)

// Quotas limits how often each key may do something, across all servers.
type Quotas interface {
	// Take counts one use of a quota: what is the quota's name, and key is the player or
	// address that it applies to. Each key gets perMinute uses per minute (at least one),
	// and may take all of them in one burst. If the use would exceed the quota, Take counts
	// nothing and returns the time to wait; otherwise it returns 0.
	Take(ctx context.Context, what, key string, perMinute int) (wait time.Duration, err error)
}
