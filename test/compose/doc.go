// Package compose tries the compose files as a host uses them, with Docker:
// people play and watch while containers are killed, restarted, replaced and
// scaled, and in the end nothing that a player was told may be lost. It also
// looks at what the containers may do, and what their published port answers.
//
// It runs only with -compose; make compose-try sees to what it needs.
package compose
