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
	// verifiedFor is how long a verified token or key is accepted without another check, so
	// that not every move costs a lookup.
	verifiedFor = 30 * time.Second

	minSecretLength, maxSecretLength = 26, 128
)

// verification is a cached result: the player whom a token or key authenticates, and when
// to check again.
type verification struct {
	player Player
	until  time.Time
}

// Verify returns the player whom the account's own token authenticates, or ErrBadToken. It
// does not look up a malformed token.
func (s *Store) Verify(ctx context.Context, token string) (Player, error) {
	playerID, secret, _ := strings.Cut(token, ".")
	if !id.Valid(playerID) || !validSecret(secret) {
		return Player{}, ErrBadToken
	}
	playerID = strings.Clone(playerID) // The original would keep the token in memory.
	accounts, err := s.accounts.Get(ctx, []string{playerID})
	if err != nil {
		return Player{}, fmt.Errorf("verifying a token: %w", err)
	}
	a, ok := accounts[playerID]
	if !ok || !digestOf(secret).matches(a.Secret) {
		return Player{}, ErrBadToken
	}
	// Ignore errors: the account exists even if it cannot be renewed.
	_ = s.Renew(ctx, playerID)
	return playerOf(a), nil
}

// Rotate replaces the secret of an account's own token and returns the new token. If secret is
// empty, Rotate generates a random one. Retrying with the same secret changes nothing. The error
// is ErrBadToken if another call has replaced the token, and an *invalid.Error if the secret is
// malformed.
func (s *Store) Rotate(ctx context.Context, old, secret string) (string, error) {
	secret, err := chosenOrDrawn(secret)
	if err != nil {
		return "", err
	}
	playerID, from, _ := strings.Cut(old, ".")
	if !id.Valid(playerID) {
		return "", ErrBadToken
	}
	if err := s.accounts.SetSecret(ctx, playerID, digestOf(from).String(), digestOf(secret).String()); err != nil {
		return "", fmt.Errorf("rotating a token: %w", err)
	}
	_, err = s.Verify(ctx, token(playerID, secret)) // This call or an earlier one has replaced the secret.
	return token(playerID, secret), err
}

func token(playerID, secret string) string { return playerID + "." + secret }

// chosenOrDrawn returns the caller's secret if it is valid, or a new one if it is
// empty.
func chosenOrDrawn(secret string) (string, error) {
	if secret == "" {
		return strings.ToLower(rand.Text()), nil // At least 128 random bits in 26 characters.
	}
	if !validSecret(secret) {
		return "", invalid.Field("secret", "must be %d to %d characters from a–z and 2–7", minSecretLength, maxSecretLength)
	}
	return secret, nil
}

func validSecret(s string) bool {
	return len(s) >= minSecretLength && len(s) <= maxSecretLength && id.IsBase32(s)
}

// digest is the SHA-256 of a token's secret, the code of a link or a credential. These themselves are not
// stored.
type digest [sha256.Size]byte

func digestOf(s string) digest { return sha256.Sum256([]byte(s)) }

// String returns the digest in its stored form.
func (d digest) String() string { return hex.EncodeToString(d[:]) }

// matches reports whether the digest equals a stored one, in constant time.
func (d digest) matches(stored string) bool {
	return subtle.ConstantTimeCompare([]byte(d.String()), []byte(stored)) == 1
}
