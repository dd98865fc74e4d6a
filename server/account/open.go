package account

import (
	"context"
	_ "embed" // For the script.
	"fmt"

	"github.com/redis/go-redis/v9"
)

//go:embed reserve.lua
var reserveSource string

var reserveScript = redis.NewScript(reserveSource)

// Reserve counts a game among a player's open ones, to be called before the
// game is created. At most limit are allowed, 0 for any number; one too many is
// ErrTooManyGames. Repeating it is harmless. The ids must have been checked.
//
// A game that was reserved and then never came to be, or ended while its
// server died, counts on until it is released: who meets ErrTooManyGames for
// the first time in a while should look through OpenGames.
func (s *Store) Reserve(ctx context.Context, playerID, gameID string, limit int) error {
	ok, err := reserveScript.Run(ctx, s.client, []string{openKey(playerID)}, gameID, limit).Bool()
	if err != nil {
		return fmt.Errorf("reserving a game: %w", err)
	}
	if !ok {
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
	members := make([]any, len(gameIDs))
	for i, gameID := range gameIDs {
		members[i] = gameID
	}
	if err := s.client.SRem(ctx, openKey(playerID), members...).Err(); err != nil {
		return fmt.Errorf("releasing games: %w", err)
	}
	return nil
}

// OpenGames lists the games that count as open for a player, in no order: as
// many as Reserve let in.
func (s *Store) OpenGames(ctx context.Context, playerID string) ([]string, error) {
	gameIDs, err := s.client.SMembers(ctx, openKey(playerID)).Result()
	if err != nil {
		return nil, fmt.Errorf("reading open games: %w", err)
	}
	return gameIDs, nil
}
