// Package fault holds tests of whole servers through their public API while
// something breaks: servers are killed, Redis is stopped, loses answers or
// forgets scripts, connections are cut, logs are damaged, clocks are off, clients
// behave badly, and players race each other. Servers run in the test's process
// as package server starts them, or as processes of the server's program where they
// have to die; bad networks are toxiproxy's. TestStorm_long does it all at once, drawn
// from a seed: -storm says for how long, -storm.seed which one.
//
// Everything that a client is told during a test is noted, and what watchers are
// shown is judged by watchtest. After each test one checker reads the store with
// a fresh server and holds what it finds against the notes: logs without gaps,
// every event told in its log and told alike to everybody, boards that follow
// from the seeds, leaderboards with each player's best and nothing else.
// TestLinearizable keeps whole histories of calls and answers, and searches an
// order of them in which the rules give every answer; TestStorm_long does so too.
package fault
