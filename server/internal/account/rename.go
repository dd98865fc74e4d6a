package account

import (
	"context"
	"fmt"
	"time"

	"github.com/gridstand/gridstand/internal/id"
	"github.com/gridstand/gridstand/internal/names"
	"github.com/gridstand/gridstand/server/internal/invalid"
)

// renameEvery is the time for which a player keeps a name before another change. Guests may choose a
// name at any time.
const renameEvery = 30 * 24 * time.Hour

// RenamedRecentlyError is returned for a player who cannot be renamed yet.
type RenamedRecentlyError struct {
	// Until is the time from which the player can be renamed.
	Until time.Time
}

func (e *RenamedRecentlyError) Error() string {
	return "the name was changed recently; the next change is possible from " + e.Until.Format(time.DateOnly)
}

// Rename gives a player another name and returns the player. Repeating the call changes nothing. The
// player keeps the earlier names: no other account can take them, and FindByName finds the player by
// them. Other servers may show the earlier name for up to half a minute. The error is
// ErrNameTaken, ErrNameReserved, a *RenamedRecentlyError, ErrNotFound, or an *invalid.Error for a
// malformed name.
func (s *Store) Rename(ctx context.Context, playerID, name string) (Player, error) {
	if !id.Valid(playerID) {
		return Player{}, ErrNotFound
	}
	stored, err := s.accounts.Get(ctx, []string{playerID})
	if err != nil {
		return Player{}, fmt.Errorf("renaming a player: %w", err)
	}
	a, ok := stored[playerID]
	if !ok {
		return Player{}, ErrNotFound
	}
	if a.Name == name {
		return playerOf(a), nil
	}
	if err := newName(name); err != nil {
		return Player{}, err
	}
	if names.IsGuest(name) {
		return Player{}, invalid.Field("name", "must not be a guest's; choose one of your own")
	}
	every := renameEvery
	if names.IsGuest(a.Name) {
		every = 0
	}
	now := time.Now()
	a, err = s.accounts.Rename(ctx, playerID, a.Name, name, every)
	switch {
	case err != nil:
		return Player{}, fmt.Errorf("renaming a player: %w", err)
	case a.Name != name:
		return Player{}, &RenamedRecentlyError{Until: a.Renamed.Add(renameEvery)}
	}
	s.remember(playerOf(a), now)
	return playerOf(a), nil
}
