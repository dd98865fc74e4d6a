package challenge_test

import (
	"testing"

	redistest "github.com/gridstand/gridstand/internal/testkit/redis"
	"github.com/gridstand/gridstand/internal/testkit/testmain"
)

func TestMain(m *testing.M) { testmain.Run(m, redistest.StillDialing) }
