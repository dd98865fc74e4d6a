// Package page implements page sizes and sealed page tokens, which all paged lists share.
package page

import (
	"context"
	"crypto/aes"
	"crypto/cipher"
	"crypto/rand"
	"encoding/base64"
	"fmt"
	"sync/atomic"

	"github.com/gridstand/gridstand/server/internal/invalid"
	"github.com/gridstand/gridstand/server/internal/store"
)

// The default and maximum numbers of entries on a page.
const (
	DefaultSize = 50
	MaxSize     = 200
)

// Size returns the page size for a request: DefaultSize for 0, and at most MaxSize. It
// returns an *invalid.Error for a negative size.
func Size(n int32) (int, error) {
	switch {
	case n < 0:
		return 0, invalid.Field("page_size", "must not be negative")
	case n == 0:
		return DefaultSize, nil
	default:
		return min(int(n), MaxSize), nil
	}
}

const (
	// secretName is the name of the secret that all servers of a store share. The secret
	// never expires, so a token is valid as long as its list exists.
	secretName   = "page"
	secretLength = 32 // the key size of AES-256
	// maxTokenLength is the maximum length of a token in bytes. Longer tokens are refused.
	maxTokenLength = 256
)

var encoding = base64.RawURLEncoding.Strict()

// Tokens seals and opens page tokens. All Tokens of a store share a secret and accept
// each other's tokens. Tokens is safe for concurrent use.
type Tokens struct {
	secrets store.Secrets
	cipher  atomic.Value // a cipher.AEAD with the secret, once a call has read it
}

// NewTokens returns a Tokens that uses the secret in the given store.
func NewTokens(secrets store.Secrets) *Tokens { return &Tokens{secrets: secrets} }

// Seal encrypts a cursor, a position in a list, into a token that is valid only for the
// same query. The token reveals only the cursor's length, because a cursor may contain
// data that the caller must not see.
func (t *Tokens) Seal(ctx context.Context, query string, cursor []byte) (string, error) {
	s, err := t.sealer(ctx)
	if err != nil {
		return "", err
	}
	return encoding.EncodeToString(s.Seal(nil, nil, cursor, []byte(query))), nil
}

// Open returns the cursor that Seal encrypted for the same query. It returns an
// *invalid.Error for any other token.
func (t *Tokens) Open(ctx context.Context, query, token string) ([]byte, error) {
	if len(token) > maxTokenLength {
		return nil, badToken()
	}
	sealed, err := encoding.DecodeString(token)
	// The decoder ignores line breaks, so check the length as well.
	if err != nil || encoding.EncodedLen(len(sealed)) != len(token) {
		return nil, badToken()
	}
	s, err := t.sealer(ctx)
	if err != nil {
		return nil, err
	}
	cursor, err := s.Open(nil, nil, sealed, []byte(query))
	if err != nil {
		return nil, badToken()
	}
	return cursor, nil
}

// badToken returns the *invalid.Error for a page token from another list.
func badToken() error { return invalid.Field("page_token", "is not from this list") }

// sealer returns the cipher of the store's secret. If the store has no secret, it writes a new one.
func (t *Tokens) sealer(ctx context.Context) (cipher.AEAD, error) {
	if known, ok := t.cipher.Load().(cipher.AEAD); ok {
		return known, nil
	}
	proposed := make([]byte, secretLength)
	_, _ = rand.Read(proposed) // rand.Read never fails.
	secret, err := t.secrets.Secret(ctx, secretName, proposed)
	if err != nil {
		return nil, fmt.Errorf("reading the secret of page tokens: %w", err)
	}
	block, err := aes.NewCipher(secret)
	if err != nil {
		return nil, err
	}
	aead, err := cipher.NewGCMWithRandomNonce(block)
	if err == nil {
		t.cipher.Store(aead)
	}
	return aead, err
}
