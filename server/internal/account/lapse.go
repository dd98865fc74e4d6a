package account

import (
	"context"
	"fmt"
	"strings"
	"time"

	"github.com/redis/go-redis/v9"

	"github.com/gridstand/gridstand/internal/id"
	"github.com/gridstand/gridstand/server/internal/scan"
)

// renewShare is the share of the time for which an account is kept after which it
// is kept for longer: once a day, of 90.
const renewShare = 90

// Renew keeps accounts from now on for as long as one that was just made. It costs
// a round trip once in a while. Those that do not exist are left alone.
func (s *Store) Renew(ctx context.Context, playerIDs ...string) error {
	if s.keep <= 0 {
		return nil
	}
	now, pipe := time.Now(), s.client.Pipeline()
	var due []string
	for _, playerID := range playerIDs {
		if at, ok := s.renewed.Get(playerID); !id.Valid(playerID) || ok && now.Sub(at) < s.keep/renewShare {
			continue
		}
		due = append(due, playerID)
		pipe.PExpire(ctx, playerKey(playerID), s.keep)
	}
	if len(due) == 0 {
		return nil
	}
	if _, err := pipe.Exec(ctx); err != nil {
		return fmt.Errorf("keeping accounts for longer: %w", err)
	}
	for _, playerID := range due {
		s.renewed.Add(playerID, now)
	}
	return nil
}

// LapseAll has accounts lapse that were made when none did, unless they are
// renewed. Doing it again changes nothing.
func (s *Store) LapseAll(ctx context.Context) error {
	if s.keep <= 0 {
		return nil
	}
	return scan.Keys(ctx, s.client, playerKey("*"), func(keys []string) error {
		pipe := s.client.Pipeline()
		ttls := map[string]*redis.DurationCmd{}
		for _, key := range keys {
			if id.Valid(strings.TrimSuffix(strings.TrimPrefix(key, "player:{"), "}")) {
				ttls[key] = pipe.PTTL(ctx, key)
			}
		}
		if len(ttls) == 0 {
			return nil
		}
		if _, err := pipe.Exec(ctx); err != nil {
			return fmt.Errorf("reading when accounts lapse: %w", err)
		}
		pipe = s.client.Pipeline()
		for key, ttl := range ttls {
			if ttl.Val() == -1 {
				pipe.PExpire(ctx, key, s.keep)
			}
		}
		if pipe.Len() == 0 {
			return nil
		}
		if _, err := pipe.Exec(ctx); err != nil {
			return fmt.Errorf("having accounts lapse: %w", err)
		}
		return nil
	})
}
