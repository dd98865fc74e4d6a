package page_test

import (
	"strings"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/gridstand/gridstand/internal/invalid"
	"github.com/gridstand/gridstand/internal/page"
)

func TestSize(t *testing.T) {
	t.Parallel()
	for n, want := range map[int32]int{0: 50, 1: 1, 199: 199, 200: 200, 201: 200, 1 << 30: 200} {
		size, err := page.Size(n)
		require.NoError(t, err)
		assert.Equal(t, want, size)
	}
	_, err := page.Size(-1)
	requireField(t, err, "page_size")
}

func TestToken(t *testing.T) {
	t.Parallel()
	token := page.Token("query", []byte("cursor"))
	cursor, err := page.Cursor("query", token)
	require.NoError(t, err)
	assert.Equal(t, "cursor", string(cursor))

	t.Run("another query", func(t *testing.T) {
		t.Parallel()
		_, err := page.Cursor("other", token)
		requireField(t, err, "page_token")
	})
	t.Run("altered", func(t *testing.T) {
		t.Parallel()
		for i := range token {
			for _, c := range "Ab9_=\n" {
				if altered := token[:i] + string(c) + token[i+1:]; altered != token {
					_, err := page.Cursor("query", altered)
					requireField(t, err, "page_token")
				}
			}
		}
	})
	t.Run("no token at all", func(t *testing.T) {
		t.Parallel()
		for _, s := range []string{"", "a", "x y", token[:8], token + "A", token + "\n", strings.Repeat("A", 1<<20)} {
			_, err := page.Cursor("query", s)
			requireField(t, err, "page_token")
		}
	})
}

func requireField(t *testing.T, err error, field string) {
	t.Helper()
	var e *invalid.Error
	require.ErrorAs(t, err, &e)
	assert.Equal(t, field, e.Field)
}
