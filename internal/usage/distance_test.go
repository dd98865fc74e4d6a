package usage

import (
	"testing"

	"github.com/stretchr/testify/assert"
)

func TestDistance(t *testing.T) {
	t.Parallel()
	for _, tt := range []struct {
		a, b string
		want int
	}{
		{"", "", 0},
		{"abc", "abc", 0},
		{"", "abc", 3},
		{"abc", "", 3},
		{"kitten", "sitting", 3},
		{"flaw", "lawn", 2},
		{"ab", "ba", 1},
		{"abcd", "badc", 2},
		{"play", "paly", 1},
		{"abc", "cab", 2},
	} {
		assert.Equal(t, tt.want, distance(tt.a, tt.b), "%s, %s", tt.a, tt.b)
		assert.Equal(t, tt.want, distance(tt.b, tt.a), "%s, %s", tt.b, tt.a)
	}
}
