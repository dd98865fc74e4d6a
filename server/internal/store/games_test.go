package store_test

import (
	"math"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/gridstand/gridstand/server/internal/store"
)

func TestParseID(t *testing.T) {
	t.Parallel()
	for _, s := range []string{"0-0", "1-18446744073709551615", "2147483647-1"} {
		got, err := store.ParseID(s)
		require.NoError(t, err)
		assert.Equal(t, s, got.String())
	}
	for _, s := range []string{
		"", "-", "1", "1-", "-1", "-1-1", "1--1", "1-1-1", "a-1", "1-a", " 1-1", "1-1 ", "1-18446744073709551616",
		"2147483648-0", "1763628486043-0", "1.0-1", "0x1-1",
	} {
		_, err := store.ParseID(s)
		assert.Error(t, err, "%q", s)
	}
	assert.EqualValues(t, math.MaxInt32, store.Quarantined.Version)
}

// Ensure that a log is sound only if its last entry, length and head agree.
func TestTail_Sound(t *testing.T) {
	t.Parallel()
	last := store.ID{Version: 4, Digest: 9}
	assert.True(t, store.Tail{Length: 4, Last: last, Head: last}.Sound())
	for _, tail := range []store.Tail{
		{},
		{Length: 3, Last: last, Head: last},
		{Length: 4, Last: last},
		{Length: 4, Last: last, Head: store.ID{Version: 4}},
		{Length: 4, Last: last, Head: store.Quarantined},
		{Length: 4, Last: last, Head: store.ID{Version: -1}},
	} {
		assert.False(t, tail.Sound(), "%+v", tail)
		assert.Equal(t, tail.Head == store.Quarantined, tail.Quarantined())
	}
}
