// Package page is what all paged lists share: the size of a page and the
// sealed token that leads to the next one.
package page

import (
	"context"
	"crypto/aes"
	"crypto/cipher"
	"crypto/rand"
	"encoding/base64"
	"fmt"
	"sync"
	"sync/atomic"
	"time"

	"github.com/redis/go-redis/v9"

	"github.com/gridstand/gridstand/server/internal/invalid"
)

// Entries on a page when the caller names no number, and at most.
const (
	DefaultSize = 50
	MaxSize     = 200
)

// Size returns how many entries a caller gets who asked for n: a default for 0,
// at most MaxSize. A negative n is an *invalid.Error.
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
	// secretKey holds the secret that all servers on one Redis seal with. It
	// never expires: a token stays good while its list stays.
	secretKey    = "games:page-secret"
	secretLength = 32 // AES-256
	// rereadAfter is the longest time for which servers disagree about the
	// secret, if Redis lost it and a new server drew another one.
	rereadAfter = time.Minute
	// maxTokenLength bounds what is decoded of a token that a caller sent.
	maxTokenLength = 256
)

var encoding = base64.RawURLEncoding.Strict()

// Tokens seals and opens page tokens. All Tokens on one Redis accept each
// other's, since they share a secret there. All methods may be called
// concurrently.
type Tokens struct {
	client redis.UniversalClient

	sealer atomic.Pointer[sealer]
	mu     sync.Mutex // held while the secret is read
}

// sealer is the secret in use.
type sealer struct {
	cipher.AEAD
	secret string
	readAt time.Time
}

// NewTokens returns the tokens of the servers on client's Redis, which remains
// the caller's to close.
func NewTokens(client redis.UniversalClient) *Tokens { return &Tokens{client: client} }

// Seal packs a cursor, a place in a list, into a token that only the same query
// opens again. The token shows nothing of the cursor but its length: a cursor
// may name what the caller must not see.
func (t *Tokens) Seal(ctx context.Context, query string, cursor []byte) (string, error) {
	s, err := t.current(ctx)
	if err != nil {
		return "", err
	}
	return encoding.EncodeToString(s.AEAD.Seal(nil, nil, cursor, []byte(query))), nil
}

// Open returns the cursor that Seal packed for the same query. Any other token
// is an *invalid.Error.
func (t *Tokens) Open(ctx context.Context, query, token string) ([]byte, error) {
	if len(token) > maxTokenLength {
		return nil, BadToken()
	}
	sealed, err := encoding.DecodeString(token)
	// The decoder skips line breaks: what it read must be what was sent.
	if err != nil || encoding.EncodedLen(len(sealed)) != len(token) {
		return nil, BadToken()
	}
	s, err := t.current(ctx)
	if err != nil {
		return nil, err
	}
	cursor, err := s.AEAD.Open(nil, nil, sealed, []byte(query))
	if err != nil {
		return nil, BadToken()
	}
	return cursor, nil
}

// BadToken is the *invalid.Error for a page token that is not from the list
// that it was sent to.
func BadToken() error { return invalid.Field("page_token", "is not from this list") }

// current returns the sealer in use. The first call reads the secret, and one
// call a minute reads it again, while others use the one that is known.
func (t *Tokens) current(ctx context.Context) (*sealer, error) {
	known := t.sealer.Load()
	if known != nil && (time.Since(known.readAt) < rereadAfter || !t.mu.TryLock()) {
		return known, nil
	}
	if known == nil {
		t.mu.Lock()
	}
	defer t.mu.Unlock()
	if latest := t.sealer.Load(); latest != known {
		return latest, nil
	}
	read, err := t.read(ctx, known)
	if err != nil {
		if known != nil {
			return known, nil // The list itself will tell that Redis is unavailable.
		}
		return nil, fmt.Errorf("reading the secret of page tokens: %w", err)
	}
	t.sealer.Store(read)
	return read, nil
}

// read returns the secret in Redis, and writes one if there is none: the known
// one, so that the tokens that are in use stay good, or a new one.
func (t *Tokens) read(ctx context.Context, known *sealer) (*sealer, error) {
	var secret string
	if known != nil {
		secret = known.secret
	} else {
		drawn := make([]byte, secretLength)
		_, _ = rand.Read(drawn) // It never fails.
		secret = string(drawn)
	}
	pipe := t.client.Pipeline()
	pipe.SetNX(ctx, secretKey, secret, 0)
	stored := pipe.Get(ctx, secretKey)
	if _, err := pipe.Exec(ctx); err != nil {
		return nil, err
	}
	block, err := aes.NewCipher([]byte(stored.Val()))
	if err != nil {
		return nil, err
	}
	aead, err := cipher.NewGCMWithRandomNonce(block)
	if err != nil {
		return nil, err
	}
	return &sealer{AEAD: aead, secret: stored.Val(), readAt: time.Now()}, nil
}
