package client

import (
	"time"

	"github.com/cenkalti/backoff/v5"
)

// ShortenWaits shortens the waits between retries, for tests.
func (c *Client) ShortenWaits() {
	c.newBackOff = func() *backoff.ExponentialBackOff {
		return &backoff.ExponentialBackOff{
			InitialInterval: time.Millisecond, Multiplier: 2, RandomizationFactor: 0.5, MaxInterval: 20 * time.Millisecond,
		}
	}
}

// SetIdleTimeout sets how long a stream may be silent before it is considered broken, for
// tests.
func (c *Client) SetIdleTimeout(d time.Duration) { c.idleTimeout = d }
