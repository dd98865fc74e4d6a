// Package recovery finds and quarantines the games that lost moves in a rollback of the
// store, and derives leaderboards and lists from the logs.
//
// If the store is rolled back, for example because it is restored from a copy or fails over
// to a lagging replica, it loses moves that servers have acknowledged. Package heartbeat
// suspects that. Each server then compares the games in its memory with their logs, and
// quarantines those whose log lacks an entry. A server keeps a game in memory for a minute after
// its last move, so this finds the lost moves if the copy is recent. Otherwise an operator has to
// quarantine games: a server logs the command.
//
// A quarantined game stays damaged: its log accepts no more entries, clients that request it
// get an error, and it is removed after Config.KeepFinished.
//
//	open ──▶ quarantined ──▶ removed
//
// Leaderboards, lists and the scheduler's queue are derived from the logs. Rebuild derives them
// again, and Run reconciles them hourly. A store with transactions writes them together with
// the log, so they need no reconciliation.
package recovery
