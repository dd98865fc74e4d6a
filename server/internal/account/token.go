package account

import (
	"context"
	"crypto/rand"
	"crypto/sha256"
	"crypto/subtle"
	_ "embed" // For the script.
	"encoding/hex"
	"errors"
	"fmt"
	"strings"
	"time"

	"github.com/redis/go-redis/v9"

	"github.com/gridstand/gridstand/internal/id"
	"github.com/gridstand/gridstand/server/internal/invalid"
)

//go:embed rotate.lua
var rotateSource string

var rotateScript = redis.NewScript(rotateSource)

const (
	// verifiedFor is how long a token is taken as good after it was checked,
	// so that a player's moves do not each cost a look-up. A rotated token
	// lives on for as long.
	verifiedFor = 30 * time.Second

	minSecretLength, maxSecretLength = 26, 128
)

// verification is a token found good.
type verification struct {
	player Player
	until  time.Time
}

// Verified returns the player whom a token proves, if that was checked a short
// while ago.
func (s *Store) Verified(token string) (Player, bool) {
	if len(token) > id.Length+1+maxSecretLength {
		return Player{}, false
	}
	v, ok := s.verified.Get(digestOf(token))
	return v.player, ok && time.Now().Before(v.until)
}

// Verify returns the player whom a token proves, or ErrBadToken. A malformed
// token is not looked up.
func (s *Store) Verify(ctx context.Context, token string) (Player, error) {
	playerID, secret, _ := strings.Cut(token, ".")
	if !id.Valid(playerID) || !validSecret(secret) {
		return Player{}, ErrBadToken
	}
	if player, ok := s.Verified(token); ok {
		return player, nil
	}
	now := time.Now()
	r, err := s.read(ctx, playerID)
	switch {
	case errors.Is(err, ErrNotFound):
		return Player{}, ErrBadToken
	case err != nil:
		return Player{}, fmt.Errorf("verifying a token: %w", err)
	case !digestOf(secret).matches(r.secret):
		return Player{}, ErrBadToken
	}
	// Whom it proves is known, whether or not this succeeds.
	_ = s.Renew(ctx, playerID)
	s.verified.Add(digestOf(token), verification{player: r.Player, until: now.Add(verifiedFor)})
	return r.Player, nil
}

// Rotate gives a player a new secret, drawn here if it is empty, and returns
// the new token. Repeating it with the same secret changes nothing more. The
// old token may be taken for good for up to half a minute. An unknown player is
// ErrNotFound, a secret of the wrong form an *invalid.Error.
func (s *Store) Rotate(ctx context.Context, playerID, secret string) (string, error) {
	secret, err := chosenOrDrawn(secret)
	if err != nil {
		return "", err
	}
	if !id.Valid(playerID) {
		return "", ErrNotFound
	}
	found, err := rotateScript.Run(ctx, s.client, []string{playerKey(playerID)}, digestOf(secret).String()).Bool()
	if err != nil {
		return "", fmt.Errorf("rotating a token: %w", err)
	}
	if !found {
		return "", ErrNotFound
	}
	return token(playerID, secret), nil
}

func token(playerID, secret string) string { return playerID + "." + secret }

// chosenOrDrawn returns the caller's secret once checked, or a new one.
func chosenOrDrawn(secret string) (string, error) {
	if secret == "" {
		return strings.ToLower(rand.Text()), nil // At least 128 bits, in 26 characters.
	}
	if !validSecret(secret) {
		return "", invalid.Field("secret", "must be %d to %d characters out of a–z and 2–7", minSecretLength, maxSecretLength)
	}
	return secret, nil
}

func validSecret(s string) bool {
	return len(s) >= minSecretLength && len(s) <= maxSecretLength && id.IsBase32(s)
}

// digest of a secret or a whole token: all that is kept of either.
type digest [sha256.Size]byte

func digestOf(s string) digest {
	var room [id.Length + 1 + maxSecretLength]byte // for any token
	return sha256.Sum256(append(room[:0], s...))
}

// String is how a digest is stored.
func (d digest) String() string { return hex.EncodeToString(d[:]) }

// matches compares with a stored digest, in the same time wherever they differ.
func (d digest) matches(stored string) bool {
	return subtle.ConstantTimeCompare([]byte(d.String()), []byte(stored)) == 1
}
