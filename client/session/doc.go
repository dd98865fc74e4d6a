// Package session is what a program needs to play on a Gridstand server or to
// watch one: it dials, keeps credentials, logs in, plays with calls that take
// effect once, and follows a game across lost connections. The terminal client
// is built on it, and a bot can be.
package session
