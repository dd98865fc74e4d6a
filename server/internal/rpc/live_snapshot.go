package rpc

import (
	"context"
	"crypto/sha256"
	"encoding/hex"
	"errors"
	"slices"
	"time"

	"google.golang.org/protobuf/proto"
	"google.golang.org/protobuf/types/known/timestamppb"

	"github.com/gridstand/gridstand/game/replay"
	pb "github.com/gridstand/gridstand/proto/gridstand/v1"
	"github.com/gridstand/gridstand/server/internal/challenge"
)

const (
	// snapshotEvery is the interval at which the server looks whether the entrants of a race have moved.
	snapshotEvery = 200 * time.Millisecond
	// repeatEvery is how long a snapshot stays unchanged before it is sent again, so that
	// proxies do not close the stream as idle.
	repeatEvery = 15 * time.Second
	// freshFor is the age up to which all new streams of a challenge share the latest snapshot.
	freshFor = time.Second

	// The intervals between reads of a race: while it is open and entrants play, and before and after
	// that, for its roster and for its final standings. open_time and close_time trigger a read
	// immediately.
	recordEvery = 5 * time.Second
	rosterEvery = 500 * time.Millisecond
	// boardEvery is the interval between reads of any other challenge and its standings.
	boardEvery = 2 * time.Second
	// liveReads is the number of times per second that the server reads challenges again for one
	// address. If an address watches many, the intervals are longer.
	liveReads = 500

	// settledAfter is the time after close_time at which standings are treated as final
	// if the server does not know whether all attempts are over. Attempts end within
	// seconds of close_time.
	settledAfter = time.Minute

	// firstStandings is the number of standings entries in a snapshot of a challenge that
	// is not a race.
	firstStandings = 10

	etagBytes = 12
)

// stage returns the challenge's status as of the last read. The challenge is read again
// when its status is due to change.
func (l *liveChallenge) stage() challenge.Status { return l.c.Status(l.now) }

// playing reports whether entrants of an open race may be playing. If all have finished, a server is about to
// close the race.
func (l *liveChallenge) playing() bool {
	return l.c.Kind == replay.Race && l.stage() == challenge.Open && !l.finished
}

// readDue returns the local time of the challenge's next read.
func (l *liveChallenge) readDue() time.Time {
	every := rosterEvery
	switch {
	case l.c.Kind != replay.Race:
		every = boardEvery
	case l.playing():
		every = recordEvery
	}
	due := []time.Time{l.readAt.Add(max(every, l.spaced))}
	for _, change := range []time.Time{l.c.OpenTime, l.c.CloseTime} {
		if change.After(l.now) {
			due = append(due, change.Add(-l.ahead))
		}
	}
	return slices.MinFunc(due, time.Time.Compare)
}

// due returns the time of the next update.
func (l *liveChallenge) due() time.Time {
	due := []time.Time{l.readDue(), l.latest.Load().at.Add(repeatEvery)}
	if l.playing() {
		due = append(due, time.Now().Add(max(snapshotEvery, l.spaced)))
	}
	return slices.MinFunc(due, time.Time.Compare)
}

// update reads the challenge if that is due, and ranks the entrants of a race. It publishes a
// snapshot if the content has changed since the latest one or the latest one is too old.
func (l *liveChallenge) update(ctx context.Context) error {
	ctx, cancel := context.WithTimeout(ctx, maxCall)
	defer cancel()
	keepAlive := time.Since(l.latest.Load().at) >= repeatEvery
	if l.c == nil || !time.Now().Before(l.readDue()) {
		if err := l.read(ctx); err != nil {
			return err
		}
	}
	if l.c.Kind == replay.Race {
		l.attend(ctx)
		states, over, err := l.service.Challenges.States(ctx, l.c)
		if err != nil {
			return err
		}
		l.standings, l.finished = rankEntrants(l.c, l.message.GetEntrants(), states, l.hidden), over
	}
	m := &pb.WatchChallengeResponse{
		Challenge: l.message, Standings: l.standings.GetStandings(), Total: l.standings.GetTotal(),
	}
	encoded, err := proto.MarshalOptions{Deterministic: true}.Marshal(m)
	if err != nil {
		return err
	}
	digest := sha256.Sum256(encoded)
	m.Etag, m.Now = hex.EncodeToString(digest[:etagBytes]), timestamppb.New(time.Now().Add(l.ahead))
	final := l.final()
	if m.GetEtag() != l.latest.Load().message.GetEtag() || final || keepAlive {
		l.publish(&challengeSnapshot{message: m, final: final})
	}
	return nil
}

// attend records that players of a waiting race watch it, or starts it if it is due. If that fails, the stream shows
// the race nevertheless, and the next update tries again.
func (l *liveChallenge) attend(ctx context.Context) {
	if l.stage() != challenge.Waiting || !l.attended() {
		return
	}
	var err error
	s := l.service
	if l.c.Due(l.now) {
		_, err = s.startRace(ctx, l.id, false)
	} else {
		err = s.Challenges.Seen(ctx, l.c, l.now)
	}
	if err != nil && !errors.Is(err, context.Canceled) {
		s.notStarted.Do(func() {
			s.Logger.Warn("cannot start a race, or record who waits; will retry",
				"id", "race-not-started", "challenge", l.id, "error", err)
		})
	}
}

// read reads the challenge, and its standings unless it is a race.
func (l *liveChallenge) read(ctx context.Context) error {
	s := l.service
	l.spaced = l.spacing()
	began := time.Now()
	c, now, err := s.Challenges.Get(ctx, l.id)
	if err != nil {
		return err
	}
	message, hidden, err := s.challenge(ctx, c, now)
	if err == nil && c.Kind != replay.Race {
		l.standings, err = s.standingsPage(ctx, c, "", firstStandings)
	}
	if err == nil {
		l.readAt, l.c, l.message, l.hidden, l.now, l.ahead = began, c, message, hidden, now, time.Until(now)
	}
	return err
}

// final reports whether the snapshot can no longer change.
func (l *liveChallenge) final() bool {
	if l.stage() != challenge.Closed || !l.c.Final() {
		return false
	}
	return l.c.Kind == replay.Race && l.finished || l.now.Sub(l.c.CloseTime) >= settledAfter
}
