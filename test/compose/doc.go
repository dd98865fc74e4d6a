// Package compose tests the compose files as an operator uses them, with Docker. TestBase plays a game
// on the base stack with curl and looks at its score in Redis. The other tests kill, restart, replace
// and scale containers while a player plays and a spectator watches; at the end nothing that the servers
// acknowledged may be lost. They also check the permissions of the containers and the responses of
// their published port.
//
// All of them need the build tag slow, and those that start containers also -compose; make compose-try
// prepares everything that they need.
package compose
