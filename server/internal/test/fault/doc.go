// Package fault holds tests of whole servers through their public API while
// something fails: servers are killed or paused, Redis is stopped, loses replies
// or forgets scripts, a file is cut, spoilt, replaced or finds no room, connections
// are cut, logs are damaged, clocks are wrong, clients misbehave, and players race
// each other.
//
// # Cast
//
//   - env is one store, the servers on it, and what their clients observed. A
//     testServer runs in the test's process, as package server starts it, or as a
//     process of the server's program if it has to die. each runs a test on SQLite
//     and on Redis, with a pair of servers that is one server on SQLite.
//   - caller is an account on a connection to one server. watcher follows a game
//     in one of several ways; participant follows it and moves when its seat is to
//     move; mover plays game after game on whichever server failover says is
//     current. baseline is a player whose move latency is measured.
//   - badClient floods a server over raw connections; throughProxy puts the shipped
//     HAProxy configuration before a server.
//   - redistest.Proxy cuts, holds and loses what a server exchanges with Redis; link
//     is a connection with toxiproxy's faults, for the storm.
//   - observations are all events and games that clients were sent; history is the
//     operations of many clients on one game, with their answers; workload makes
//     such operations; scenario is the game that a workload is about.
//   - storm injects faults into traffic, drawn from a seed: players and watchers on two
//     servers with a Redis, or one with a file. TestStorm_Kills_long is the same on a
//     file, with one fault: its only server is killed again and again.
//   - image is the bytes of a file and its write-ahead log; played is games on a file
//     in a known order.
//
// # Invariants
//
// Every client is sent the same event for a version of a game: observations fail
// the test otherwise. Package watchtest checks each stream: no gap, no repetition,
// no step back. After each test check reads the store, through its ports and with
// a fresh server, and requires:
//
//   - logs without gaps, with every event that a client was sent;
//   - boards that follow from the games' seeds;
//   - leaderboards with each player's best score and nothing else;
//   - every open game scheduled and every result recorded;
//   - the same leaderboards and lists after a rebuild from the logs.
//
// TestLinearizable and the storm also require each history to be linearizable:
// porcupine searches for an order of the operations in which the rules and the
// contract (model) give every answer. TestLinearizable_Planted shows that
// the search finds wrong answers.
//
// # Replay a seed
//
// Most tests draw moves from their own name (seeded) and so repeat them. The storm
// and TestLinearizable draw a new seed and log it. To repeat a storm's schedule:
//
//	TEST_LONG=1 go test ./server/internal/test/fault -run '^TestStorm_long$' -v -timeout 0 -args -storm=10m -storm.seed=42
//
// The seed fixes the faults, their order and length, and what players choose. It
// does not fix what goroutines and processes do in between, so a failure may take
// several runs; a history that is not linearizable is drawn in an HTML file, whose
// path the test logs.
package fault
