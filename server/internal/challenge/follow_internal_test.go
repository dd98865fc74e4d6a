package challenge

import (
	"testing"

	"github.com/stretchr/testify/assert"
)

// Ensure that each follower of a challenge is notified of changes until it stops, and that
// followers never block a change.
func TestFollow(t *testing.T) {
	t.Parallel()
	var s Challenges
	one, other := make(chan struct{}, 1), make(chan struct{}, 1)
	stopOne, stopOther := s.Follow("a", one), s.Follow("a", other)
	s.followers.notify("b")
	assert.Empty(t, one)
	s.followers.notify("a")
	s.followers.notify("a")
	assert.Len(t, one, 1)
	assert.Len(t, other, 1)
	<-one
	<-other
	stopOne()
	s.followers.notify("a")
	assert.Empty(t, one)
	assert.Len(t, other, 1)
	stopOther()
	assert.Empty(t, s.followers.all)
}
