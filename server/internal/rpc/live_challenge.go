package rpc

import (
	"context"
	"errors"
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
	// final is set if no newer snapshot will follow.
	final bool
	// keepAlive makes streams send the snapshot even if its content is unchanged.
	keepAlive bool
	// replaced has a channel for each wave, which is closed when there is a newer
	// snapshot. Each stream waits on its wave's channel.
	replaced [waves]chan struct{}

	match.EncodedOnce
}

// Streams are woken in waves of about waveSize, with pauses in between. Waking 10,000
// streams at once would keep the processors from handling moves for 100 ms. With waves,
// the last of 10,000 streams is woken after about 80 ms.
const (
	waves     = 64
	waveSize  = 256
	wavePause = 2 * time.Millisecond
)

func newSnapshot() *challengeSnapshot {
	s := &challengeSnapshot{}
	for i := range s.replaced {
		s.replaced[i] = make(chan struct{})
	}
	return s
}

// etag returns the snapshot's etag, or "" if it has no message.
func (s *challengeSnapshot) etag() string { return s.message.GetEtag() }

// liveChallenge creates the snapshots of a challenge for all of the challenge's streams on
// this server. Its goroutine runs as long as there are streams.
type liveChallenge struct {
	service *Service
	id      string
	latest  atomic.Pointer[challengeSnapshot] // has neither message nor err before the first update

	ctx    context.Context
	cancel context.CancelFunc // cancels ctx
	done   chan struct{}      // closed when the goroutine has ended

	// liveChallenges.mu guards the fields from here to awaited.

	streams   int          // number of open streams
	entered   int          // number of streams ever opened, which spreads them over the waves
	chargedTo string       // address that the reads are charged to
	awaited   *exactUpdate // the next exact update, or nil if no stream waits for one

	// The fields below belong to the goroutine, which accesses them without a lock.

	c       *challenge.Challenge
	readAt  time.Time     // local time at which the server last tried to read c
	now     time.Time     // time of the last successful read, by the store's clock
	ahead   time.Duration // how far the store's clock is ahead of the local clock
	changed chan struct{} // receives a value when this server changes the challenge

	intervalFactor int // factor for the intervals between reads

	hidden    map[string]bool // race entrants whom an operator has hidden, by player ID; read with c
	standings []*pb.Standing
	total     int32
	rankedAt  time.Time // when the standings were last computed
	finished  bool      // whether all attempts at the race are over
	exact     bool      // whether the current update must read everything, to be as new as other servers' snapshots

	entrants map[string]*entrantGame // by game ID
	moved    chan struct{}           // receives a value when an entrant's game changes
	group    sync.WaitGroup          // goroutines that follow entrants' games

	sentAt time.Time // when the latest snapshot was published
}

// addStream adds a stream from an address to a challenge, and returns the stream's wave.
// The caller must call removeStream when the stream ends.
func (s *Service) addStream(id, address string) (_ *liveChallenge, wave int) {
	s.live.mu.Lock()
	defer s.live.mu.Unlock()
	l := s.live.all[id]
	if l == nil || l.latest.Load().err != nil {
		l = &liveChallenge{
			service: s, id: id, done: make(chan struct{}),
			changed: make(chan struct{}, 1), moved: make(chan struct{}, 1), entrants: map[string]*entrantGame{},
		}
		l.latest.Store(newSnapshot())
		if s.live.all == nil {
			s.live.all = map[string]*liveChallenge{}
		}
		s.live.all[id] = l
		l.ctx, l.cancel = context.WithCancel(context.Background())
		s.live.charge(l, address)
		go l.run()
	}
	s.live.chargeIfFewer(l, address)
	l.streams++
	l.entered++
	return l, l.entered % waves
}

// removeStream removes a stream. If no stream remains, it stops the goroutine and waits
// for it to exit.
func (s *Service) removeStream(l *liveChallenge) {
	s.live.mu.Lock()
	if l.streams--; l.streams > 0 {
		s.live.mu.Unlock()
		return
	}
	s.live.uncharge(l)
	if s.live.all[l.id] == l {
		delete(s.live.all, l.id)
	}
	s.live.mu.Unlock()
	l.cancel()
	<-l.done
}

// first waits for the first snapshot and returns it.
func (l *liveChallenge) first(ctx context.Context) (*challengeSnapshot, error) {
	snapshot := l.latest.Load()
	if snapshot.message == nil && snapshot.err == nil {
		select {
		case <-snapshot.replaced[0]:
		case <-ctx.Done():
			return nil, context.Cause(ctx)
		}
		snapshot = l.latest.Load()
	}
	return snapshot, snapshot.err
}

