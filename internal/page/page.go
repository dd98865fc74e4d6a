// Package page is what all paged lists share: the size of a page and the
// opaque token that leads to the next one.
package page

import (
	"crypto/sha256"
	"encoding/base64"
	"encoding/binary"

	"github.com/gridstand/gridstand/internal/invalid"
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
	sumLength = 8
	// maxTokenLength bounds what is decoded of a token that a caller sent.
	maxTokenLength = 256
)

var encoding = base64.RawURLEncoding.Strict()

// Token packs a cursor, a place in a list, into a token that only the same
// query opens again. The checksum catches tokens that belong elsewhere or were
// altered by accident. It is no secret: whoever reads a cursor still has to
// treat it as a stranger's bytes.
func Token(query string, cursor []byte) string {
	return encoding.EncodeToString(append(sum(query, cursor), cursor...))
}

// Cursor returns what Token packed for the same query. Any other token is an
// *invalid.Error.
func Cursor(query, token string) ([]byte, error) {
	if len(token) > maxTokenLength {
		return nil, BadToken()
	}
	b, err := encoding.DecodeString(token)
	if err == nil && len(b) >= sumLength && Token(query, b[sumLength:]) == token {
		return b[sumLength:], nil
	}
	return nil, BadToken()
}

// BadToken is the *invalid.Error for a page token that is not from the list
// that it was sent to.
func BadToken() error { return invalid.Field("page_token", "is not from this list") }

func sum(query string, cursor []byte) []byte {
	hash := sha256.New()
	_ = binary.Write(hash, binary.BigEndian, uint64(len(query)))
	hash.Write([]byte(query))
	hash.Write(cursor)
	return hash.Sum(nil)[:sumLength]
}
