// Package page implements page sizes and sealed page tokens, which all paged lists share.
package page

import (
	"context"
	"crypto/aes"
	"crypto/cipher"
	"crypto/rand"
	"encoding/base64"
	"encoding/binary"
	"fmt"
	"sync/atomic"

	"github.com/gridstand/gridstand/internal/id"
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
	rankLength   = 8
	// sealedLength is the length of an encrypted place, with a nonce and a tag.
	sealedLength = 12 + rankLength + id.Length + 16
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

// Seal returns the token of the page that follows the given place. It is valid only for the same
// query, and encrypted, because the place may be that of a game that the caller must not see.
func (t *Tokens) Seal(ctx context.Context, query string, after store.Place) (string, error) {
	s, err := t.sealer(ctx)
	if err != nil {
		return "", err
	}
	place := append(binary.BigEndian.AppendUint64(nil, uint64(after.Rank)), after.GameID...)
	return encoding.EncodeToString(s.Seal(nil, nil, place, []byte(query))), nil
}

// Open returns the place that Seal encrypted for the same query. An empty token means the top of
// the list. For any other token, the error is an *invalid.Error.
func (t *Tokens) Open(ctx context.Context, query, token string) (store.Place, error) {
	if token == "" {
		return store.Place{}, nil
	}
	if len(token) != encoding.EncodedLen(sealedLength) {
		return store.Place{}, badToken()
	}
	sealed, err := encoding.DecodeString(token)
	if err != nil || len(sealed) != sealedLength { // The decoder ignores line breaks.
		return store.Place{}, badToken()
	}
	s, err := t.sealer(ctx)
	if err != nil {
		return store.Place{}, err
	}
	place, err := s.Open(nil, nil, sealed, []byte(query))
	if err != nil || !id.Valid(string(place[rankLength:])) {
		return store.Place{}, badToken()
	}
	return store.Place{Rank: int64(binary.BigEndian.Uint64(place)), GameID: string(place[rankLength:])}, nil
}

// badToken returns the *invalid.Error for a page token from another list.
func badToken() error {
	return invalid.Field("page_token", "is not from this list: begin again without it")
}

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
