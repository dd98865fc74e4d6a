// Package id makes and checks the ids of games and players: 128 bits, written
// as 26 characters of lower-case base32 (RFC 4648, no padding).
package id

import (
	"crypto/rand"
	"crypto/sha256"
	"encoding/base32"
	"encoding/binary"
)

// Length of every id in characters.
const Length = 26

const alphabet = "abcdefghijklmnopqrstuvwxyz234567"

var encoding = base32.NewEncoding(alphabet).WithPadding(base32.NoPadding)

// New draws an id. It is unguessable.
func New() string {
	var b [16]byte
	_, _ = rand.Read(b[:]) // It never fails: without randomness it ends the program.
	return encoding.EncodeToString(b[:])
}

// Derive returns the id that belongs to parts: the same for the same parts in the
// same order. It cannot be guessed without knowing all of them. The first part should
// name what the id is for. Each part is hashed with its length, so that "ab", "c"
// and "a", "bc" differ.
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

// Valid reports whether s has the form of an id. Anything else needs no lookup and
// must not become part of a key.
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
