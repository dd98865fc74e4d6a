package redis

import (
	"context"
	"errors"
	"strconv"
	"time"

	goredis "github.com/redis/go-redis/v9"

	"github.com/gridstand/gridstand/server/internal/store"
)

var (
	holdScript  = newScript("hold.lua")
	leaseScript = newScript("lease.lua")
	ackScript   = newScript("ack.lua")
)

// queueKey is the sorted set of jobs: game ID by Unix milliseconds.
const queueKey = "due"

type queue struct{ client goredis.UniversalClient }

func (q queue) Hold(
	ctx context.Context, gameID string, delay time.Duration, last, latest time.Time,
) (time.Time, error) {
	args := []any{gameID, delay.Milliseconds(), store.Milli(last), milliText(latest)}
	at, err := holdScript.Run(ctx, q.client, []string{queueKey}, args...).Int64()
	return time.UnixMilli(at), failed(err)
}

func (q queue) EnqueueBy(ctx context.Context, at time.Time, gameIDs ...string) error {
	return q.add(ctx, goredis.ZAddArgs{LT: true}, at, gameIDs)
}

func (q queue) EnqueueMissing(ctx context.Context, gameIDs ...string) error {
	return q.add(ctx, goredis.ZAddArgs{NX: true}, store.AtOnce, gameIDs)
}

// add adds jobs that are due at the given time.
func (q queue) add(ctx context.Context, args goredis.ZAddArgs, at time.Time, gameIDs []string) error {
	if len(gameIDs) == 0 {
		return nil
	}
	for _, gameID := range gameIDs {
		args.Members = append(args.Members, goredis.Z{Score: float64(at.UnixMilli()), Member: gameID})
	}
	return failed(q.client.ZAddArgs(ctx, queueKey, args).Err())
}

func (q queue) Scheduled(ctx context.Context, gameID string) (time.Time, error) {
	at, err := q.client.ZScore(ctx, queueKey, gameID).Result()
	if errors.Is(err, goredis.Nil) {
		return time.Time{}, nil
	}
	return time.UnixMilli(int64(at)), failed(err)
}

func (q queue) Remove(ctx context.Context, gameID string) error {
	return failed(q.client.ZRem(ctx, queueKey, gameID).Err())
}

func (q queue) Lease(ctx context.Context, n int, d time.Duration) ([]store.Job, error) {
	reply, err := leaseScript.Run(ctx, q.client, []string{queueKey}, n, d.Milliseconds()).StringSlice()
	if err == nil && len(reply) == 0 {
		err = errors.New("lease.lua returned nothing")
	}
	var expires int64
	if err == nil {
		expires, err = strconv.ParseInt(reply[0], 10, 64)
	}
	if err != nil {
		return nil, failed(err)
	}
	jobs := make([]store.Job, len(reply)-1)
	for i, gameID := range reply[1:] {
		at := time.UnixMilli(expires)
		jobs[i] = store.Job{GameID: gameID, Leased: at.Add(-d), Expires: at}
	}
	return jobs, nil
}

func (q queue) Ack(ctx context.Context, job store.Job, next time.Time) error {
	return failed(ackScript.Run(ctx, q.client, []string{queueKey}, job.GameID, job.Expires.UnixMilli(), milliText(next)).Err())
}
