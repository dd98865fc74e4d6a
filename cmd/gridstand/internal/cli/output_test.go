package cli

import (
	"encoding/json"
	"testing"
	"unicode"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
)

// Ensure that JSON for a terminal says the same as before, in printable
// characters.
func TestHarmless(t *testing.T) {
	t.Parallel()
	const text = "a\x1b[2J\r\n\u007f\u0085\u00a0\u200b\u202e\u2028\ufeff\U000e0001\U0001f600 é 漢 \"\\"
	line, err := json.Marshal(map[string]string{text: text})
	require.NoError(t, err)
	escaped := harmless(line)
	for _, r := range string(escaped) {
		require.True(t, unicode.IsPrint(r), "%q", escaped)
	}
	assert.Contains(t, string(escaped), "\U0001f600 é 漢")
	var back map[string]string
	require.NoError(t, json.Unmarshal(escaped, &back))
	assert.Equal(t, map[string]string{text: text}, back)
}
