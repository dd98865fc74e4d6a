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
	"github.com/gridstand/gridstand/server/internal/challenge"
	"github.com/gridstand/gridstand/server/internal/gamelog"
	"github.com/gridstand/gridstand/server/internal/leaderboard"
	"github.com/gridstand/gridstand/server/internal/match"
	"github.com/gridstand/gridstand/server/internal/store"
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

// Ensure that an address which watches many races does not make the server read more than
// liveAtPace of them at the usual intervals, and that a race is read at the usual intervals
// once a client of another address watches it.
func TestLiveChallenge_Pace(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		kept := &countedReads{all: map[string]store.Challenge{}, reads: map[string]int{}}
		challenges := challenge.New(challenge.Config{Store: kept, WaitingFor: time.Hour})
		hub := match.NewHub(match.Config{})
		s := &Service{Config: Config{
			Challenges: challenges, Hub: hub, Leaderboard: leaderboard.New(noBoards{}, nil, time.Now), Log: gamelog.New(noGames{}),
		}}
		const flood = 4 * liveAtPace
		var entered []*liveChallenge
		enter := func(id, address string) {
			l, _ := s.enterChallenge(id, address)
			_, err := l.first(t.Context())
			require.NoError(t, err)
			entered = append(entered, l)
		}
		reads := func(d time.Duration) (all int, last int) {
			clear(kept.reads)
			time.Sleep(d) //nolint:forbidigo // The bubble's clock is fake.
			synctest.Wait()
			for _, n := range kept.reads {
				all += n
			}
			return all, kept.reads[strconv.Itoa(flood-1)]
		}
		for n := range flood {
			_, err := challenges.Create(t.Context(), challenge.Challenge{
				ID: strconv.Itoa(n), Kind: replay.Race, Variant: "classic", Seed: game.NewSeed(), Limit: time.Minute,
			}, time.Now())
			require.NoError(t, err)
			enter(strconv.Itoa(n), "192.0.2.1")
		}
		const seconds = 30
		usual := seconds * int(time.Second/rosterEvery)
		_, _ = reads(seconds * time.Second) // The first intervals are those of fewer challenges.
		all, last := reads(seconds * time.Second)
		assert.LessOrEqual(t, all, (liveAtPace+1)*usual)
		assert.LessOrEqual(t, last, usual/3)
		enter(strconv.Itoa(flood-1), "192.0.2.2")
		_, last = reads(seconds * time.Second)
		assert.InDelta(t, usual, last, 2)
		for _, l := range entered {
			s.leaveChallenge(l)
		}
		assert.Empty(t, s.live.paid)
	})
}
