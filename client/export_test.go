package client

import (
	"time"

	"github.com/cenkalti/backoff/v5"
)

// Hurry makes a client's waits short, for tests.
func (c *Client) Hurry() {
	c.newBackOff = func() *backoff.ExponentialBackOff {
		return &backoff.ExponentialBackOff{
			InitialInterval: time.Millisecond, Multiplier: 2, RandomizationFactor: 0.5, MaxInterval: 20 * time.Millisecond,
		}
	}
}

// SetIdleTimeout changes how long a stream may be silent, for tests.
func (c *Client) SetIdleTimeout(d time.Duration) { c.idleTimeout = d }
