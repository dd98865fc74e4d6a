package steward

import (
	"context"
	_ "embed" // script
	"fmt"
	"strconv"
	"strings"
	"time"

	"github.com/redis/go-redis/v9"
)

var (
	//go:embed beat.lua
	beatSource string
	beatScript = redis.NewScript(beatSource)
)

// The braces keep both keys in one slot of a cluster.
const (
	beatKey    = "beat"
	outagesKey = "outages:{beat}"
)

const (
	// beatEvery is how often each server says that it is alive.
	beatEvery = time.Second
	// outageAfter is after what silence of all servers time is given back to
	// the clocks that ran.
	outageAfter = 3 * time.Second
	// outagesKept is longer than any clock runs.
	outagesKept = 8 * 24 * time.Hour
)

// beat says that this server is alive, and returns when it did, by Redis's
// clock. Every outage before that is noted then.
func (s *Steward) beat(ctx context.Context) (time.Time, error) {
	now, gap, err := s.agenda.beat(ctx)
	if err == nil && gap > 0 {
		s.Logger.Warn("no moves could be taken; clocks that ran get the time back", "for", gap)
	}
	return now, err
}

// beat raises the beat. It returns when, and how long no server had, if that
// was an outage.
func (a agenda) beat(ctx context.Context) (now time.Time, gap time.Duration, err error) {
	reply, err := beatScript.Run(ctx, a.client, []string{beatKey, outagesKey},
		outageAfter.Milliseconds(), outagesKept.Milliseconds()).Int64Slice()
	if err == nil && len(reply) != 2 {
		err = fmt.Errorf("a reply of %d numbers", len(reply))
	}
	if err != nil {
		return now, 0, fmt.Errorf("raising the beat: %w", err)
	}
	return time.UnixMilli(reply[0]), time.Duration(reply[1]) * time.Millisecond, nil
}

// outage returns for how long since the given time no server could take moves.
func (a agenda) outage(ctx context.Context, since time.Time) (time.Duration, error) {
	stored, err := a.client.ZRangeByScore(ctx, outagesKey, &redis.ZRangeBy{
		Min: strconv.FormatInt(since.UnixMilli(), 10), Max: "+inf",
	}).Result()
	if err != nil {
		return 0, fmt.Errorf("reading outages: %w", err)
	}
	var total time.Duration
	for _, o := range stored {
		first, last, _ := strings.Cut(o, " ")
		from, err := strconv.ParseInt(first, 10, 64)
		if err != nil {
			return 0, fmt.Errorf("no outage: %q", o)
		}
		to, err := strconv.ParseInt(last, 10, 64)
		if err != nil {
			return 0, fmt.Errorf("no outage: %q", o)
		}
		total += time.Duration(to-max(from, since.UnixMilli())) * time.Millisecond
	}
	return total, nil
}
