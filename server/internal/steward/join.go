package steward

import (
	"context"
	"fmt"
	"time"

	"github.com/redis/go-redis/v9"
)

const (
	// joinAfter is how long a new server waits for the heartbeats of those that
	// were alive last: longer than a server takes to send one after Redis is back.
	joinAfter = 2 * time.Second
	// joinAtMost bounds how long it waits until a rollback is dealt with.
	joinAtMost = 2 * attestWithin
	joinPoll   = 100 * time.Millisecond
)

// Join returns when a new server may serve. After a time without heartbeats Redis
// may have been restored from a copy, or failed over: servers that ran before see
// that with their next heartbeat, and then quarantine what lost moves. A server
// that knows nothing of it lets them do so first.
func (s *Steward) Join(ctx context.Context) error {
	for began, told := time.Now(), false; ; {
		wait, err := s.mustWait(ctx, time.Since(began))
		if err != nil || !wait {
			return err
		}
		if !told {
			told = true
			s.Logger.Info("waiting for other servers that may know more than redis holds", "for", joinAfter)
		}
		select {
		case <-ctx.Done():
			return ctx.Err()
		case <-time.After(joinPoll):
		}
	}
}

// mustWait reports whether a server that has waited for some time must wait on.
func (s *Steward) mustWait(ctx context.Context, waited time.Duration) (bool, error) {
	now, err := s.Client.Time(ctx).Result()
	if err != nil {
		return false, fmt.Errorf("asking for the time: %w", err)
	}
	var stored, noted *redis.MapStringStringCmd
	_, err = s.Client.Pipelined(ctx, func(p redis.Pipeliner) error {
		stored, noted = p.HGetAll(ctx, heartbeatsKey), p.HGetAll(ctx, rewoundKey)
		return nil
	})
	if err != nil {
		return false, fmt.Errorf("asking for heartbeats: %w", err)
	}
	var newest time.Time
	others := false // are there who deal with a rollback
	servers := map[string]presence{}
	for id, value := range stored.Val() {
		p, err := parsePresence(value)
		if err != nil {
			return false, err
		}
		servers[id] = p
		others = others || !p.left && now.Sub(p.at) <= missingAfter
		if p.at.After(newest) {
			newest = p.at
		}
	}
	if waited < joinAfter {
		for _, p := range servers {
			if !p.left && now.Sub(p.at) > missingAfter && newest.Sub(p.at) < aliveWithin {
				return true, nil
			}
		}
	}
	r := noted.Val()
	return r["at"] != r["swept"] && others && waited < joinAtMost, nil
}
