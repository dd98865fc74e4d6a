// Package heartbeat detects outages, missing servers and rollbacks of the store, and
// credits outages to running clocks.
//
// Every server records a heartbeat in the store every half second, together with the times at
// which its appends to game logs succeeded. The store compares it with the other stored
// heartbeats, by its own clock (store.Heartbeats).
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
// An outage is a period in which no server could append: no heartbeat and no append succeeded
// for more than three seconds.
//
//	 first heartbeat after it           2 s           8 days
//	──────────────────────────▶ recorded ──▶ settled ───────▶ forgotten
//	                             │    ▲
//	                             └────┘
//	                 a server reports an append in it:
//	                 it is shortened, split or removed
//
// A settled outage is credited to the clocks that were running during it, as an event of the
// game. Games in memory get the credit immediately, and other games when their clock has run
// out.
//
// A rollback means that the store has returned to an earlier state, for example because it
// was restored from a copy. A server detects it by its own heartbeat: the stored one is older
// than the one that the store has acknowledged. Package recovery then quarantines games.
package heartbeat
