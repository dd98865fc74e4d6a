// Package challenges_test plays daily games, races and link challenges on complete
// servers through their public interfaces.
package challenges_test

import (
	"testing"

	"github.com/gridstand/gridstand/internal/testkit/testmain"
)

func TestMain(m *testing.M) { testmain.Run(m) }
