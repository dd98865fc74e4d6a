package account

import (
	"context"
	"fmt"

	"github.com/gridstand/gridstand/server/internal/store"
)

// Reserve adds a game to a player's open games. It must be called before the game is created.
// It returns ErrTooManyGames if the player already has limit open games, unless limit is 0.
// It is idempotent. The caller must have validated the ids.
//
// A game that was reserved but never created, or that ended while its server crashed, counts
// until it is released. On ErrTooManyGames, the caller should occasionally check OpenGames
// for such games.
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

// Release removes games from a player's open games. It ignores games that are not among them.
func (s *Store) Release(ctx context.Context, playerID string, gameIDs ...string) error {
	return s.accounts.Release(ctx, playerID, gameIDs...)
}

// OpenGames returns the games that count as open for a player, oldest first. Reserve limits
// their number.
func (s *Store) OpenGames(ctx context.Context, playerID string) ([]store.OpenGame, error) {
	return s.accounts.Open(ctx, playerID)
}
