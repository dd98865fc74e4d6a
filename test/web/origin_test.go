package web

import (
	"testing"

	"github.com/stretchr/testify/assert"

	servertest "github.com/gridstand/gridstand/internal/testkit/server"
)

// Ensure that the tests see what a browser on another machine of a network sees.
func TestOrigin(t *testing.T) {
	t.Parallel()
	s, _ := servertest.Start(t, servertest.Config(t))
	tab := open(t, s.Addr().String())
	tab.visit("/")
	assert.False(t, eval[bool](tab, "isSecureContext"))
	assert.True(t, eval[bool](tab, "crypto.subtle === undefined"))
}
