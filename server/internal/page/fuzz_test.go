package page_test

import (
	"strings"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/gridstand/gridstand/server/internal/page"
	"github.com/gridstand/gridstand/server/internal/store/storetest"
)

// FuzzOpen opens arbitrary tokens. All must be refused as invalid fields, except the token
// that was sealed for the same query.
func FuzzOpen(f *testing.F) {
	tokens := page.NewTokens(storetest.New(f).Secrets)
	const place = "cursor"
	sealed, err := tokens.Seal(f.Context(), "games", []byte(place))
	require.NoError(f, err)
	f.Add("games", sealed, []byte(place))
	f.Add("scores", sealed, []byte(nil))
	f.Add("games", sealed[1:], []byte(nil))
	f.Add("games", sealed+"\n", []byte(nil))
	f.Add("", "====", []byte{0})
	f.Add("games", strings.Repeat("A", 300), []byte{0})
	f.Fuzz(func(t *testing.T, query, token string, cursor []byte) {
		opened, err := tokens.Open(t.Context(), query, token)
		if query == "games" && token == sealed {
			require.NoError(t, err)
			assert.Equal(t, place, string(opened))
		} else {
			requireField(t, err, "page_token")
		}
		if len(cursor) > 100 {
			return
		}
		made, err := tokens.Seal(t.Context(), query, cursor)
		require.NoError(t, err)
		opened, err = tokens.Open(t.Context(), query, made)
		require.NoError(t, err)
		assert.Equal(t, string(cursor), string(opened))
		_, err = tokens.Open(t.Context(), query+"?", made)
		requireField(t, err, "page_token")
	})
}
