// Package scheduler is a delayed-job queue with leases that all servers share. A
// job is the id of a game, with the time, by Redis's clock, at which something is
// due with the game. There is at most one job for each game.
//
//	       EnqueueIn, EnqueueBy,          its time comes,
//	       EnqueueMissing, Set            or EnqueueNow
//	none ────────────────────▶ scheduled ────────────────▶ due
//	 ▲                             ▲                       ▲ │
//	 │                             │          the lease    │ │ Lease
//	 │ Remove, or                  │           expires,    │ ▼
//	 │ Ack without a next time     │       or EnqueueNow  leased
//	 ├─────────────────────────────┼──────────────────────── │
//	 │                             │ Ack with a next time    │
//	 │                             └──────────────────────── ┘
//	 └── Remove, from any state
//
// A lease gives a job to one server for ten seconds. In Redis it is a time to come,
// like that of a scheduled job, and Ack recognises it by that time to the
// millisecond. If anything was enqueued for the game in between, the time differs
// and Ack changes nothing, so that the job is processed again.
//
// A job may be processed more than once, also by two servers at the same time, so
// processing must be repeatable. A server that dies loses nothing: its leases
// expire, and the others reclaim them earlier if they notice (Reclaim).
package scheduler
