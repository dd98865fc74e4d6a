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

// renewShare says how often an account is renewed: this often in the time after
// which it would expire, which is once a day if accounts are kept for 90 days.
const renewShare = 90

// Renew postpones the expiry of accounts, as if they had just been created. Most
// calls need no round trip. Accounts that do not exist are ignored.
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

// LapseAll sets an expiry for accounts that were created when accounts did not
// expire. It is idempotent.
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
