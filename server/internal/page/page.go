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
	"time"

	"golang.org/x/sync/semaphore"

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
	// rereadAfter limits how long servers can use different secrets if the store lost the
	// secret and a new server wrote another one. retryAfter is the time between a failed
	// read and the next one.
	rereadAfter = time.Minute
	retryAfter  = time.Second
	// maxTokenLength is the maximum length of a token in bytes. Longer tokens are refused.
	maxTokenLength = 256
)

var encoding = base64.RawURLEncoding.Strict()

// Tokens seals and opens page tokens. All Tokens of a store share a secret and accept
// each other's tokens. Tokens is safe for concurrent use.
type Tokens struct {
	secrets store.Secrets

	sealer  atomic.Pointer[sealer]
	reading *semaphore.Weighted // held while the secret is being read
	// failure is the error from the last read if no secret is known. Guarded by reading.
	failure  error
	failedAt time.Time
}

// sealer contains the secret in use.
type sealer struct {
	cipher.AEAD
	secret   []byte
	rereadAt time.Time
}

// NewTokens returns a Tokens that uses the secret in the given store.
func NewTokens(secrets store.Secrets) *Tokens {
	return &Tokens{secrets: secrets, reading: semaphore.NewWeighted(1)}
}

// Prepare reads the secret, and writes one if the store has none, so that no list call has
// to wait for that.
func (t *Tokens) Prepare(ctx context.Context) error {
	_, err := t.current(ctx)
	return err
}

// Seal encrypts a cursor, a position in a list, into a token that is valid only for the
// same query. The token reveals only the cursor's length, because a cursor may contain
// data that the caller must not see.
func (t *Tokens) Seal(ctx context.Context, query string, cursor []byte) (string, error) {
	s, err := t.current(ctx)
	if err != nil {
		return "", err
	}
	return encoding.EncodeToString(s.AEAD.Seal(nil, nil, cursor, []byte(query))), nil
}

// Open returns the cursor that Seal encrypted for the same query. It returns an
// *invalid.Error for any other token.
func (t *Tokens) Open(ctx context.Context, query, token string) ([]byte, error) {
	if len(token) > maxTokenLength {
		return nil, BadToken()
	}
	sealed, err := encoding.DecodeString(token)
	// The decoder ignores line breaks, so check the length as well.
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

// BadToken returns the *invalid.Error for a page token from another list.
func BadToken() error { return invalid.Field("page_token", "is not from this list") }

// current returns the sealer in use. The first calls wait until one of them has read the
// secret. Afterwards, one call per minute rereads it while the others continue without
// waiting.
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
	if began.Before(t.failedAt) { // Another call's read failed while this call waited.
		return nil, t.failure
	}
	read, err := t.read(ctx, known)
	switch {
	case err == nil:
	case known != nil: // If the store is unavailable, reading the list reports it.
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

// read returns the secret in the store. If the store has none, read writes the known secret, so
// that existing tokens stay valid, or a new one if no secret is known.
func (t *Tokens) read(ctx context.Context, known *sealer) (*sealer, error) {
	proposed := make([]byte, secretLength)
	if known != nil {
		proposed = known.secret
	} else {
		_, _ = rand.Read(proposed) // rand.Read never fails.
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
