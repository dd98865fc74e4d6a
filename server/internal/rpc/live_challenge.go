package rpc

import (
	"context"
	"errors"
	"slices"
	"sync"
	"sync/atomic"
	"time"

	"golang.org/x/sync/semaphore"

	pb "github.com/gridstand/gridstand/proto/gridstand/v1"
	"github.com/gridstand/gridstand/server/internal/challenge"
	"github.com/gridstand/gridstand/server/internal/match"
)

// challengeSnapshot is the state of a challenge, or the error that ends the challenge's
// streams.
type challengeSnapshot struct {
	message *pb.WatchChallengeResponse
	err     error
	at      time.Time // when it was published; zero before the first update
	// final is set if no newer snapshot will follow.
	final    bool
	replaced chan struct{} // closed when there is a newer snapshot

	match.EncodedOnce
}

// liveChallenges holds a Service's live challenges.
type liveChallenges struct {
	mu  sync.Mutex
	all map[string]*liveChallenge // by challenge ID
	// watched is the number of live challenges that each address watches.
	watched map[string]int
}

// liveChallenge creates the snapshots of a challenge for all of the challenge's streams on
// this server. Its goroutine runs as long as there are streams.
type liveChallenge struct {
	service *Service
	id      string
	latest  atomic.Pointer[challengeSnapshot] // has neither message nor err before the first update

	// players and addresses are the numbers of open streams of each player, with "" for callers without
	// a token, and of each address. liveChallenges.mu guards them.
	players, addresses map[string]int

	ctx    context.Context
	cancel context.CancelFunc  // cancels ctx
	group  sync.WaitGroup      // the goroutine
	making *semaphore.Weighted // held by the stream that makes the first snapshot

	// The fields below belong to that stream, and then to the goroutine, which accesses them without a lock.

	c      *challenge.Challenge
	readAt time.Time     // local time at which the server last read c
	now    time.Time     // time of the last read, by the store's clock
	ahead  time.Duration // how far the store's clock is ahead of the local clock
	spaced time.Duration // shortest interval between reads, as of the last read

	message   *pb.Challenge   // describes c at that time
	hidden    map[string]bool // players of the challenge whom an operator has hidden, by ID; read with c
	standings []*pb.Standing  // read with c unless c is a race
	total     int32
	finished  bool // whether all attempts at the race are over

	attendAt time.Time     // when attend tries again after a failure
	delay    time.Duration // how long it waits until then; longer after each failure

	entrants map[string]*entrantGame // games that the server follows, by ID; nil if the game is unreadable
}

// addStream adds a stream from an address, of the player who makes the call or of a caller without a
// token, to a challenge. The caller must call removeStream when the stream ends.
func (s *Service) addStream(ctx context.Context, id, address string) *liveChallenge {
	s.live.mu.Lock()
	defer s.live.mu.Unlock()
	l := s.live.all[id]
	if l == nil || l.latest.Load().err != nil {
		l = &liveChallenge{
			service: s, id: id, making: semaphore.NewWeighted(1),
			entrants: map[string]*entrantGame{}, players: map[string]int{}, addresses: map[string]int{},
		}
		l.latest.Store(&challengeSnapshot{replaced: make(chan struct{})})
		s.live.all[id] = l
		l.ctx, l.cancel = context.WithCancel(context.Background())
	}
	l.players[caller(ctx).ID]++
	if l.addresses[address]++; l.addresses[address] == 1 {
		s.live.watched[address]++
	}
	return l
}

// removeStream removes a stream that addStream added. If no stream remains, it stops the goroutine, waits
// for it to exit, and stops following the games.
func (s *Service) removeStream(l *liveChallenge, playerID, address string) {
	s.live.mu.Lock()
	if l.addresses[address]--; l.addresses[address] == 0 {
		delete(l.addresses, address)
		if s.live.watched[address]--; s.live.watched[address] == 0 {
			delete(s.live.watched, address)
		}
	}
	if l.players[playerID]--; l.players[playerID] == 0 {
		delete(l.players, playerID)
	}
	if len(l.players) > 0 {
		s.live.mu.Unlock()
		return
	}
	if s.live.all[l.id] == l {
		delete(s.live.all, l.id)
	}
	s.live.mu.Unlock()
	l.cancel()
	l.group.Wait()
	for _, g := range l.entrants {
		if g != nil {
			g.leave()
		}
	}
}

// attended reports whether an entrant of the challenge has a stream on this server.
func (l *liveChallenge) attended() bool {
	l.service.live.mu.Lock()
	defer l.service.live.mu.Unlock()
	return slices.ContainsFunc(l.c.Entrants, func(e challenge.Entrant) bool { return e.Player.ID != "" && l.players[e.Player.ID] > 0 })
}

// spacing returns the shortest interval between reads of the challenge: each address has liveReads a second
// for all that it watches. The address that watches the fewest counts, so that no client slows a
// challenge down for others.
func (l *liveChallenge) spacing() time.Duration {
	live := &l.service.live
	live.mu.Lock()
	defer live.mu.Unlock()
	fewest := len(live.all)
	for address := range l.addresses {
		fewest = min(fewest, live.watched[address])
	}
	return time.Duration(fewest) * time.Second / liveReads
}

// first returns the latest snapshot. If there is none, one of the streams that call it makes the snapshot, pays
// for the games that are loaded for it, and starts the goroutine, while the others wait. If that fails, only
// that stream gets the error, and the next one tries.
func (l *liveChallenge) first(ctx context.Context) (_ *challengeSnapshot, err error) {
	defer l.service.recovered(pb.ChallengeService_WatchChallenge_FullMethodName, &err)
	if l.making.Acquire(ctx, 1) != nil {
		return nil, context.Cause(ctx)
	}
	defer l.making.Release(1)
	if latest := l.latest.Load(); latest.message == nil && latest.err == nil {
		if err := l.update(ctx); err != nil {
			return nil, err
		}
		l.group.Go(l.run)
	}
	latest := l.latest.Load()
	return latest, latest.err
}

// publish replaces the latest snapshot and wakes the streams.
func (l *liveChallenge) publish(next *challengeSnapshot) {
	next.at, next.replaced = time.Now(), make(chan struct{})
	close(l.latest.Swap(next).replaced)
}

// run creates more snapshots until one is final, an error ends the streams, or l.cancel is called.
func (l *liveChallenge) run() {
	if err := l.repeat(); err != nil {
		l.publish(&challengeSnapshot{err: err})
	}
}

// repeat does the work of run. It returns the error that ends the streams.
func (l *liveChallenge) repeat() (err error) {
	defer l.service.recovered(pb.ChallengeService_WatchChallenge_FullMethodName, &err)
	for next := l.due(); !l.latest.Load().final; {
		if err := l.wait(next); err != nil {
			return err
		}
		switch err := l.update(l.ctx); {
		case err == nil:
			next = l.due()
		case errors.Is(err, challenge.ErrNotFound):
			return err
		default: // The store did not answer.
			next = time.Now().Add(max(rosterEvery, l.spaced))
		}
	}
	return nil
}

// wait waits until the given time. It returns an error if l.ctx is done or the server stops first.
func (l *liveChallenge) wait(until time.Time) error {
	timer := time.NewTimer(time.Until(until))
	defer timer.Stop()
	select {
	case <-timer.C:
	case <-l.ctx.Done():
		return context.Cause(l.ctx)
	case <-l.service.Hub.Stopping().Done():
		return match.ErrStopping
	}
	return nil
}
