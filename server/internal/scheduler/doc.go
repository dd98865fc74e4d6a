// Package scheduler is a delayed-job queue with leases that all servers share. A
// job is the id of a game, with the time, by the store's clock, at which something is
// due with the game. There is at most one job for each game.
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
// EnqueueNow and EnqueueMissing make a job due that did not exist, too, and Remove
// removes a job in any state.
//
// A lease gives a job to one server for ten seconds. If anything was enqueued for
// the game in between, Ack changes nothing, so that the job is processed again
// (store.Queue).
//
// A job may be processed more than once, also by two servers at the same time, so
// processing must be repeatable. A server that dies loses nothing: its leases
// expire, and the others reclaim them earlier if they notice (Reclaim).
package scheduler
