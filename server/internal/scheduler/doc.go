// Package scheduler is a delayed-job queue with leases that all servers share. A job consists
// of the id of a game and the time, by the store's clock, at which the game has to be
// processed. There is at most one job per game.
//
//	        none
//	         │  EnqueueIn, EnqueueBy, Set
//	         ▼
//	┌──▶ scheduled
//	│        │  its time comes, or EnqueueNow
//	│        ▼
//	│       due ◀──────┐
//	│        │ Lease   │ the lease expires, or EnqueueNow
//	│        ▼         │
//	├───── leased ─────┘
//	│        │ Ack without a next time
//	│        ▼
//	│       none
//	└ Ack with a next time
//
// EnqueueNow and EnqueueMissing also create jobs that are due immediately, and Remove removes
// a job in any state.
//
// A lease gives a job to one server for ten seconds. If the game was enqueued again during
// the lease, Ack has no effect, so that the job is processed again (store.Queue).
//
// A job may be processed more than once, even by two servers at the same time, so handlers
// must be idempotent. No job is lost if a server crashes: its leases expire, and the other
// servers reclaim them earlier if they detect the crash (Reclaim).
package scheduler
