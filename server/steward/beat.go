package steward

import (
	"context"
	_ "embed" // script
	"fmt"
	"time"

	"github.com/redis/go-redis/v9"
)

var (
	//go:embed beat.lua
	beatSource string
	beatScript = redis.NewScript(beatSource)
)

// The braces keep the keys in one slot of a cluster.
const (
	beatKey    = "beat"
	outagesKey = "outages:{beat}"
	rewoundKey = "rewound:{beat}"
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
// clock. Every outage before that is noted then, and that Redis went back.
func (s *Steward) beat(ctx context.Context) (time.Time, error) {
	seen := s.seen.Load()
	p, err := s.agenda.beat(ctx, seen)
	if err != nil {
		return time.Time{}, err
	}
	// Two at once may come back in any order.
	s.seen.CompareAndSwap(seen, p.beat)
	if p.gap > 0 {
		s.Logger.Warn("no moves could be taken; clocks that ran get the time back", "for", p.gap)
	}
	if p.back {
		s.Logger.Error("redis went back in time: it lost what it acknowledged", "before", time.UnixMilli(seen).UTC())
	}
	return p.now, nil
}

// pulse is what beat.lua replies.
type pulse struct {
	now time.Time
	// gap is how long no server had raised the beat, if that was an outage.
	gap time.Duration
	// beat as it is now, in Unix milliseconds, and whether it had gone back.
	beat int64
	back bool
}

// beat raises the beat, of which the caller has seen a value before, or 0.
func (a agenda) beat(ctx context.Context, seen int64) (pulse, error) {
	reply, err := beatScript.Run(ctx, a.client, []string{beatKey, outagesKey, rewoundKey},
		outageAfter.Milliseconds(), outagesKept.Milliseconds(), seen).Int64Slice()
	if err == nil && len(reply) != 4 {
		err = fmt.Errorf("a reply of %d numbers", len(reply))
	}
	if err != nil {
		return pulse{}, fmt.Errorf("raising the beat: %w", err)
	}
	return pulse{
		now: time.UnixMilli(reply[0]), gap: time.Duration(reply[1]) * time.Millisecond,
		beat: reply[2], back: reply[3] == 1,
	}, nil
}
