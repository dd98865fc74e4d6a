// Package compose tests the compose files as an operator uses them, with Docker: players play and
// spectators watch while containers are killed, restarted, replaced and scaled, and at the end
// nothing that the servers acknowledged may be lost. It also checks the permissions of the
// containers and the responses of their published port.
//
// These tests run only with -compose; make compose-try prepares everything they need. Other tests only
// read the files.
package compose
