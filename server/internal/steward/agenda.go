package steward

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
	//go:embed soon.lua
	soonSource string
	//go:embed claim.lua
	claimSource string
	//go:embed settle.lua
	settleSource string

	soonScript   = redis.NewScript(soonSource)
	claimScript  = redis.NewScript(claimSource)
	settleScript = redis.NewScript(settleSource)
)

// agenda is the one to-do list of all servers: games by the moment at which
// somebody must look at them. All times are Redis's.
type agenda struct {
	client redis.UniversalClient
	// once sends a command once: claiming twice would hide that nobody heard
	// what the first time brought.
	once redis.UniversalClient
}

const dueKey = "due"

// soon notes a game for in a while, unless it is noted for earlier.
func (a agenda) soon(ctx context.Context, gameID string, in time.Duration) error {
	if err := soonScript.Run(ctx, a.client, []string{dueKey}, gameID, in.Milliseconds()).Err(); err != nil {
		return fmt.Errorf("noting a game: %w", err)
	}
	return nil
}

// at notes a game for a moment, whatever was noted before.
func (a agenda) at(ctx context.Context, gameID string, when time.Time) error {
	z := redis.Z{Score: float64(when.UnixMilli()), Member: gameID}
	if err := a.client.ZAdd(ctx, dueKey, z).Err(); err != nil {
		return fmt.Errorf("noting a game: %w", err)
	}
	return nil
}

// by notes a game for a moment, unless it is noted for an earlier one.
func (a agenda) by(ctx context.Context, gameID string, when time.Time) error {
	err := a.client.ZAddLT(ctx, dueKey, redis.Z{Score: float64(when.UnixMilli()), Member: gameID}).Err()
	if err != nil {
		return fmt.Errorf("noting a game: %w", err)
	}
	return nil
}

// missing notes games for now of which nothing was noted.
func (a agenda) missing(ctx context.Context, gameIDs ...string) error {
	if len(gameIDs) == 0 {
		return nil
	}
	now, err := a.client.Time(ctx).Result()
	if err != nil {
		return fmt.Errorf("noting games: %w", err)
	}
	members := make([]redis.Z, len(gameIDs))
	for i, gameID := range gameIDs {
		members[i] = redis.Z{Score: float64(now.UnixMilli()), Member: gameID}
	}
	if err := a.client.ZAddNX(ctx, dueKey, members...).Err(); err != nil {
		return fmt.Errorf("noting games: %w", err)
	}
	return nil
}

// now notes games to be looked at at once, also those that somebody claimed.
func (a agenda) now(ctx context.Context, gameIDs ...string) error {
	if len(gameIDs) == 0 {
		return nil
	}
	members := make([]redis.Z, len(gameIDs))
	for i, id := range gameIDs {
		members[i].Member = id // by a moment that is long past
	}
	if err := a.client.ZAddLT(ctx, dueKey, members...).Err(); err != nil {
		return fmt.Errorf("noting games: %w", err)
	}
	return nil
}

// remove takes a game off the list, whatever was noted.
func (a agenda) remove(ctx context.Context, gameID string) error {
	if err := a.client.ZRem(ctx, dueKey, gameID).Err(); err != nil {
		return fmt.Errorf("taking a game off: %w", err)
	}
	return nil
}

// claim takes up to n games that are due, for the given span: another server
// looks at them after it.
func (a agenda) claim(ctx context.Context, n int, span time.Duration) (gameIDs []string, until time.Time, err error) {
	reply, err := claimScript.Run(ctx, a.once, []string{dueKey}, n, span.Milliseconds()).StringSlice()
	if err == nil && len(reply) == 0 {
		err = errors.New("an empty reply")
	}
	if err != nil {
		return nil, until, fmt.Errorf("claiming games: %w", err)
	}
	ms, err := strconv.ParseInt(reply[0], 10, 64)
	if err != nil {
		return nil, until, fmt.Errorf("claiming games: %w", err)
	}
	return reply[1:], time.UnixMilli(ms), nil
}

// maxClaimed bounds the games that claimed finds: what is more waits for the end
// of its claim.
const maxClaimed = maxScheduled

// claimed finds the games that may have been claimed for the given span since so
// long ago, by whoever: those that a server claimed and did not hear of are among
// them, and to look at the others once more does no harm.
func (a agenda) claimed(ctx context.Context, ago, span time.Duration) ([]string, error) {
	now, err := a.client.Time(ctx).Result()
	if err == nil {
		ago += time.Second // It may have taken long to ask for the time.
		var ids []string
		ids, err = a.client.ZRangeByScore(ctx, dueKey, &redis.ZRangeBy{
			Min:   strconv.FormatInt(now.Add(span-ago).UnixMilli(), 10),
			Max:   strconv.FormatInt(now.Add(span).UnixMilli(), 10),
			Count: maxClaimed,
		}).Result()
		if err == nil {
			return ids, nil
		}
	}
	return nil, fmt.Errorf("looking for claims: %w", err)
}

// settle ends a claim: the game is noted for next, or for never if next is
// zero, unless something else was noted meanwhile.
func (a agenda) settle(ctx context.Context, gameID string, until, next time.Time) error {
	when := ""
	if !next.IsZero() {
		when = strconv.FormatInt(next.UnixMilli(), 10)
	}
	if err := settleScript.Run(ctx, a.client, []string{dueKey}, gameID, until.UnixMilli(), when).Err(); err != nil {
		return fmt.Errorf("settling a game: %w", err)
	}
	return nil
}
