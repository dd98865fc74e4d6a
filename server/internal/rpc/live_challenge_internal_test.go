package rpc

import (
	"context"
	"strconv"
	"sync"
	"testing"
	"testing/synctest"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/gridstand/gridstand/game"
	"github.com/gridstand/gridstand/game/replay"
	"github.com/gridstand/gridstand/internal/testkit/process"
	"github.com/gridstand/gridstand/server/internal/challenge"
	"github.com/gridstand/gridstand/server/internal/gamelog"
	"github.com/gridstand/gridstand/server/internal/leaderboard"
	"github.com/gridstand/gridstand/server/internal/match"
	"github.com/gridstand/gridstand/server/internal/ratelimit"
	"github.com/gridstand/gridstand/server/internal/store"
	"github.com/gridstand/gridstand/server/limits"
)

// countedReads is a store of challenges that counts the reads of each.
type countedReads struct {
	store.Challenges

	mu    sync.Mutex
	all   map[string]store.Challenge
	reads map[string]int
	// delay is how long a read takes. running and most are the number of reads at once.
	delay         time.Duration
	running, most int
}

func (c *countedReads) Create(_ context.Context, created store.Challenge) (store.Challenge, error) {
	created.Revision = 1
	c.all[created.ID] = created
	return created, nil
}

func (c *countedReads) Get(_ context.Context, ids ...string) (map[string]store.Challenge, time.Time, error) {
	c.mu.Lock()
	defer c.mu.Unlock()
	for _, id := range ids {
		c.reads[id]++
	}
	c.running++
	c.most = max(c.most, c.running)
	if c.delay > 0 {
		c.mu.Unlock()
		time.Sleep(c.delay) //nolint:forbidigo // The bubble's clock is fake.
		c.mu.Lock()
	}
	c.running--
	return c.all, time.Now(), nil
}

// take returns the number of reads of each challenge since the last call.
func (c *countedReads) take() map[string]int {
	c.mu.Lock()
	defer c.mu.Unlock()
	reads := c.reads
	c.reads = map[string]int{}
	return reads
}

// noBoards and noGames are empty stores.
type (
	noBoards  struct{ anyBoards }
	anyBoards interface{ store.Boards }
	noGames   struct{ store.Games }
)

func (noBoards) Hidden(context.Context, ...string) (map[string]bool, error) { return nil, nil }

func (noGames) Heads(_ context.Context, ids []string) ([]store.Head, error) {
	return make([]store.Head, len(ids)), nil
}

// newLiveService returns a service with n waiting races, whose ids are the numbers below n.
func newLiveService(t *testing.T, n int, l limits.Limits) (*Service, *countedReads) {
	t.Helper()
	if process.Race {
		t.Skip("ThreadSanitizer of Go 1.26 may crash or hang while a fake clock runs these timers")
	}
	kept := &countedReads{all: map[string]store.Challenge{}, reads: map[string]int{}}
	challenges := challenge.New(challenge.Config{Store: kept, WaitingFor: time.Hour})
	for id := range n {
		_, err := challenges.Create(t.Context(), challenge.Challenge{
			ID: strconv.Itoa(id), Kind: replay.Race, Variant: "classic", Seed: game.NewSeed(), Limit: time.Minute,
		}, time.Now())
		require.NoError(t, err)
	}
	return &Service{Config: Config{
		Challenges: challenges, Hub: match.NewHub(match.Config{}), Limits: l,
		Leaderboard: leaderboard.New(noBoards{}, nil, time.Now), Log: gamelog.New(noGames{}),
		Reads: ratelimit.NewReads(&l, nil),
	}, reads: newReadGate(&l)}, kept
}

// Ensure that the races of an address that watches four times liveAtUsualIntervals are read a
// quarter as often as usual, and that a race is read at the usual intervals once a client of another
// address watches it.
func TestLiveChallenge_Intervals(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		const flooder, others, races = "192.0.2.1", 4*liveAtUsualIntervals - 10, 10
		s, kept := newLiveService(t, races, limits.Limits{})
		s.live.charged = map[string]int{flooder: others} // these are not read in this test
		var entered []*liveChallenge
		enter := func(id, address string) {
			l, _ := s.addStream(id, address)
			_, err := l.first(t.Context())
			require.NoError(t, err)
			entered = append(entered, l)
		}
		reads := func(d time.Duration) (all int, last int) {
			kept.take()
			time.Sleep(d) //nolint:forbidigo // The bubble's clock is fake.
			reads := kept.take()
			for _, n := range reads {
				all += n
			}
			return all, reads[strconv.Itoa(races-1)]
		}
		for n := range races {
			enter(strconv.Itoa(n), flooder)
		}
		const seconds = 30
		usual := seconds * int(time.Second/rosterEvery)
		all, last := reads(seconds * time.Second)
		assert.InDelta(t, races*usual/4, all, races)
		assert.InDelta(t, usual/4, last, 1)
		enter(strconv.Itoa(races-1), "192.0.2.2")
		_, last = reads(seconds * time.Second)
		assert.InDelta(t, usual, last, 2)
		for _, l := range entered {
			s.removeStream(l)
		}
		assert.Equal(t, map[string]int{flooder: others}, s.live.charged)
	})
}

// Ensure that streams which make the server read the store count as reads of their address,
// and that other streams do not.
func TestLiveChallenge_OpenCounts(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		const perSecond = 10
		s, kept := newLiveService(t, perSecond, limits.Limits{ReadsPerAddressPerSecond: perSecond})
		open := func(id, address, etag string) error {
			l, _ := s.addStream(id, address)
			defer s.removeStream(l)
			var err error
			if etag == "" {
				_, err = l.first(t.Context())
			} else {
				_, err = l.resumed(t.Context(), etag)
			}
			return err
		}
		refused := 0
		for n := range 100 * perSecond {
			if err := open(strconv.Itoa(n%perSecond), "192.0.2.1", "another"); err != nil {
				var full *limits.ExceededError
				require.ErrorAs(t, err, &full)
				refused++
			}
		}
		all := 0
		for _, n := range kept.take() {
			all += n
		}
		assert.Positive(t, refused)
		assert.LessOrEqual(t, all, 20*perSecond)
		require.NoError(t, open("0", "192.0.2.2", ""))
		followed, _ := s.addStream("1", "192.0.2.2")
		defer s.removeStream(followed)
		_, err := followed.first(t.Context())
		require.NoError(t, err)
		require.NoError(t, open("1", "192.0.2.1", ""), "the snapshot is there")
	})
}

// Ensure that an address cannot make the server read many challenges at once.
func TestLiveChallenge_ReadsAtOnce(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		const streams, atOnce = 50, 8
		s, kept := newLiveService(t, streams, limits.Limits{ReadsAtOnce: atOnce})
		kept.delay = time.Millisecond
		var group sync.WaitGroup
		for n := range streams {
			group.Go(func() {
				l, _ := s.addStream(strconv.Itoa(n), "192.0.2.1")
				defer s.removeStream(l)
				_, err := l.first(t.Context())
				assert.NoError(t, err)
			})
		}
		group.Wait()
		assert.Equal(t, atOnce/readShare, kept.most)
	})
}
