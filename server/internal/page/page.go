// Package page has what all paged lists share: the size of a page and the sealed
// token for the next one.
package page

import (
	"context"
	"crypto/aes"
	"crypto/cipher"
	"crypto/rand"
	"encoding/base64"
	"fmt"
	"sync/atomic"
	"time"

	"golang.org/x/sync/semaphore"

	"github.com/gridstand/gridstand/server/internal/invalid"
	"github.com/gridstand/gridstand/server/internal/store"
)

// Entries on a page by default and at most.
const (
	DefaultSize = 50
	MaxSize     = 200
)

// Size returns the size of a page for the size that a caller requested: a default for
// 0, and at most MaxSize. A negative one is an *invalid.Error.
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
	// secretName names the secret that all servers on one store seal with. It never
	// expires: a token is valid as long as its list exists.
	secretName   = "page"
	secretLength = 32 // AES-256
	// rereadAfter bounds the time for which servers use different secrets, if the
	// store lost it and a new server wrote another one. retryAfter is the time until the
	// next read after one that failed.
	rereadAfter = time.Minute
	retryAfter  = time.Second
	// maxTokenLength is the longest token that is decoded.
	maxTokenLength = 256
)

var encoding = base64.RawURLEncoding.Strict()

// Tokens seals and opens page tokens. All Tokens on one store share a secret there and
// accept each other's tokens. Tokens is safe for concurrent use.
type Tokens struct {
	secrets store.Secrets

	sealer  atomic.Pointer[sealer]
	reading *semaphore.Weighted // held while the secret is read
	// failure is why the last read failed, if no secret is known. Guarded by reading.
	failure  error
	failedAt time.Time
}

// sealer is the secret in use.
type sealer struct {
	cipher.AEAD
	secret   []byte
	rereadAt time.Time
}

// NewTokens returns the Tokens of the servers on a store.
func NewTokens(secrets store.Secrets) *Tokens {
	return &Tokens{secrets: secrets, reading: semaphore.NewWeighted(1)}
}

// Prepare writes the secret if the store has none, so that no list has to.
func (t *Tokens) Prepare(ctx context.Context) error {
	_, err := t.current(ctx)
	return err
}

// Seal encrypts a cursor, a place in a list, into a token that opens for the same
// query only. The token reveals only the cursor's length: a cursor may contain what
// the caller must not see.
func (t *Tokens) Seal(ctx context.Context, query string, cursor []byte) (string, error) {
	s, err := t.current(ctx)
	if err != nil {
		return "", err
	}
	return encoding.EncodeToString(s.AEAD.Seal(nil, nil, cursor, []byte(query))), nil
}

// Open returns the cursor that Seal encrypted for the same query. Any other token is
// an *invalid.Error.
func (t *Tokens) Open(ctx context.Context, query, token string) ([]byte, error) {
	if len(token) > maxTokenLength {
		return nil, BadToken()
	}
	sealed, err := encoding.DecodeString(token)
	// The decoder skips line breaks, so the length must match, too.
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

// BadToken returns the *invalid.Error for a page token of another list.
func BadToken() error { return invalid.Field("page_token", "is not from this list") }

// current returns the sealer in use. The first calls wait until one of them has read
// the secret. Later one call a minute reads it again; the others do not wait.
func (t *Tokens) current(ctx context.Context) (*sealer, error) {
	began, known := time.Now(), t.sealer.Load()
	if known != nil && (began.Before(known.rereadAt) || !t.reading.TryAcquire(1)) {
		return known, nil
	}
	if known == nil {
		if err := t.reading.Acquire(ctx, 1); err != nil {
			return nil, err
		}
	}
	defer t.reading.Release(1)
	if latest := t.sealer.Load(); latest != known {
		return latest, nil
	}
	if began.Before(t.failedAt) { // while this call waited
		return nil, t.failure
	}
	read, err := t.read(ctx, known)
	switch {
	case err == nil:
	case known != nil: // The list itself will return that the store is unavailable.
		read = &sealer{AEAD: known.AEAD, secret: known.secret, rereadAt: time.Now().Add(retryAfter)}
	default:
		err = fmt.Errorf("reading the secret of page tokens: %w", err)
		if ctx.Err() == nil {
			t.failure, t.failedAt = err, time.Now()
		}
		return nil, err
	}
	t.sealer.Store(read)
	return read, nil
}

// read returns the secret in the store. If the store has no secret it writes the
// known one, so that tokens in use stay valid, or else a new one.
func (t *Tokens) read(ctx context.Context, known *sealer) (*sealer, error) {
	proposed := make([]byte, secretLength)
	if known != nil {
		proposed = known.secret
	} else {
		_, _ = rand.Read(proposed) // It never fails.
	}
	secret, err := t.secrets.Secret(ctx, secretName, proposed)
	if err != nil {
		return nil, err
	}
	block, err := aes.NewCipher(secret)
	if err != nil {
		return nil, err
	}
	aead, err := cipher.NewGCMWithRandomNonce(block)
	if err != nil {
		return nil, err
	}
	return &sealer{AEAD: aead, secret: secret, rereadAt: time.Now().Add(rereadAfter)}, nil
}
