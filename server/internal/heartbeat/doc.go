// Package heartbeat detects outages, missing servers and rollbacks of the store, and
// credits outages to running clocks.
//
// Every server records a heartbeat in the store every half second. The store compares it with the
// other stored heartbeats, by its own clock (store.Heartbeats).
//
// The other servers see a server in these states:
//
//	 first heartbeat         no heartbeat for 1.5 s
//	─────────────────▶ alive ──────────────────────▶ missing
//	                   │   ▲                            │
//	             Leave │   └────────────────────────────┘
//	                   ▼              heartbeat
//	                  left
//
// When a server becomes missing, Config.OnMissing is called once, on one of the other
// servers. A server that does not come back is forgotten after eight days, or earlier if more
// than 256 servers are stored.
//
// An outage is a period of more than three seconds in which no server sent a heartbeat. The first
// heartbeat after it stores it in place of the previous one. Each clock that ran during the outage
// gets a full turn from its end, as an event of the game: games in memory immediately, and other
// games when their clock has run out. The close of a race is postponed by the outage.
//
// A rollback means that the store has returned to an earlier state, for example because it
// was restored from a copy. A server detects it by its own heartbeat: the stored one is older
// than the one that the store has acknowledged. Package recovery then quarantines games.
package heartbeat
