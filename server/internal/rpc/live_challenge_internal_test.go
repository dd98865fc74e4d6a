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
	"github.com/gridstand/gridstand/server/internal/front"
	"github.com/gridstand/gridstand/server/internal/gamelog"
	"github.com/gridstand/gridstand/server/internal/leaderboard"
	"github.com/gridstand/gridstand/server/internal/match"
	"github.com/gridstand/gridstand/server/internal/store"
	"github.com/gridstand/gridstand/server/limits"
)

// countedReads is a store of challenges that counts the reads of each.
type countedReads struct {
	store.Challenges

	mu    sync.Mutex
	all   map[string]store.Challenge
	reads map[string]int
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

// newLiveService returns a service without limits and n waiting races, whose ids are the numbers
// below n.
func newLiveService(t *testing.T, n int) (*Service, *countedReads) {
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
	return New(Config{
		Budgets:    front.NewBudgets(&limits.Limits{}, nil),
		Challenges: challenges, Hub: match.NewHub(match.Config{}),
		Leaderboard: leaderboard.New(noBoards{}, nil, time.Now), Log: gamelog.New(noGames{}),
	}), kept
}

// Ensure that all live challenges together read the store at a limited rate, however many clients
// watch, and that few of them are read at the usual intervals.
func TestLiveChallenge_Reads(t *testing.T) {
	t.Parallel()
	for _, races := range []int{10, liveReads} {
		synctest.Test(t, func(t *testing.T) {
			s, kept := newLiveService(t, races)
			var streams []*liveChallenge
			for id := range races {
				l := s.addStream(strconv.Itoa(id), "", "192.0.2.1")
				_, err := l.first(t.Context())
				require.NoError(t, err)
				streams = append(streams, l)
			}
			const seconds = 10
			kept.take()
			time.Sleep(seconds * time.Second) //nolint:forbidigo // The bubble's clock is fake.
			reads := 0
			for _, n := range kept.take() {
				reads += n
			}
			want := seconds * min(liveReads, races*int(time.Second/rosterEvery))
			assert.InDelta(t, want, reads, max(float64(races), liveReads))
			for _, l := range streams {
				s.removeStream(l, "")
			}
		})
	}
}

// Ensure that a stream which makes the server read the store counts as reads of its address, and that
// other streams do not.
func TestLiveChallenge_OpenCounts(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		s, _ := newLiveService(t, 2)
		l := limits.Limits{ReadsPerAddressPerSecond: 1}
		s.Budgets = front.NewBudgets(&l, nil)
		open := func(id, address string) error {
			l := s.addStream(id, "", address)
			t.Cleanup(func() { s.removeStream(l, "") })
			_, err := l.first(t.Context())
			return err
		}
		var err error
		for n := 0; err == nil && n < 100; n++ {
			l := s.addStream("0", "", "192.0.2.1")
			_, err = l.first(t.Context())
			s.removeStream(l, "")
		}
		var full *limits.ExceededError
		require.ErrorAs(t, err, &full)
		require.NoError(t, open("1", "192.0.2.2"))
		require.NoError(t, open("1", "192.0.2.1"), "the snapshot is there")
	})
}
