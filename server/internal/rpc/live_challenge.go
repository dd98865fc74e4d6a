package rpc

import (
	"context"
	"errors"
	"slices"
	"sync"
	"sync/atomic"
	"time"

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

	stop  context.CancelFunc // ends the goroutine
	group sync.WaitGroup     // the goroutine

	// The fields below belong to the goroutine, which accesses them without a lock.

	c      *challenge.Challenge // nil before the first read
	readAt time.Time            // local time at which the server last read c
	now    time.Time            // time of the last read, by the store's clock
	ahead  time.Duration        // how far the store's clock is ahead of the local clock
	spaced time.Duration        // shortest interval between reads, as of the last read

	message   *pb.Challenge             // describes c at that time
	hidden    map[string]bool           // players of the challenge whom an operator has hidden, by ID; read with c
	standings *pb.ListStandingsResponse // read with c unless c is a race
	finished  bool                      // whether all attempts at the race are over
}

func newLiveChallenge(s *Service, id string) *liveChallenge {
	l := &liveChallenge{service: s, id: id, players: map[string]int{}, addresses: map[string]int{}}
	l.latest.Store(&challengeSnapshot{replaced: make(chan struct{})})
	return l
}

// addStream adds a stream from an address, of the player who makes the call or of a caller without a
// token, to a challenge. The caller must call removeStream when the stream ends.
func (s *Service) addStream(ctx context.Context, id, address string) *liveChallenge {
	s.live.mu.Lock()
	defer s.live.mu.Unlock()
	l := s.live.all[id]
	if l == nil || l.latest.Load().err != nil {
		l = newLiveChallenge(s, id)
		s.live.all[id] = l
		var running context.Context
		running, l.stop = context.WithCancel(s.Hub.Stopping())
		l.group.Go(func() { l.run(running) })
	}
	l.players[caller(ctx).ID]++
	if l.addresses[address]++; l.addresses[address] == 1 {
		s.live.watched[address]++
	}
	return l
}

// removeStream removes a stream that addStream added. If no stream remains, it stops the goroutine and waits
// for it to exit.
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
	l.stop()
	l.group.Wait()
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

// first returns the latest snapshot, and waits for it if there is none.
func (l *liveChallenge) first(ctx context.Context) (*challengeSnapshot, error) {
	latest := l.latest.Load()
	if latest.message == nil && latest.err == nil {
		select {
		case <-latest.replaced:
			latest = l.latest.Load()
		case <-ctx.Done():
			return nil, context.Cause(ctx)
		}
	}
	return latest, latest.err
}

// publish replaces the latest snapshot and wakes the streams.
func (l *liveChallenge) publish(next *challengeSnapshot) {
	next.at, next.replaced = time.Now(), make(chan struct{})
	close(l.latest.Swap(next).replaced)
}

// run creates snapshots until one is final, an error ends the streams, or ctx is done.
func (l *liveChallenge) run(ctx context.Context) {
	if err := l.repeat(ctx); err != nil {
		l.publish(&challengeSnapshot{err: err})
	}
}

// repeat does the work of run. It returns the error that ends the streams.
func (l *liveChallenge) repeat(ctx context.Context) (err error) {
	defer l.service.recovered(pb.ChallengeService_WatchChallenge_FullMethodName, &err)
	for next := time.Now(); !l.latest.Load().final; {
		select {
		case <-time.After(time.Until(next)):
		case <-ctx.Done():
			return context.Cause(ctx)
		}
		switch err := l.update(ctx); {
		case err == nil:
			next = l.due()
		case ctx.Err() != nil:
			return context.Cause(ctx)
		case errors.Is(err, challenge.ErrNotFound), l.latest.Load().message == nil: // All streams wait for the first.
			return err
		default: // The store did not answer.
			next = time.Now().Add(max(rosterEvery, l.spaced))
		}
	}
	return nil
}
