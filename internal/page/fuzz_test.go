package page

import (
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/gridstand/gridstand/internal/invalid"
)

// FuzzCursor opens any token: it is refused as a field, or one that Token made
// for the same query and no other.
func FuzzCursor(f *testing.F) {
	f.Add("scores", "", []byte(nil))
	f.Add("scores", Token("scores", []byte("cursor")), []byte("cursor"))
	f.Add("scores", Token("games", []byte("cursor")), []byte("cursor"))
	f.Add("", "====", []byte{0})
	f.Fuzz(func(t *testing.T, query, token string, cursor []byte) {
		opened, err := Cursor(query, token)
		if err != nil {
			var refused *invalid.Error
			require.ErrorAs(t, err, &refused)
		} else {
			assert.Equal(t, token, Token(query, opened))
		}
		if made := Token(query, cursor); len(made) <= maxTokenLength {
			opened, err := Cursor(query, made)
			require.NoError(t, err)
			assert.Equal(t, string(cursor), string(opened))
			_, err = Cursor(query+"?", made)
			require.Error(t, err)
		}
	})
}
