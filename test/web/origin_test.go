package web

import (
	"testing"

	"github.com/stretchr/testify/assert"

	browsertest "github.com/gridstand/gridstand/internal/testkit/browser"
	"github.com/gridstand/gridstand/internal/testkit/longtest"
	servertest "github.com/gridstand/gridstand/internal/testkit/server"
)

// Ensure that the tests run under the same restrictions as a browser on another machine.
func TestOrigin_long(t *testing.T) {
	longtest.Skip(t)
	t.Parallel()
	s, _ := servertest.Start(t, servertest.Config(t))
	tab := browsertest.Open(t, s.Addr().String())
	tab.Visit("/")
	assert.False(t, browsertest.Eval[bool](tab, "isSecureContext"))
	assert.True(t, browsertest.Eval[bool](tab, "crypto.subtle === undefined"))
}
