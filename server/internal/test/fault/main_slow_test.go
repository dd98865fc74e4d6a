//go:build slow

package fault

import (
	"os"
	"testing"
	"time"

	"go.uber.org/goleak"

	"github.com/gridstand/gridstand/internal/testkit/process"
	redistest "github.com/gridstand/gridstand/internal/testkit/redis"
	"github.com/gridstand/gridstand/internal/testkit/testmain"
	"github.com/gridstand/gridstand/server"
)

func TestMain(m *testing.M) {
	testmain.Run(m, redistest.StillDialing,
		goleak.Cleanup(func(code int) {
			process.RemoveBuilt()
			os.Exit(code)
		}))
}

// botPace makes a game between bots last for a few seconds.
const botPace = 15 * time.Millisecond

// testConfig returns the configuration of all servers that use the store at a URL. Clocks
// and bots are fast, and the stall limit is longer than any game.
func testConfig(url string) server.Config {
	config := server.DefaultConfig().Unlimited()
	config.Listen, config.Store = "127.0.0.1:0", url
	config.Exhibition = false
	config.MinTurnLimit, config.BotPace, config.Stall = time.Millisecond, botPace, time.Hour
	return config
}
