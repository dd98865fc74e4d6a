// Package heartbeat detects outages, missing servers and rollbacks of the store, and
// credits outages to running clocks.
//
// Every server records a heartbeat in the store each half second, with the times at
// which its appends to game logs succeeded. The store compares it with the other
// heartbeats that it holds, by its own clock (store.Heartbeats).
//
// A server, as the others see it:
//
//	 first heartbeat         no heartbeat for 1.5 s
//	─────────────────▶ alive ──────────────────────▶ missing
//	                   │   ▲                            │
//	             Leave │   └────────────────────────────┘
//	                   ▼              heartbeat
//	                  left
//
// When a server becomes missing, Config.OnMissing is called once, in one of the
// others. A server that does not come back is forgotten after eight days, or
// earlier if more than 256 are stored.
//
// An outage is a time in which no server could append: no heartbeat and no append
// succeeded for more than three seconds.
//
//	 first heartbeat after it           2 s           8 days
//	──────────────────────────▶ recorded ──▶ settled ───────▶ forgotten
//	                             │    ▲
//	                             └────┘
//	                 a server reports an append in it:
//	                 it becomes shorter, splits or goes
//
// A settled outage is credited to the clocks that ran during it, as an event of
// the game: at once to the games in memory, and to the others when their clock has
// run out.
//
// A rollback is the store going back in time, as when it is restored from a copy. A
// server detects it by its own heartbeat: the stored one is older than the one
// that the store acknowledged. Package recovery deals with it.
package heartbeat
