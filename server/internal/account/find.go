package account

import (
	"context"
	"errors"
	"fmt"
	"strings"

	"github.com/redis/go-redis/v9"

	"github.com/gridstand/gridstand/internal/id"
)

// Find returns a player by name, in any case, or by id, or ErrNotFound. No name has
// the form of an id.
func (s *Store) Find(ctx context.Context, nameOrID string) (Player, error) {
	if id.Valid(nameOrID) {
		return s.Get(ctx, nameOrID)
	}
	if !validName(nameOrID) {
		return Player{}, ErrNotFound
	}
	playerID, err := s.client.Get(ctx, nameKey(strings.ToLower(nameOrID))).Result()
	if errors.Is(err, redis.Nil) {
		return Player{}, ErrNotFound
	}
	if err != nil {
		return Player{}, fmt.Errorf("finding a player: %w", err)
	}
	return s.Get(ctx, playerID)
}
