//go:build slow

package fault

import (
	"flag"
	"math/rand/v2"
	"slices"
	"testing"
	"time"

	"github.com/gridstand/gridstand/internal/testkit/process"
)

var stormKills = flag.Int("storm.kills", 20, "number of times that TestStorm_Kills kills the server")

// killLoad is the traffic of TestStorm_Kills: 40 players and 60 watchers.
var killLoad = load{solo: 23, tables: 4, workloads: 3, watchers: 2, pause: 50 * time.Millisecond}

// Ensure that no event is lost, invented, repeated or skipped if the only server is killed
// repeatedly while players play and spectators watch. The server is killed at arbitrary points
// between moves, and sometimes before it is ready to serve. The times are drawn from a seed that
// the test logs.
func TestStorm_Kills(t *testing.T) {
	t.Parallel()
	env := newSQLiteEnv(t)
	env.serversDie = true
	address := process.FreeAddress(t)
	start := func() *testServer { return env.serveProcess("--listen", address) }
	server := start()
	seed := drawSeed(t)
	tr := env.startTraffic(killLoad, seed, server)
	began := time.Now()
	env.awaitProgress(t, 100)

	rng := rand.New(rand.NewPCG(seed, 0))
	var gaps []time.Duration
	for range *stormKills {
		server.stop()
		killed := time.Now()
		if rng.IntN(10) == 0 {
			_, unborn := env.startProgram(append(slices.Clone(unlimited), "--listen", address)...)
			<-time.After(time.Duration(rng.IntN(30)) * time.Millisecond)
			unborn.Kill()
		}
		server = start()
		env.awaitProgress(t, 1+rng.IntN(60))
		gaps = append(gaps, time.Since(killed))
	}
	tr.finish(t)
	took := time.Since(began).Round(time.Second)
	server.stop()
	tr.checkLinearizable(t)
	slices.Sort(gaps)
	t.Logf("%d kills in %v, play continued after p50 %v, max %v\n%s", len(gaps), took,
		gaps[len(gaps)/2].Round(time.Millisecond), gaps[len(gaps)-1].Round(time.Millisecond), tr.summary())
}
