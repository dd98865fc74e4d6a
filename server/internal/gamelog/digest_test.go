package gamelog

import (
	"testing"

	"github.com/stretchr/testify/assert"

	"github.com/gridstand/gridstand/server/internal/store"
)

// Ensure that digests do not change, because stored games contain them. The numbers come from
// an independent implementation.
func TestID_Vectors(t *testing.T) {
	t.Parallel()
	first := Genesis("aaaaaaaaaaaaaaaaaaaaaaaaaa")
	assert.Equal(t, store.ID{Version: 0, Digest: 11058260447287383514}, first)
	second := nextID(first, []byte("entry"), []byte("board"))
	assert.Equal(t, store.ID{Version: 1, Digest: 11186651497698319163}, second)
	assert.Equal(t, store.ID{Version: 2, Digest: 17720694041532860661}, nextID(second, nil, nil))
	assert.Equal(t, "1-11186651497698319163", second.String())
	assert.Equal(t, second, nextID(first, []byte("entr"), []byte("yboard")), "only the concatenated bytes matter")
	assert.NotEqual(t, second.Digest, nextID(Genesis("aaaaaaaaaaaaaaaaaaaaaaaaab"), []byte("entry"), []byte("board")).Digest)
}
