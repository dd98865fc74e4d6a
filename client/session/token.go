package session

import (
	"context"
	"crypto/rand"
	"encoding/base32"
	"strings"
	"sync/atomic"
)

var base32Lower = base32.NewEncoding("abcdefghijklmnopqrstuvwxyz234567").WithPadding(base32.NoPadding)

// idLength is the length of an id, and of a secret that this package draws.
const idLength = 26

// NewSecret draws 128 random bits: 26 characters of lower-case base32. It
// serves as the secret of an account and as a CreateGameRequest.request_id.
func NewSecret() string {
	var b [16]byte
	// Documented never to fail: it ends the program instead.
	_, _ = rand.Read(b[:])
	return base32Lower.EncodeToString(b[:])
}

func isBase32(s string) bool {
	return strings.Trim(s, "abcdefghijklmnopqrstuvwxyz234567") == ""
}

// isID reports whether s has the form of an id.
func isID(s string) bool { return len(s) == idLength && isBase32(s) }

func joinToken(playerID, secret string) string { return playerID + "." + secret }

func idOf(token string) string {
	id, _, _ := strings.Cut(token, ".")
	return id
}

// bearer adds the token to calls. It works without TLS too: a server on the
// same machine or behind a proxy of one's own has none.
type bearer struct{ token atomic.Pointer[string] }

type tokenKey struct{}

// withToken makes calls with this context act for another token than the
// client's, or for none.
func withToken(ctx context.Context, token string) context.Context {
	return context.WithValue(ctx, tokenKey{}, token)
}

// GetRequestMetadata implements credentials.PerRPCCredentials.
func (b *bearer) GetRequestMetadata(ctx context.Context, _ ...string) (map[string]string, error) {
	token, ok := ctx.Value(tokenKey{}).(string)
	if !ok {
		token = *b.token.Load()
	}
	if token == "" {
		return nil, nil
	}
	return map[string]string{"authorization": "Bearer " + token}, nil
}

// RequireTransportSecurity implements credentials.PerRPCCredentials.
func (b *bearer) RequireTransportSecurity() bool { return false }
