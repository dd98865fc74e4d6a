package rpc

import (
	"context"
	"crypto/sha256"
	"encoding/hex"
	"errors"
	"slices"
	"sync/atomic"
	"time"

	"google.golang.org/protobuf/proto"
	"google.golang.org/protobuf/types/known/timestamppb"

	"github.com/gridstand/gridstand/game/replay"
	pb "github.com/gridstand/gridstand/proto/gridstand/v1"
	"github.com/gridstand/gridstand/server/internal/challenge"
	"github.com/gridstand/gridstand/server/internal/gamelog"
	"github.com/gridstand/gridstand/server/internal/match"
)

const (
	// snapshotEvery is the minimum interval between two snapshots of a challenge.
	snapshotEvery = 200 * time.Millisecond
	// repeatEvery is how long a snapshot stays unchanged before it is sent again, so that
	// proxies do not close the stream as idle.
	repeatEvery = 15 * time.Second

	// The intervals between reads of a challenge: before it opens (for a race's roster),
	// while it is open, and from when it closes until its standings are final. Changes
	// made by this server, open_time and close_time trigger a read immediately.
	rosterEvery = 500 * time.Millisecond
	recordEvery = 5 * time.Second
	closedEvery = time.Second
	// boardEvery is the interval between reads of the standings of a challenge that is not
	// a race. All intervals are longer for an address that watches many challenges.
	boardEvery = 2 * time.Second

	// settledAfter is the time after close_time at which standings are treated as final
	// if the server does not know whether all attempts are over. Attempts end within
	// seconds of close_time.
	settledAfter = time.Minute

	// firstStandings is the number of standings entries in a snapshot of a challenge that
	// is not a race.
	firstStandings = 10

	etagBytes = 12

	// openCost is the number of reads that the first snapshot of a stream counts as if the
	// server reads the store for it.
	openCost = 2
)

// stage returns the challenge's status as of the last read. The challenge is read again
// when its status is due to change.
func (l *liveChallenge) stage() challenge.Status { return l.c.Status(l.now) }

// readDue returns the local time of the challenge's next read.
func (l *liveChallenge) readDue() time.Time {
	every := recordEvery
	switch l.stage() {
	case challenge.Waiting, challenge.Scheduled:
		every = rosterEvery
	case challenge.Closed:
		every = closedEvery
	case challenge.Open:
		if l.c.Kind == replay.Race && l.finished {
			every = rosterEvery // A server is about to close the race.
		}
	}
	due := l.readAt.Add(l.interval(every))
	for _, change := range []time.Time{l.c.OpenTime, l.c.CloseTime} {
		if change.After(l.now) {
			due = earlier(due, change.Add(-l.ahead))
		}
	}
	return due
}

// due returns the time of the next update if no change triggers one earlier.
func (l *liveChallenge) due() time.Time {
	due := earlier(l.readDue(), l.sentAt.Add(repeatEvery))
	if l.c.Kind != replay.Race {
		due = earlier(due, l.rankedAt.Add(l.interval(boardEvery)))
	}
	return due
}

func earlier(a, b time.Time) time.Time {
	if b.Before(a) {
		return b
	}
	return a
}

// update reads the challenge and the standings if they are due. It publishes a snapshot if
// the content has changed since the latest one or the latest one is too old.
func (l *liveChallenge) update() error {
	ctx, cancel := context.WithTimeout(l.ctx, maxCall)
	defer cancel()
	if err := l.read(ctx); err != nil {
		return err
	}
	m := &pb.WatchChallengeResponse{Challenge: l.service.challenge(l.c, l.now), Standings: l.standings, Total: l.total}
	encoded, err := proto.MarshalOptions{Deterministic: true}.Marshal(m)
	if err != nil {
		return err
	}
	digest := sha256.Sum256(encoded)
	m.Etag, m.Now = hex.EncodeToString(digest[:etagBytes]), timestamppb.New(time.Now().Add(l.ahead))
	final, keepAlive := l.final(), time.Since(l.sentAt) >= repeatEvery
	if m.GetEtag() != l.latest.Load().etag() || final || keepAlive {
		next := newSnapshot()
		next.message, next.final, next.keepAlive = m, final, keepAlive
		l.publish(next)
	}
	return nil
}

