package page

import (
	"encoding/binary"
	"strings"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/gridstand/gridstand/internal/id"
)

// FuzzOpen opens arbitrary tokens. All must be refused as invalid fields, except the token
// that was sealed for the same query. Any other cursor of a place is refused, too.
func FuzzOpen(f *testing.F) {
	tokens := NewTokens(&secrets{})
	const place = "cursor"
	sealed, err := tokens.Seal(f.Context(), "games", []byte(place))
	require.NoError(f, err)
	f.Add("games", sealed, []byte(place))
	f.Add("scores", sealed, []byte(nil))
	f.Add("games", sealed[1:], []byte(nil))
	f.Add("games", "", []byte(nil))
	f.Add("games", strings.Repeat("A", 1<<20), []byte(nil))
	f.Add("games", sealed+"\n", []byte(nil))
	f.Add("", "====", append(make([]byte, 8), strings.Repeat("a", id.Length)...))
	f.Add("games", strings.Repeat("A", 300), append(make([]byte, 8), strings.Repeat("*", id.Length)...))
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
		place, err := tokens.OpenPlace(t.Context(), query, made)
		if err != nil {
			requireField(t, err, "page_token")
			return
		}
		assert.True(t, id.Valid(place.GameID))
		assert.Equal(t, cursor, append(binary.BigEndian.AppendUint64(nil, uint64(place.Rank)), place.GameID...))
	})
}
