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

// FindByName returns the player who has the given name, or had it earlier, ignoring case, or
// ErrNotFound.
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
	if err == nil && !player.called(name) { // Another server may have renamed the player since it was read.
		s.players.Remove(playerID)
		player, err = s.Get(ctx, playerID)
	}
	if err == nil && !player.called(name) { // It only looks like the name.
		return Player{}, ErrNotFound
	}
	return player, err
}

// called reports whether a player who holds the given name has or had it, rather than one that looks
// like it. All names that look like the names of a player who was renamed lead to that player.
func (p Player) called(name string) bool { return !p.Renamed.IsZero() || names.Same(p.Name, name) }
