// Package clients plays and verifies games with programs in other languages: the examples in
// Python and TypeScript, and clients from npm that use the server's protocols.
package clients

import (
	"testing"
	"time"

	"github.com/gridstand/gridstand/internal/testkit/testmain"
)

func TestMain(m *testing.M) { testmain.Run(m) }

// patience limits every program and every wait. Only failing tests reach it.
const patience = 10 * time.Minute
