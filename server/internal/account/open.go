package account

import (
	"context"
	"fmt"

	"github.com/gridstand/gridstand/server/internal/store"
)

// Reserve counts a game among a player's open ones, to be called before the
// game is created. At most limit are allowed, 0 for any number; one too many is
// ErrTooManyGames. Repeating it is harmless. The ids must have been checked.
//
// A game that was reserved but never created, or that ended while its server
// crashed, counts until it is released: on ErrTooManyGames, a caller should check
// OpenGames now and then.
func (s *Store) Reserve(ctx context.Context, playerID, gameID string, limit int) error {
	counts, err := s.accounts.Reserve(ctx, playerID, gameID, limit, s.keep)
	if err != nil {
		return fmt.Errorf("reserving a game: %w", err)
	}
	if !counts {
		return ErrTooManyGames
	}
	return nil
}

// Release takes games off a player's open ones. Releasing one that is not
// among them does nothing.
func (s *Store) Release(ctx context.Context, playerID string, gameIDs ...string) error {
	if len(gameIDs) == 0 {
		return nil
	}
	if err := s.accounts.Release(ctx, playerID, gameIDs...); err != nil {
		return fmt.Errorf("releasing games: %w", err)
	}
	return nil
}

// OpenGames lists the games that count as open for a player, the oldest first.
// Reserve bounds their number.
func (s *Store) OpenGames(ctx context.Context, playerID string) ([]store.OpenGame, error) {
	open, err := s.accounts.Open(ctx, playerID)
	if err != nil {
		return nil, fmt.Errorf("reading open games: %w", err)
	}
	return open, nil
}
