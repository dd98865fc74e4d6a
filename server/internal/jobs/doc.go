// Package jobs takes games from their creation to their recorded result. It makes bots
// move, enforces clocks, replaces players whose clock has run out with a bot, ends
// abandoned games, pauses games between bots that no client watches, starts a showcase game
// if no other game is being played, and records results.
//
// Every server does this immediately for games that it appends to, and also for games that
// it leases from a queue of jobs that all servers share. A job consists of the id of a game and
// the time, by the store's clock, at which the game has to be processed. A game has one job
// from before its first entry until its result is recorded.
//
//	        none
//	         │  Hold, EnqueueBy
//	         ▼
//	┌──▶ scheduled
//	│        │  its time comes, or EnqueueBy
//	│        ▼
//	│       due ◀──────┐
//	│        │ Lease   │ the lease expires, or EnqueueBy
//	│        ▼         │
//	├───── leased ─────┘
//	│        │ Ack without a next time
//	│        ▼
//	│       none
//	└ Ack with a next time
//
// EnqueueBy and EnqueueMissing also create jobs that are due at once, and Remove removes a job in
// any state. Hold turns a job in any state into one that is scheduled.
//
// A lease gives a job to one server for five seconds. If the game was held or enqueued again during
// the lease, Ack has no effect, so that the job is processed again (store.Queue).
//
// A server holds the job for five seconds before it appends an entry that needs follow-up work. It
// does that work itself, and the job does it if the server dies. Without Hold, a server that leases
// the job and reads the game between the two could postpone the job, as it would find nothing to do.
// The latest time of the entry limits the hold: a player could otherwise postpone the end of an attempt
// with calls that are too late.
//
// A job may be processed more than once, even by two servers at the same time. That is safe,
// because changes go through the game's log and recording is idempotent.
//
// No job is lost or waits longer than a lease if servers die, also several in a row, or if replies are
// lost: each server that has a job leaves it due when its lease or hold ends. Only an Ack postpones a job
// further, and only if nothing was due in a game that was read after the last hold had ended, or before
// the next one began, which makes the Ack void. No entry can be appended in between: the store refuses one
// whose hold has ended (match.Hub). On a Redis Cluster, this is exact to the difference of its clocks. If a
// failover lost a hold, the hourly run makes up for it (liveness.Recovery).
package jobs
