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
		// Toxiproxy leaves some behind where a connection ends while it is bad:
		// those that hold what nobody takes any more.
		goleak.IgnoreAnyFunction("github.com/Shopify/toxiproxy/v2/toxics.(*ToxicStub).Run"),
		goleak.IgnoreAnyFunction("github.com/Shopify/toxiproxy/v2.(*ToxicLink).read"),
		goleak.IgnoreAnyFunction("github.com/Shopify/toxiproxy/v2.(*ToxicLink).write"),
		goleak.Cleanup(func(code int) {
			process.RemoveBuilt()
			os.Exit(code)
		}))
}

// botPace lets a game of bots alone last for some seconds.
const botPace = 15 * time.Millisecond

// quick is the configuration of every server: with clocks and bots that nobody
// has to wait for, and time for those who read nothing before a whole game is
// played.
func quick(redis string) server.Config {
	config := server.DefaultConfig().Unlimited()
	config.Listen, config.Redis = "127.0.0.1:0", "redis://"+redis
	config.MinTurnLimit, config.BotPace, config.Stall = time.Millisecond, botPace, time.Hour
	return config
}
