// Package recovery finds and quarantines the games that lost moves in a rollback of the
// store, and derives leaderboards and lists from the logs.
//
// If the store is rolled back, for example because it is restored from a copy or fails over
// to a lagging replica, it loses moves that servers have acknowledged. Package heartbeat
// detects that. Each server then compares the games in its memory with their logs,
// quarantines those whose log lacks an entry, attests the intact ones that it has followed
// since before the rollback, and then attests that it is done. This finds every lost move if
// the copy was recent and every server that was alive in the copy attests. Otherwise all open
// games from before the rollback are quarantined, except those that a server attests.
//
//	                            all attest, recent copy
//	detected ──▶ servers verify ───────────────────────▶ done
//	                   │                                   ▲
//	                   │ ten seconds pass, or old copy     │
//	                   └──▶ quarantine unattested games ───┘
//
// Servers also compare their games with the logs if the store's process was replaced. If a
// log lacks an entry, the server reports a rollback.
//
// Servers cannot find lost moves if none of them was running before the rollback. In that case,
// an operator has to quarantine the games. On a Redis cluster, rollbacks are detected only on
// the master that stores the heartbeats.
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
