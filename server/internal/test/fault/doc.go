// Package fault tests whole servers through their public API while something fails: servers are
// killed or paused; Redis is stopped, loses replies or forgets scripts; a file runs out of disk
// space; connections break; stores go back in time; clients misbehave; and players race each other.
//
// All tests have the build tag slow. CI runs those of make faults: TestStorm for a minute, and the
// cheap ones, which make the same moves and inject the same faults in every run. The others kill
// processes, take minutes, or measure: the nightly run runs all of them.
//
// # Helpers
//
//   - env is one store, the servers that use it, and what their clients observed. A testServer runs
//     in the test's process, as package server starts it, or as a process of the server's program
//     if the test kills it.
//   - caller is an account with a connection to one server. watcher follows a game in one of
//     several ways; participant follows it and moves on its turn. racer is an entrant of a race.
//     baseline is a player whose move latency is measured.
//   - badClient floods a server; flood holds the target and the counters of one of these clients.
//     throughProxy puts the shipped HAProxy configuration in front of a server.
//   - redistest.Proxy cuts, delays and drops traffic between a server and Redis, or its clients.
//   - observations holds all events and games that clients received; history lists many
//     clients' operations on one game, with their results; workload generates such operations;
//     scenario is the game that a workload plays.
//   - traffic consists of players, who play one game after another, and watchers, until the test
//     ends it.
//   - storm injects random faults, drawn from a seed, while traffic uses two servers backed
//     by Redis, or one backed by a file. TestStorm_Kills does the same with a file and
//     a single kind of fault: the only server is killed repeatedly.
//
// # Invariants
//
// All clients must receive the same event for a version of a game, or observations fails the
// test. Package watchtest checks each stream: it must not skip, repeat or go back to a version.
// After each test, check reads the store, directly and through a fresh server, and requires:
//
//   - logs without gaps, with every event that a client received;
//   - boards that follow from the games' seeds;
//   - every open game scheduled and every result recorded;
//   - leaderboards and lists that are the same after a rebuild from the logs.
//
// The storm also requires each history to be linearizable: porcupine searches for an order of the
// operations in which the rules and the contract (see model) explain every result.
// TestLinearizable_Planted shows that the search detects wrong results.
//
// # Replay a seed
//
// Most tests derive their moves from their own name (seeded) or play moves that make games last, so
// every run makes the same moves. TestCluster and the tests whose names begin with TestStorm draw a new
// seed and log it. To repeat a storm's schedule:
//
//	go test -tags slow ./server/internal/test/fault -run '^TestStorm$' -v -timeout 0 -args -storm=10m -storm.seed=42
//
// The seed determines the faults, their order and duration, and what players choose. It does not
// determine how goroutines and processes are scheduled, so it may take several runs to
// reproduce a failure. If a history is not linearizable, the test draws it in an HTML file and
// logs the file's path.
package fault
