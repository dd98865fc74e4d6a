package gamelog

import (
	"math"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
	"pgregory.net/rapid"
)

// Ensure that digests stay what they are: stored games hold them. The numbers
// come from another program.
func TestID_Vectors(t *testing.T) {
	t.Parallel()
	first := Genesis("aaaaaaaaaaaaaaaaaaaaaaaaaa")
	assert.Equal(t, ID{Version: 0, Digest: 11058260447287383514}, first)
	second := first.Next([]byte("entry"), []byte("board"))
	assert.Equal(t, ID{Version: 1, Digest: 11186651497698319163}, second)
	assert.Equal(t, ID{Version: 2, Digest: 17720694041532860661}, second.Next(nil, nil))
	assert.Equal(t, "1-11186651497698319163", second.String())
	assert.Equal(t, second, first.Next([]byte("entr"), []byte("yboard")), "only the bytes count")
	assert.NotEqual(t, second.Digest, Genesis("aaaaaaaaaaaaaaaaaaaaaaaaab").Next([]byte("entry"), []byte("board")).Digest)
}

func TestParseID_RoundTrip(t *testing.T) {
	t.Parallel()
	rapid.Check(t, func(t *rapid.T) {
		want := ID{Version: rapid.Int32Min(0).Draw(t, "version"), Digest: rapid.Uint64().Draw(t, "digest")}
		got, err := ParseID(want.String())
		require.NoError(t, err)
		require.Equal(t, want, got)
	})
}

func TestParseID(t *testing.T) {
	t.Parallel()
	for _, s := range []string{"0-0", "1-18446744073709551615", "2147483647-1"} {
		got, err := ParseID(s)
		require.NoError(t, err)
		assert.Equal(t, s, got.String())
	}
	for _, s := range []string{
		"", "-", "1", "1-", "-1", "-1-1", "1--1", "1-1-1", "a-1", "1-a", " 1-1", "1-1 ", "1-18446744073709551616",
		"2147483648-0", "1763628486043-0", "1.0-1", "0x1-1",
	} {
		_, err := ParseID(s)
		assert.Error(t, err, "%q", s)
	}
	assert.EqualValues(t, math.MaxInt32, func() int32 { i, _ := ParseID("2147483647-0"); return i.Version }())
}
