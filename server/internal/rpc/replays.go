package rpc

import (
	"context"
	"time"

	"golang.org/x/sync/semaphore"

	"github.com/gridstand/gridstand/server/internal/page"
	"github.com/gridstand/gridstand/server/internal/ratelimit"
)

// addressReplay is the number of events in all logs that the server replays for one address at
// once. A longer log counts as this many events. A replay keeps all states of a game with undos in
// memory, which take about 300 bytes each.
const addressReplay = 200_000

// replayGate limits the number of events in all logs that are replayed at once. A replay waits for
// others of its address, and then for those of all addresses.
type replayGate struct {
	addresses *ratelimit.Addresses[*semaphore.Weighted]
	all       *semaphore.Weighted
	wait      time.Duration // maximum time that a replay waits
}

// newReplayGate returns a gate for as many replays of the longest logs as the given limit, or
// without a limit if that is 0.
func newReplayGate(limit int, wait time.Duration) *replayGate {
	return &replayGate{
		addresses: ratelimit.NewAddresses(func(string) *semaphore.Weighted { return newSlots(limit, addressReplay) }),
		all:       newSlots(limit, limit*addressReplay), wait: wait,
	}
}

// enter waits until a log with the given number of events may be replayed for an address. If err
// is nil, the caller must call leave after the replay. The error is full if the wait is too long.
func (g *replayGate) enter(ctx context.Context, address string, events int32, full error) (leave func(), err error) {
	weight := min(int64(events), addressReplay)
	own, _ := g.addresses.Enter(address, 0)
	leaveOwn, err := acquireSlots(ctx, own, weight, g.wait, full)
	if err == nil {
		var leaveAll func()
		if leaveAll, err = acquireSlots(ctx, g.all, weight, g.wait, full); err == nil {
			return func() {
				leaveAll()
				leaveOwn()
				g.addresses.Leave(address)
			}, nil
		}
		leaveOwn()
	}
	g.addresses.Leave(address)
	return nil, err
}

// admitLoad is the match.Admit for loading a game that is not in memory.
func (s *Service) admitLoad(ctx context.Context, events int32) (done func(), err error) {
	return s.admitReplay(ctx, s.loads, s.Address(ctx), events, 1)
}

// admitSearch is the match.Admit for finding an old state or event for a call, such as an undo.
func (s *Service) admitSearch(ctx context.Context, events int32) (done func(), err error) {
	return s.admitReplay(ctx, s.loads, s.Address(ctx), events, 2) // A log with an undo far back is read twice.
}

// admitReplay admits a replay of a whole log, which is read the given number of times. It counts
// as reads by the address, except for the events that do not fill a page, so that most games load
// for free.
func (s *Service) admitReplay(ctx context.Context, gate *replayGate, address string, events, passes int32) (done func(), err error) {
	reads := s.affordable(int(events) * int(passes) / page.DefaultSize)
	if err := s.checkReadRate(address, reads); err != nil {
		return nil, err
	}
	full := s.Limits.Exceeded(&s.Limits.ReplaysAtOnce, "replays of the longest games at once", gate.wait)
	done, err = gate.enter(ctx, address, events, full)
	return done, s.slotError(err)
}
