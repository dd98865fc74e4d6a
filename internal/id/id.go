// Package id generates and validates the ids of games and players: 128 bits, written as 26
// characters of lowercase base32 (RFC 4648, no padding).
package id

import (
	"crypto/rand"
	"crypto/sha256"
	"encoding/base32"
	"encoding/binary"
)

// Length is the length of every id, in characters.
const Length = 26

const alphabet = "abcdefghijklmnopqrstuvwxyz234567"

var encoding = base32.NewEncoding(alphabet).WithPadding(base32.NoPadding)

// New returns a random, unguessable id.
func New() string {
	var b [16]byte
	_, _ = rand.Read(b[:]) // rand.Read never fails; it crashes the program instead.
	return encoding.EncodeToString(b[:])
}

// Derive returns an id derived from parts: the same parts in the same order always give the
// same id, which cannot be guessed without knowing all of them. The first part should name
// the purpose of the id. Each part is hashed with its length, so that "ab", "c" and "a", "bc"
// differ.
func Derive(parts ...[]byte) string {
	hash := sha256.New()
	for _, part := range parts {
		var length [8]byte
		binary.BigEndian.PutUint64(length[:], uint64(len(part)))
		hash.Write(length[:])
		hash.Write(part)
	}
	return encoding.EncodeToString(hash.Sum(nil)[:16])
}

// Valid reports whether s has the form of an id. Callers must reject any other string without
// looking it up or using it in a key.
func Valid(s string) bool { return len(s) == Length && IsBase32(s) }

// IsBase32 reports whether s consists only of the characters a–z and 2–7.
func IsBase32(s string) bool {
	for i := range len(s) {
		if c := s[i]; (c < 'a' || c > 'z') && (c < '2' || c > '7') {
			return false
		}
	}
	return true
}
