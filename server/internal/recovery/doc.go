// Package recovery finds the games that lost moves in a rollback of the store and
// puts them in quarantine, and derives leaderboards and lists from the logs.
//
// A rollback of the store, as when it is restored from a copy or fails over to a
// replica that lags, loses moves that servers have acknowledged. Package heartbeat
// detects it. Each server then compares the games that it has in memory with their
// logs, quarantines those whose log lacks an entry, vouches for those that it has
// followed since before the rollback, and attests that it has done so. That finds
// every lost move if little was lost and every server that was alive in the copy
// attests. Otherwise all open games of that time are quarantined, except those that a
// server vouches for.
//
//	                            all attest, young copy
//	detected ──▶ servers verify ───────────────────────▶ done
//	                   │                                   ▲
//	                   │ ten seconds pass, or old copy     │
//	                   └──▶ quarantine unattested games ───┘
//
// If the store becomes another process, servers compare their games with the logs, too.
// If a log lacks an entry, that is a rollback.
//
// This does not help if no server ran before the rollback: then an operator
// quarantines games. On a cluster it covers the master that holds the heartbeats.
//
// A game in quarantine stays damaged: its log takes no more entries, clients
// that ask for it are told so, and it is forgotten after Config.KeepFinished.
//
//	open ──▶ quarantined ──▶ forgotten
//
// Leaderboards, lists and the scheduler's queue follow from the logs. Rebuild
// derives them from the logs again, and Run reconciles them hourly. A store with
// transactions writes them together with the log, and needs no reconciling.
package recovery
