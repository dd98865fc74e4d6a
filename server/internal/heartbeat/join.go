package heartbeat

import (
	"context"
	"fmt"
	"time"

	"github.com/redis/go-redis/v9"
)

const (
	// joinAfter is how long a new server waits for the heartbeats of the servers
	// that were alive last: longer than a server takes to send one after Redis is
	// back.
	joinAfter = 2 * time.Second
	// joinAtMost bounds how long it waits until a rollback has been dealt with:
	// twice the time that servers have to compare their games with the logs.
	joinAtMost = 20 * time.Second
	joinPoll   = 100 * time.Millisecond
)

// Join returns when a new server may serve. After a time without heartbeats Redis
// may have been restored from a copy, or failed over: servers that ran before
// detect that with their next heartbeat, and then quarantine the games that lost
// moves. A new server cannot know that, so it waits until they have.
func (m *Monitor) Join(ctx context.Context) error {
	for began, logged := time.Now(), false; ; logged = true {
		wait, err := m.mustWait(ctx, time.Since(began))
		if err != nil || !wait {
			return err
		}
		if !logged {
			m.Logger.Info("waiting for other servers that may know of a rollback of redis", "for", joinAfter)
		}
		select {
		case <-ctx.Done():
			return ctx.Err()
		case <-time.After(joinPoll):
		}
	}
}

// mustWait reports whether a server that has waited for some time must wait on.
func (m *Monitor) mustWait(ctx context.Context, waited time.Duration) (bool, error) {
	now, err := m.Client.Time(ctx).Result()
	if err != nil {
		return false, fmt.Errorf("asking for the time: %w", err)
	}
	var stored, rollback *redis.MapStringStringCmd
	_, err = m.Client.Pipelined(ctx, func(p redis.Pipeliner) error {
		stored, rollback = p.HGetAll(ctx, serversKey), p.HGetAll(ctx, rollbackKey)
		return nil
	})
	if err != nil {
		return false, fmt.Errorf("asking for heartbeats: %w", err)
	}
	var newest time.Time
	alive := false // Is there a server that deals with a rollback?
	var missing []Server
	for _, value := range stored.Val() {
		s, err := parseServer(value)
		if err != nil {
			return false, err
		}
		if s.missing(now) {
			missing = append(missing, s)
		}
		alive = alive || !s.Left && !s.missing(now)
		if s.At.After(newest) {
			newest = s.At
		}
	}
	if waited < joinAfter {
		for _, s := range missing {
			if newest.Sub(s.At) < aliveWithin {
				return true, nil
			}
		}
	}
	r := rollback.Val()
	return r["at"] != r["swept"] && alive && waited < joinAtMost, nil
}
