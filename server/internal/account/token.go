package account

import (
	"context"
	"crypto/rand"
	"crypto/sha256"
	"crypto/subtle"
	"encoding/hex"
	"fmt"
	"strings"
	"time"

	"github.com/gridstand/gridstand/internal/id"
	"github.com/gridstand/gridstand/server/internal/invalid"
)

const (
	// verifiedFor is how long a token that was checked is accepted without
	// another check, so that not every move costs a lookup. A rotated token
	// is accepted for that long.
	verifiedFor = 30 * time.Second

	minSecretLength, maxSecretLength = 26, 128
)

// verification is the result of a successful check of a token.
type verification struct {
	player Player
	until  time.Time
}

// Verified returns the player whom a token authenticates, if the token was checked
// recently.
func (s *Store) Verified(token string) (Player, bool) {
	if len(token) > id.Length+1+maxSecretLength {
		return Player{}, false
	}
	v, ok := s.verified.Get(digestOf(token))
	return v.player, ok && time.Now().Before(v.until)
}

// Verify returns the player whom a token authenticates, or ErrBadToken. A malformed
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
	accounts, err := s.accounts.Get(ctx, []string{playerID})
	if err != nil {
		return Player{}, fmt.Errorf("verifying a token: %w", err)
	}
	a, ok := accounts[playerID]
	if !ok || !digestOf(secret).matches(a.Secret) {
		return Player{}, ErrBadToken
	}
	player := playerOf(a)
	// The player is known, whether or not this succeeds.
	_ = s.Renew(ctx, playerID)
	s.verified.Add(digestOf(token), verification{player: player, until: now.Add(verifiedFor)})
	return player, nil
}

// Rotate gives a player a new secret, a random one if it is empty, and returns the
// new token. Retrying with the same secret changes nothing. Servers may accept the
// old token for up to half a minute. The error is ErrNotFound for an unknown player
// and an *invalid.Error for a malformed secret.
func (s *Store) Rotate(ctx context.Context, playerID, secret string) (string, error) {
	secret, err := chosenOrDrawn(secret)
	if err != nil {
		return "", err
	}
	if !id.Valid(playerID) {
		return "", ErrNotFound
	}
	found, err := s.accounts.SetSecret(ctx, playerID, digestOf(secret).String())
	if err != nil {
		return "", fmt.Errorf("rotating a token: %w", err)
	}
	if !found {
		return "", ErrNotFound
	}
	return token(playerID, secret), nil
}

func token(playerID, secret string) string { return playerID + "." + secret }

// chosenOrDrawn returns the caller's secret if it is valid, or a new one if it is
// empty.
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

// digest is the SHA-256 of a secret or a whole token: neither is stored itself.
type digest [sha256.Size]byte

func digestOf(s string) digest {
	var room [id.Length + 1 + maxSecretLength]byte // for any token
	return sha256.Sum256(append(room[:0], s...))
}

// String is how a digest is stored.
func (d digest) String() string { return hex.EncodeToString(d[:]) }

// matches compares with a stored digest in constant time.
func (d digest) matches(stored string) bool {
	return subtle.ConstantTimeCompare([]byte(d.String()), []byte(stored)) == 1
}
