package id_test

import (
	"strings"
	"testing"

	"github.com/stretchr/testify/assert"

	"github.com/gridstand/gridstand/internal/id"
)

// Ensure that derived ids never change: stores that outlive a release use them to identify accounts
// and games.
func TestDerive(t *testing.T) {
	t.Parallel()
	derive := func(parts ...string) string {
		var b [][]byte
		for _, part := range parts {
			b = append(b, []byte(part))
		}
		return id.Derive(b...)
	}
	assert.Equal(t, "34xew4m2zo6ecqv3ozxkuvyn5a", derive("game", "a"))
	assert.Equal(t, derive("ab", "c"), derive("ab", "c"))
	assert.NotEqual(t, derive("ab", "c"), derive("a", "bc"))
	assert.NotEqual(t, derive("ab", "c"), derive("c", "ab"))
	assert.NotEqual(t, derive("ab"), derive("ab", ""))
	assert.True(t, id.Valid(derive()))
}

func TestValid(t *testing.T) {
	t.Parallel()
	for s, want := range map[string]bool{
		"":                             false,
		strings.Repeat("a", 25):        false,
		strings.Repeat("a", 26):        true,
		strings.Repeat("a", 27):        false,
		"abcdefghijklmnopqrstuvwxyz":   true,
		"abcdefghijklmnopqrst234567":   true,
		"Abcdefghijklmnopqrstuvwxyz":   false,
		"1bcdefghijklmnopqrstuvwxyz":   false,
		"8bcdefghijklmnopqrstuvwxyz":   false,
		"{bcdefghijklmnopqrstuvwxy}":   false,
		"äbcdefghijklmnopqrstuvwxy":    false, // 26 bytes but 25 characters
		"abcdefghijklm\nopqrstuvwxyz":  false,
		strings.Repeat("a", 1_000_000): false,
	} {
		assert.Equal(t, want, id.Valid(s), "%.40q", s)
	}
}
