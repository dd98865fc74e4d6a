package page

import (
	"encoding/binary"
	"strings"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/gridstand/gridstand/internal/id"
	"github.com/gridstand/gridstand/server/internal/invalid"
)

// FuzzPlace checks that parsePlace either returns an *invalid.Error or a place that encodes
// to the same cursor.
func FuzzPlace(f *testing.F) {
	f.Add([]byte(nil))
	f.Add(append(make([]byte, 8), strings.Repeat("a", id.Length)...))
	f.Add(append(make([]byte, 8), strings.Repeat("*", id.Length)...))
	f.Fuzz(func(t *testing.T, cursor []byte) {
		place, err := parsePlace(cursor)
		if err != nil {
			var refused *invalid.Error
			require.ErrorAs(t, err, &refused)
			return
		}
		assert.True(t, id.Valid(place.GameID))
		assert.Equal(t, cursor, append(binary.BigEndian.AppendUint64(nil, uint64(place.Rank)), place.GameID...))
	})
}
