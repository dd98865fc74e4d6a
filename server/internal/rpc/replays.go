package rpc

import (
	"cmp"
	"context"
	"time"

	"golang.org/x/sync/semaphore"

	"github.com/gridstand/gridstand/server/internal/page"
	"github.com/gridstand/gridstand/server/internal/ratelimit"
)

const (
	// addressReplay is the number of events in all logs that the server replays for one address at
	// once. A longer log counts as this many events.
	addressReplay = 200_000
	// shortReplay is the number of events up to which a log does not count, because its replay takes
	// only about 15 ms.
	shortReplay = 5_000
	// maxStreamReplay is the time after which a stream no longer gets more of the history of a long
	// game with an undo far back. The client then has to resume, so that a slow one does not keep
	// others from reading such histories.
	maxStreamReplay = 30 * time.Second
)

// replayGate limits the number of events in all logs that are replayed at once: addressReplay for
// one address, and a multiple of it for all.
type replayGate struct {
	addresses *ratelimit.Addresses[*semaphore.Weighted]
	all       *semaphore.Weighted
}

// newReplayGate returns a gate for as many replays of the longest logs as the given limit, or
// without a limit if that is 0.
func newReplayGate(limit int) *replayGate {
	return &replayGate{
		addresses: ratelimit.NewAddresses(func(string) *semaphore.Weighted { return newSlots(limit, addressReplay) }),
		all:       newSlots(limit, limit*addressReplay),
	}
}

// limits reports whether a log with the given number of events counts toward the limit.
func (g *replayGate) limits(events int32) bool { return g.all != nil && events > shortReplay }

// enter waits until a log with the given number of events may be replayed for an address, or not at
// all if wait is 0. If err is nil, the caller must call leave after the replay. The error is full if
// the log cannot be replayed in time.
func (g *replayGate) enter(ctx context.Context, address string, events int32, wait time.Duration, full error) (leave func(), err error) {
	if !g.limits(events) {
		return func() {}, nil
	}
	weight := min(int64(events), addressReplay)
	waiting, cancel := context.WithTimeout(ctx, wait)
	defer cancel()
	acquire := func(s *semaphore.Weighted) bool {
		return s.TryAcquire(weight) || wait > 0 && s.Acquire(waiting, weight) == nil
	}
	own, _ := g.addresses.Enter(address, 0)
	if acquire(own) {
		if acquire(g.all) {
			return func() {
				g.all.Release(weight)
				own.Release(weight)
				g.addresses.Leave(address)
			}, nil
		}
		own.Release(weight)
	}
	g.addresses.Leave(address)
	return nil, cmp.Or(ctx.Err(), full)
}

// admitLoad is the match.Admit for loading a game that is not in memory. It does not wait, because
// other clients may be waiting for the game.
func (s *Service) admitLoad(ctx context.Context, events int32) (done func(), err error) {
	return s.admitReplay(ctx, s.loads, s.Address(ctx), events, 1, 0)
}

// admitSearch is the match.Admit for finding an old state or event for a call, such as an undo.
func (s *Service) admitSearch(ctx context.Context, events int32) (done func(), err error) {
	return s.admitReplay(ctx, s.loads, s.Address(ctx), events, 2, readWait) // A log with undos is read twice.
}

// admitReplay admits a replay of a whole log, which is read the given number of times. It counts
// as reads by the address, except for the events that do not fill a page, so that most games load
// for free.
func (s *Service) admitReplay(
	ctx context.Context, gate *replayGate, address string, events, passes int32, wait time.Duration,
) (done func(), err error) {
	leave, err := gate.enter(ctx, address, events, wait, s.tooManyReplays())
	if err != nil {
		return nil, err
	}
	if err := s.checkReadRate(address, s.affordable(int(events)*int(passes)/page.DefaultSize)); err != nil {
		leave()
		return nil, err
	}
	return leave, nil
}

func (s *Service) tooManyReplays() error {
	return s.Limits.Exceeded(&s.Limits.ReplaysAtOnce, "replays of the longest games at once", readRetry)
}
