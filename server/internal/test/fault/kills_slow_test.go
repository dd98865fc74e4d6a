//go:build slow

package fault

import (
	"flag"
	"math/rand/v2"
	"testing"
	"time"
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
	server := env.startCrew(1)[0]
	seed := drawSeed(t)
	tr := env.startTraffic(killLoad, seed, server)
	began := time.Now()
	env.awaitProgress(t, 100)

	first := time.Now()
	rng := rand.New(rand.NewPCG(seed, 0))
	for range *stormKills {
		server.stop()
		if rng.IntN(10) == 0 {
			_, unborn := env.startProgram(server.flags...)
			<-time.After(time.Duration(rng.IntN(30)) * time.Millisecond)
			unborn.Kill()
		}
		server.restart()
		env.awaitProgress(t, 1+rng.IntN(60))
	}
	tr.finish(t)
	t.Logf("figure: slowest turn of a bot with kills of the only server | %.1f s | %.1f s",
		tr.slowestBot(first, time.Now()).Seconds(), tr.slowestBot(began, first).Seconds())
	server.stop()
	tr.checkLinearizable(t)
}

const (
	// takeovers is the number of kills in each half of TestStorm_Takeover.
	takeovers = 8
	// apart is longer than a takeover.
	apart = 5 * time.Second
)

// Ensure that the bots of a killed server move on another one. One of two servers is killed: at first
// with a pause for the takeover, and then again and again, also the one that takes over. The test logs
// the slowest turns of bots.
func TestStorm_Takeover(t *testing.T) {
	t.Parallel()
	env := newRedisEnv(t)
	servers := env.startCrew(2)
	seed := drawSeed(t)
	began := time.Now()
	tr := env.startTraffic(load{tables: 8, pause: 50 * time.Millisecond}, seed, servers...)
	env.awaitProgress(t, 500)

	rng := rand.New(rand.NewPCG(seed, 0))
	kill := func(pause time.Duration) {
		n := rng.IntN(2)
		servers[n].restart()
		<-time.After(pause)
	}
	single := time.Now()
	for range takeovers {
		kill(apart)
	}
	row := time.Now()
	for range 2 * takeovers {
		kill(time.Duration(rng.Int64N(int64(apart / 2))))
	}
	ended := time.Now()
	tr.finish(t)
	calm := tr.slowestBot(began, single).Seconds()
	t.Logf("figure: slowest turn of a bot after the kill of one of two servers | %.1f s | %.1f s", tr.slowestBot(single, row).Seconds(), calm)
	t.Logf("figure: slowest turn of a bot with %d kills in %.0f s | %.1f s | %.1f s",
		2*takeovers, ended.Sub(row).Seconds(), tr.slowestBot(row, ended).Seconds(), calm)
}

// slowestBot returns the longest turn of a bot that ended in a period, by the store's clock.
func (tr *traffic) slowestBot(from, to time.Time) (longest time.Duration) {
	for _, p := range tr.participants {
		for i, e := range p.events {
			at := e.GetTime().AsTime()
			if i > 0 && e.GetMoved() != nil && p.seats[e.GetSeat()].GetBot() != "" && at.After(from) && at.Before(to) {
				longest = max(longest, at.Sub(p.events[i-1].GetTime().AsTime()))
			}
		}
	}
	return longest
}