// exactUpdate is an update that reads everything, so that its snapshot is not older than those
// that other servers have sent.
type exactUpdate struct {
	done chan struct{} // closed when the update has ended
	err  error         // set before done is closed
}

// resumed returns a snapshot that is not older than the last one that the client received,
// which may have come from another server. Unless that is the latest snapshot, resumed waits
// for an exact update that begins after the call, and returns the update's error.
func (l *liveChallenge) resumed(ctx context.Context, etag string) (*challengeSnapshot, error) {
	if snapshot := l.latest.Load(); snapshot.message != nil && snapshot.etag() == etag {
		return snapshot, nil
	}
	l.service.live.mu.Lock()
	if l.awaited == nil {
		l.awaited = &exactUpdate{done: make(chan struct{})}
	}
	awaited := l.awaited
	l.service.live.mu.Unlock()
	l.wake()
	select {
	case <-awaited.done:
		if awaited.err != nil {
			return nil, awaited.err
		}
	case <-l.done:
	case <-ctx.Done():
		return nil, context.Cause(ctx)
	}
	return l.first(ctx)
}

// interval returns an interval between reads, given the usual one.
func (l *liveChallenge) interval(usual time.Duration) time.Duration {
	return usual * time.Duration(l.intervalFactor)
}

// wake makes the goroutine read the challenge as soon as a snapshot may be sent.
func (l *liveChallenge) wake() {
	select {
	case l.changed <- struct{}{}:
	default:
	}
}

// publish replaces the latest snapshot and wakes the streams.
func (l *liveChallenge) publish(next *challengeSnapshot) {
	l.sentAt = time.Now()
	before := l.latest.Swap(next)
	l.service.live.mu.Lock()
	each := l.streams/waves + 1
	l.service.live.mu.Unlock()
	woken := 0
	for _, wave := range before.replaced {
		if woken >= waveSize {
			<-time.After(wavePause)
			woken = 0
		}
		close(wave)
		woken += each
	}
}

// end publishes an error, which ends the streams.
func (l *liveChallenge) end(err error) {
	last := newSnapshot()
	last.err = err
	l.publish(last)
}

// run creates snapshots until one is final, an error ends the streams, or l.cancel is
// called.
func (l *liveChallenge) run() {
	defer close(l.done)
	defer l.group.Wait()
	defer l.cancel()
	defer func() {
		if p := recover(); p != nil {
			LogPanic(l.service.Logger, pb.ChallengeService_WatchChallenge_FullMethodName, p)
			l.end(errPanicked)
		}
	}()
	defer l.service.Challenges.Follow(l.id, l.changed)()
	for {
		err := l.updateAwaited()
		latest := l.latest.Load()
		switch {
		case err == nil && latest.final:
			return
		case err != nil && (latest.message == nil || errors.Is(err, challenge.ErrNotFound)):
			l.end(err)
			return
		}
		next := l.due()
		if err != nil { // The store did not answer.
			next = time.Now().Add(l.interval(rosterEvery))
		}
		// All changes that happen during this wait go into one snapshot. An exact update is
		// always followed by it, since any client can request one.
		from := l.sentAt
		if l.exact {
			from = time.Now()
		}
		if err = l.wait(from.Add(snapshotEvery), nil, nil); err == nil {
			err = l.wait(next, l.changed, l.moved)
		}
		if err != nil {
			l.end(err)
			return
		}
	}
}

// updateAwaited calls update. If streams wait for an exact update, it makes this one exact.
func (l *liveChallenge) updateAwaited() error {
	l.service.live.mu.Lock()
	l.intervalFactor = l.service.live.intervalFactor(l)
	awaited := l.awaited
	l.awaited = nil
	l.service.live.mu.Unlock()
	if l.exact = awaited != nil; !l.exact {
		return l.update()
	}
	l.readAt, l.rankedAt = time.Time{}, time.Time{}
	awaited.err = errPanicked // replaced unless update panics
	defer close(awaited.done)
	awaited.err = l.update()
	return awaited.err
}

// wait waits until the given time, or until there is a value in one of the channels. It
// returns an error if l.ctx is done or the server stops first.
func (l *liveChallenge) wait(until time.Time, changed, moved <-chan struct{}) error {
	timer := time.NewTimer(time.Until(until))
	defer timer.Stop()
	select {
	case <-timer.C:
	case <-moved:
	case <-changed:
		l.readAt = time.Time{}
	case <-l.ctx.Done():
		return context.Cause(l.ctx)
	case <-l.service.Hub.Stopping().Done():
		return match.ErrStopping
	}
	return nil
}
