package account

import (
	"context"
	"fmt"

	"github.com/gridstand/gridstand/internal/id"
	"github.com/gridstand/gridstand/internal/names"
)

// Find returns the player with the given name, ignoring case, or with the given id, or
// ErrNotFound. No name has the form of an id.
func (s *Store) Find(ctx context.Context, nameOrID string) (Player, error) {
	if id.Valid(nameOrID) {
		return s.Get(ctx, nameOrID)
	}
	return s.FindByName(ctx, nameOrID)
}

// FindByName returns the player with the given name, ignoring case, or ErrNotFound.
func (s *Store) FindByName(ctx context.Context, name string) (Player, error) {
	if !validName(name) {
		return Player{}, ErrNotFound
	}
	playerID, err := s.accounts.Holder(ctx, name)
	if err != nil {
		return Player{}, fmt.Errorf("finding a player: %w", err)
	}
	if playerID == "" {
		return Player{}, ErrNotFound
	}
	player, err := s.Get(ctx, playerID)
	if err == nil && !names.Same(player.Name, name) { // It only looks like the name.
		return Player{}, ErrNotFound
	}
	return player, err
}