// read reads the challenge and the standings if they are due. Like other reads, it waits for
// one of the slots of the address that l is charged to. A read for a client that opens or
// resumes a stream counts toward that address's rate, because nothing else limits how often
// that happens.
func (l *liveChallenge) read(ctx context.Context) error {
	due := l.c == nil || !time.Now().Before(l.readDue())
	if due || l.boardDue() {
		address := l.service.live.chargedAddress(l)
		if l.c == nil || l.exact {
			if err := l.service.Reads.Check(address, openCost); err != nil {
				return err
			}
		}
		leave, err := l.service.reads.enter(ctx, address)
		if err != nil {
			return err
		}
		defer leave()
	}
	if due {
		began := time.Now()
		c, now, err := l.service.Challenges.Get(ctx, l.id)
		hidden := l.hidden
		if err == nil && c.Kind == replay.Race {
			hidden, err = l.service.hiddenEntrants(ctx, c)
		}
		if err != nil {
			return err
		}
		l.readAt, l.c, l.hidden, l.now, l.ahead = began, c, hidden, now, time.Until(now)
	}
	if !due && l.standings != nil && l.stage() == challenge.Waiting {
		return nil // The standings of a race that has not started change only with its roster.
	}
	return l.rank(ctx)
}

// boardDue reports whether the standings of a challenge that is not a race are due.
func (l *liveChallenge) boardDue() bool {
	return l.c != nil && l.c.Kind != replay.Race && time.Since(l.rankedAt) >= l.interval(boardEvery)
}

// final reports whether the snapshot can no longer change.
func (l *liveChallenge) final() bool {
	if l.stage() != challenge.Closed || !l.c.Final() {
		return false
	}
	return l.c.Kind == replay.Race && l.finished || l.now.Sub(l.c.CloseTime) >= settledAfter
}

// rank updates the standings if they are due.
func (l *liveChallenge) rank(ctx context.Context) error {
	if l.c.Kind != replay.Race {
		if !l.boardDue() {
			return nil
		}
		began := time.Now()
		standings, total, err := l.service.standings(ctx, l.c, firstStandings)
		if err == nil {
			l.rankedAt, l.standings, l.total = began, standings, total
		}
		return err
	}
	states, err := l.states(ctx)
	if err != nil {
		return err
	}
	l.standings = rankEntrants(l.c, states, l.hidden)
	l.total = int32(len(l.standings))
	l.finished = !slices.ContainsFunc(states, func(state *replay.State) bool {
		return state == nil || state.Status != replay.Finished
	})
	return nil
}

// entrantGame is the game of an entrant in a race that has started.
type entrantGame struct {
	*match.Match
	ended atomic.Bool // set when the server no longer follows the game
	// confirmed is set once the server has confirmed the state in memory with the log. Only the
	// challenge's goroutine uses it.
	confirmed bool
}

// states returns the states of the entrants' games. After the start of a race, the server
// follows the games like a watcher, so that it learns of each change immediately and
// without a read.
func (l *liveChallenge) states(ctx context.Context) ([]*replay.State, error) {
	stage := l.stage()
	if stage == challenge.Waiting || stage == challenge.Closed && len(l.entrants) == 0 {
		return l.service.entrantStates(ctx, l.c)
	}
	states := make([]*replay.State, len(l.c.Entrants))
	for i, e := range l.c.Entrants {
		game := l.entrants[e.GameID]
		if game == nil || game.ended.Load() {
			m, err := l.service.Hub.Acquire(ctx, e.GameID)
			if errors.Is(err, gamelog.ErrNotFound) {
				continue
			}
			if err != nil {
				return nil, err
			}
			game = &entrantGame{Match: m}
			l.entrants[e.GameID] = game
			l.group.Go(func() { l.follow(game) })
		}
		if !game.confirmed || l.exact {
			// The game in memory may lack the latest moves that were made on other servers.
			if _, err := game.Confirm(ctx); err != nil {
				return nil, err
			}
			game.confirmed = true
		}
		states[i] = game.State()
	}
	return states, nil
}

// follow wakes l's goroutine each time the game changes.
func (l *liveChallenge) follow(game *entrantGame) {
	defer game.Release()
	defer game.ended.Store(true)
	var w match.Watcher
	game.Watch(l.ctx, &w, match.Uncounted, nil)
	defer w.Close()
	_, _ = game.Confirm(l.ctx) // The game may have changed before Watch was called.
	for version := int32(0); ; {
		update, changed := w.Next(game.State().Version)
		if update.Err != nil {
			return
		}
		if now := game.State().Version; now != version {
			version = now
			select {
			case l.moved <- struct{}{}:
			default:
			}
		}
		if update != (match.Update{}) {
			continue
		}
		select {
		case <-changed:
		case <-l.ctx.Done():
			return
		}
	}
}
