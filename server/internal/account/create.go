package account

import (
	"context"
	_ "embed" // For the scripts.
	"errors"
	"fmt"
	"strings"

	"github.com/redis/go-redis/v9"

	"github.com/gridstand/gridstand/internal/id"
	"github.com/gridstand/gridstand/server/internal/invalid"
)

//go:embed claim.lua
var claimSource string

//go:embed create.lua
var createSource string

var (
	claimScript  = redis.NewScript(claimSource)
	createScript = redis.NewScript(createSource)
)

const (
	// claimSeconds is how long a name stays claimed by a call that ended
	// before it wrote the player: longer than any call takes.
	claimSeconds = 60
	permanent    = 0

	maxNameLength = 24
)

// Create makes an account and returns it with its token. If secret is empty, a
// random one is drawn. A secret that the caller chose makes the call idempotent:
// the same name and the current secret return the same player. The error is
// ErrNameTaken if another account holds the name, in any case, or held it until it
// expired; ErrNameReserved if no new account can take the name; and an
// *invalid.Error for a malformed name or secret.
//
// The player's id is derived from name and secret, and a name is held permanently
// only after its player was written. So a call that fails halfway does no harm: a
// retry finishes it, and without one the name is free again after a minute.
func (s *Store) Create(ctx context.Context, name, secret string, bot bool) (Player, string, error) {
	if !validName(name) {
		return Player{}, "", invalid.Field("name", "must be 1 to %d characters out of a–z, A–Z, 0–9, space and “-_.”, "+
			"with no space at either end", maxNameLength)
	}
	secret, err := chosenOrDrawn(secret)
	if err != nil {
		return Player{}, "", err
	}
	player, err := s.create(ctx, name, digestOf(secret), bot)
	if err != nil {
		return Player{}, "", fmt.Errorf("creating a player: %w", err)
	}
	s.players.Add(player.ID, player)
	return player, token(player.ID, secret), nil
}

func (s *Store) create(ctx context.Context, name string, secret digest, bot bool) (Player, error) {
	lower := strings.ToLower(name)
	playerID := id.Derive([]byte("player"), []byte(lower), secret[:])
	if refused := newName(name); refused != nil {
		// An account that took the name before it was reserved keeps it.
		holder, err := s.client.Get(ctx, nameKey(lower)).Result()
		if errors.Is(err, redis.Nil) {
			return Player{}, refused
		}
		if err != nil {
			return Player{}, err
		}
		return s.holder(ctx, holder, secret)
	}
	holder, lasting, err := s.claim(ctx, lower, playerID, claimSeconds)
	if err != nil {
		return Player{}, err
	}
	// Another player holds the name, or this player has held it since a rotation or an
	// earlier call. That account may have expired: an old secret must not revive it.
	if holder != playerID || lasting {
		return s.holder(ctx, holder, secret)
	}
	r, wrote, err := s.write(ctx, playerID, name, secret, bot)
	if err != nil {
		return Player{}, err
	}
	if !secret.matches(r.secret) { // It was rotated: this secret is the old one.
		return Player{}, ErrNameTaken
	}
	holder, _, err = s.claim(ctx, lower, playerID, permanent)
	if err != nil {
		return Player{}, err
	}
	if holder == playerID {
		return r.Player, nil
	}
	// The claim expired while this call hung, and another call took the name.
	if wrote {
		if err := s.client.Del(ctx, playerKey(playerID)).Err(); err != nil {
			return Player{}, err
		}
	}
	return Player{}, ErrNameTaken
}

// holder returns the player who holds a name, if secret is theirs.
func (s *Store) holder(ctx context.Context, playerID string, secret digest) (Player, error) {
	r, err := s.read(ctx, playerID)
	switch {
	case errors.Is(err, ErrNotFound): // Just being created, or lapsed.
		return Player{}, ErrNameTaken
	case err != nil:
		return Player{}, err
	case !secret.matches(r.secret):
		return Player{}, ErrNameTaken
	}
	return r.Player, s.Renew(ctx, playerID)
}

func (s *Store) read(ctx context.Context, playerID string) (record, error) {
	values, err := s.client.HMGet(ctx, playerKey(playerID), fields...).Result()
	if err != nil {
		return record{}, err
	}
	return parseRecord(playerID, values)
}

// claim claims a name for playerID unless it is taken. It returns the id that holds
// the name, and whether permanently.
func (s *Store) claim(ctx context.Context, lowerName, playerID string, seconds int) (holder string, lasting bool, err error) {
	reply, err := claimScript.Run(ctx, s.client, []string{nameKey(lowerName)}, playerID, seconds).StringSlice()
	if err == nil && len(reply) != 2 {
		err = fmt.Errorf("a reply of %d", len(reply))
	}
	if err != nil {
		return "", false, err
	}
	return reply[0], reply[1] == "1", nil
}

// write stores a player unless it exists, and returns what is stored and whether
// this call stored it.
func (s *Store) write(ctx context.Context, playerID, name string, secret digest, bot bool) (record, bool, error) {
	flag := "0"
	if bot {
		flag = "1"
	}
	values, err := createScript.Run(ctx, s.client, []string{playerKey(playerID)},
		name, secret.String(), flag, s.keep.Milliseconds()).Slice()
	if err != nil {
		return record{}, false, err
	}
	r, err := parseRecord(playerID, values)
	wrote := len(values) > len(fields) && values[len(fields)] == int64(1)
	return r, wrote, err
}

func validName(name string) bool {
	if name == "" || len(name) > maxNameLength || strings.TrimSpace(name) != name {
		return false
	}
	for _, c := range []byte(name) {
		switch {
		case 'a' <= c && c <= 'z', 'A' <= c && c <= 'Z', '0' <= c && c <= '9', strings.IndexByte(" -_.", c) >= 0:
		default:
			return false
		}
	}
	return true
}
