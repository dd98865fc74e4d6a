// Package liveness detects outages and rollbacks of the store by heartbeats, and repairs what they
// leave behind.
//
// Every server records a heartbeat in the store every half second. The store compares it with the
// other stored heartbeats, by its own clock (store.Heartbeats). A server that does not come back is
// forgotten after eight days, or earlier if more than 256 servers are stored.
//
// An outage is a period of more than three seconds in which no server sent a heartbeat. The first
// heartbeat after it stores it in place of the previous one, or together with it if that ended less
// than 30 seconds earlier. A clock that ran during the outage gets a full turn from its end when it
// has run out, as an event of the game. The close of a race is postponed by the outage.
//
// A rollback means that the store has returned to an earlier state, for example because it was
// restored from a copy, or failed over to a lagging replica. A server suspects it if the stored
// heartbeat is older than the one that the store has acknowledged, or if the store's process was
// replaced. It then compares the games in its memory with their logs, and quarantines those whose
// log lacks an entry. A game stays in memory for a minute after its last move, so this finds the
// lost moves if the copy is recent. Otherwise an operator has to quarantine games: the server logs
// the command. On a Redis cluster, rollbacks are detected only on the master that stores the
// heartbeats.
//
// A quarantined game stays damaged: its log accepts no more entries, clients that request it
// get an error, and it is removed after Stores.KeepFinished.
//
// Leaderboards, lists and the queue of jobs are derived from the logs. Rebuild derives them
// again. If servers share the store, the one with the smallest id reconciles them hourly.
package liveness
