package account

import (
	"context"
	"fmt"
	"regexp"
	"strings"
	"time"

	"github.com/gridstand/gridstand/internal/id"
	"github.com/gridstand/gridstand/server/internal/store"
)

const maxNameLength = 24

// Create creates an account and returns the player and token. If secret is empty, Create
// generates a random one. If the caller chooses the secret, the call is idempotent: the same
// name, ignoring case, and the current secret return the same player. The error is ErrNameTaken if
// the name or one that looks like it (see names.Fold) belongs to another account or belonged to one
// that has expired; ErrNameReserved if new accounts cannot take the name; and an *invalid.Error if
// the name or secret is malformed.
//
// The player's id is derived from name and secret, so that retrying a call that failed
// halfway completes it.
func (s *Store) Create(ctx context.Context, name, secret string, bot bool) (Player, string, error) {
	if err := newName(name); err != nil {
		return Player{}, "", err
	}
	secret, err := chosenOrDrawn(secret)
	if err != nil {
		return Player{}, "", err
	}
	hashed := digestOf(secret)
	a := store.Account{
		ID:   id.Derive([]byte("player"), []byte(strings.ToLower(name)), hashed[:]),
		Name: name, Secret: hashed.String(), Bot: bot,
	}
	holder, err := s.accounts.Create(ctx, a, s.keep)
	if err != nil {
		return Player{}, "", fmt.Errorf("creating a player: %w", err)
	}
	player := playerOf(holder)
	if !hashed.matches(holder.Secret) || !player.called(name) {
		return Player{}, "", ErrNameTaken
	}
	// Ignore errors: the account exists even if it cannot be renewed.
	_ = s.Renew(ctx, player.ID)
	s.remember(player, time.Now())
	return player, token(player.ID, secret), nil
}

// nameForm matches names, apart from their length and the spaces at either end.
var nameForm = regexp.MustCompile(`^[a-zA-Z0-9 _.-]+$`)

func validName(name string) bool {
	return len(name) <= maxNameLength && strings.TrimSpace(name) == name && nameForm.MatchString(name)
}
