package scheduler

import (
	"context"
	_ "embed" // scripts
	"errors"
	"fmt"
	"strconv"
	"time"

	"github.com/redis/go-redis/v9"
)

var (
	//go:embed enqueue_in.lua
	enqueueInSource string
	//go:embed lease.lua
	leaseSource string
	//go:embed ack.lua
	ackSource string

	enqueueInScript = redis.NewScript(enqueueInSource)
	leaseScript     = redis.NewScript(leaseSource)
	ackScript       = redis.NewScript(ackSource)
)

// key of the sorted set of jobs: game id by Unix milliseconds.
const key = "due"

// Queue is the jobs of all servers. All times are Redis's.
type Queue struct {
	client redis.UniversalClient
	// once sends a command only once: repeating a lease would hide the jobs that
	// the first attempt leased.
	once redis.UniversalClient
}

// Job is a game that was leased because something is due with it.
type Job struct {
	GameID string
	// Leased is when the lease began, and Expires when it ends.
	Leased, Expires time.Time
}

// EnqueueIn schedules a job after a delay, unless it is due earlier. It ends a
// lease, since the job may have to see what happens next.
func (q Queue) EnqueueIn(ctx context.Context, gameID string, delay time.Duration) error {
	return enqueued(enqueueInScript.Run(ctx, q.client, []string{key}, gameID, delay.Milliseconds()).Err())
}

// EnqueueBy schedules a job for a time, unless it is due earlier.
func (q Queue) EnqueueBy(ctx context.Context, gameID string, at time.Time) error {
	return enqueued(q.client.ZAddLT(ctx, key, member(gameID, at)).Err())
}

// Set schedules a job for a time, also if it was due earlier.
func (q Queue) Set(ctx context.Context, gameID string, at time.Time) error {
	return enqueued(q.client.ZAdd(ctx, key, member(gameID, at)).Err())
}

// EnqueueMissing makes jobs due for the games that have none.
func (q Queue) EnqueueMissing(ctx context.Context, gameIDs ...string) error {
	return q.enqueueDue(ctx, redis.ZAddArgs{NX: true}, gameIDs)
}

// EnqueueNow makes jobs due, also those that are leased.
func (q Queue) EnqueueNow(ctx context.Context, gameIDs ...string) error {
	return q.enqueueDue(ctx, redis.ZAddArgs{LT: true}, gameIDs)
}

// enqueueDue adds jobs for a time that is long past.
func (q Queue) enqueueDue(ctx context.Context, args redis.ZAddArgs, gameIDs []string) error {
	if len(gameIDs) == 0 {
		return nil
	}
	for _, gameID := range gameIDs {
		args.Members = append(args.Members, redis.Z{Member: gameID})
	}
	return enqueued(q.client.ZAddArgs(ctx, key, args).Err())
}

func member(gameID string, at time.Time) redis.Z {
	return redis.Z{Score: float64(at.UnixMilli()), Member: gameID}
}

// enqueued wraps an error of enqueueing.
func enqueued(err error) error {
	if err != nil {
		return fmt.Errorf("enqueueing: %w", err)
	}
	return nil
}

// Remove removes a job.
func (q Queue) Remove(ctx context.Context, gameID string) error {
	if err := q.client.ZRem(ctx, key, gameID).Err(); err != nil {
		return fmt.Errorf("removing a job: %w", err)
	}
	return nil
}

// Lease leases up to n jobs that are due, for the given time. After an error the
// jobs may have been leased all the same.
func (q Queue) Lease(ctx context.Context, n int, d time.Duration) ([]Job, error) {
	reply, err := leaseScript.Run(ctx, q.once, []string{key}, n, d.Milliseconds()).StringSlice()
	if err == nil && len(reply) == 0 {
		err = errors.New("an empty reply")
	}
	var expires int64
	if err == nil {
		expires, err = strconv.ParseInt(reply[0], 10, 64)
	}
	if err != nil {
		return nil, fmt.Errorf("leasing jobs: %w", err)
	}
	jobs := make([]Job, len(reply)-1)
	for i, gameID := range reply[1:] {
		at := time.UnixMilli(expires)
		jobs[i] = Job{GameID: gameID, Leased: at.Add(-d), Expires: at}
	}
	return jobs, nil
}

// Ack ends a lease: the job is due next at the given time, or removed if that is
// zero. If the lease has expired or the job was enqueued again, Ack does nothing.
func (q Queue) Ack(ctx context.Context, job Job, next time.Time) error {
	at := ""
	if !next.IsZero() {
		at = strconv.FormatInt(next.UnixMilli(), 10)
	}
	if err := ackScript.Run(ctx, q.client, []string{key}, job.GameID, job.Expires.UnixMilli(), at).Err(); err != nil {
		return fmt.Errorf("acknowledging a job: %w", err)
	}
	return nil
}

// maxReclaimed bounds the jobs that leased finds. The leases of the others expire.
const maxReclaimed = 10_000

// leased returns the games whose jobs may have been leased, by any server, for d
// and since that long ago. Scheduled jobs of the same times are among them.
func (q Queue) leased(ctx context.Context, ago, d time.Duration) ([]string, error) {
	now, err := q.client.Time(ctx).Result()
	var ids []string
	if err == nil {
		ago += time.Second // Asking for the time may have taken long.
		ids, err = q.client.ZRangeByScore(ctx, key, &redis.ZRangeBy{
			Min:   strconv.FormatInt(now.Add(d-ago).UnixMilli(), 10),
			Max:   strconv.FormatInt(now.Add(d).UnixMilli(), 10),
			Count: maxReclaimed,
		}).Result()
	}
	if err != nil {
		return nil, fmt.Errorf("looking for leases: %w", err)
	}
	return ids, nil
}
