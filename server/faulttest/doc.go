// Package faulttest holds tests of whole servers through their public API while
// something breaks: servers are killed, Redis is stopped, loses answers or
// forgets scripts, connections are cut, logs are damaged, and players race each
// other. Servers run in the test's process as server/app starts them, or as
// processes of their own where they have to die.
//
// Everything that a client is told during a test is noted. After each test one
// checker reads the store with a fresh server and holds what it finds against
// the notes: logs without gaps, every event told in its log and told alike to
// everybody, boards that follow from the seeds, leaderboards with each player's
// best and nothing else.
package faulttest
