package account

import (
	"context"
	"fmt"
	"time"

	"github.com/gridstand/gridstand/internal/id"
)

// renewShare is the maximum number of times that an account is renewed within the period for
// which accounts are kept. If accounts are kept for 90 days, each is renewed at most once per
// day.
const renewShare = 90

// Renew postpones the expiry of accounts, as if they had just been created. Most calls do not
// access the store. Accounts that do not exist are ignored.
func (s *Store) Renew(ctx context.Context, playerIDs ...string) error {
	now := time.Now()
	var due []string
	for _, playerID := range playerIDs {
		if id.Valid(playerID) && s.lapses(playerID, now) {
			due = append(due, playerID)
		}
	}
	if len(due) == 0 {
		return nil
	}
	if err := s.accounts.Renew(ctx, s.keep, due...); err != nil {
		return fmt.Errorf("renewing accounts: %w", err)
	}
	for _, playerID := range due {
		s.renewed.Add(playerID, now)
	}
	return nil
}

// lapses reports whether an account, or a session, has not been renewed recently.
func (s *Store) lapses(id string, now time.Time) bool {
	at, ok := s.renewed.Get(id)
	return s.keep > 0 && (!ok || now.Sub(at) >= s.keep/renewShare)
}
