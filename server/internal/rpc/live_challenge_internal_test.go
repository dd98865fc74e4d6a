package rpc

import (
	"context"
	"errors"
	"strconv"
	"sync"
	"testing"
	"testing/synctest"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
	"google.golang.org/grpc/mem"
	"google.golang.org/protobuf/proto"

	"github.com/gridstand/gridstand/game"
	"github.com/gridstand/gridstand/game/replay"
	"github.com/gridstand/gridstand/internal/id"
	"github.com/gridstand/gridstand/internal/testkit/process"
	pb "github.com/gridstand/gridstand/proto/gridstand/v1"
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

func (c *countedReads) Update(_ context.Context, created store.Challenge) error {
	created.Revision = 1
	c.all[created.ID] = created
	return nil
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

// noBoards and noGames are empty stores. Reads of games fail with err if it is set.
type (
	noBoards  struct{ anyBoards }
	anyBoards interface{ store.Boards }
	noGames   struct {
		store.Games
		err error
	}
)

func (noBoards) Hidden(context.Context, ...string) (map[string]bool, error) { return nil, nil }

func (g noGames) Heads(_ context.Context, ids []string) ([]store.Head, error) {
	return make([]store.Head, len(ids)), g.err
}

// raceID returns the ID of the nth race of a service.
func raceID(n int) string { return id.Derive([]byte(strconv.Itoa(n))) }

// newLiveService returns a service without limits and n waiting races.
func newLiveService(t *testing.T, n int) (*Service, *countedReads) {
	t.Helper()
	if process.Race {
		t.Skip("ThreadSanitizer of Go 1.26 may crash or hang while a fake clock runs these timers")
	}
	kept := &countedReads{all: map[string]store.Challenge{}, reads: map[string]int{}}
	challenges := challenge.New(challenge.Config{Store: kept, Log: gamelog.New(noGames{}), Outages: noOutages{}})
	for race := range n {
		_, err := challenges.Create(t.Context(), challenge.Challenge{
			ID: raceID(race), Kind: replay.Race, Variant: "classic", Seed: game.NewSeed(), Limit: time.Minute,
		}, time.Now())
		require.NoError(t, err)
	}
	kept.take()
	return New(Config{
		Challenges: challenges, Hub: match.NewHub(match.Config{}),
		Leaderboard: leaderboard.New(noBoards{}, nil, nil),
	}), kept
}

// Ensure that challenges are read at the usual intervals, and less often if an address watches many: those
// that no other address watches.
func TestLiveChallenge_Reads(t *testing.T) {
	t.Parallel()
	for _, races := range []int{10, liveReads} {
		synctest.Test(t, func(t *testing.T) {
			s, kept := newLiveService(t, races+1)
			watch := func(race int, address string) {
				l := s.addStream(t.Context(), raceID(race), address)
				t.Cleanup(func() { s.removeStream(l, "", address) })
				_, err := l.first(t.Context())
				require.NoError(t, err)
			}
			for race := range races {
				watch(race, "many")
			}
			watch(races, "few")
			watch(0, "few")
			time.Sleep(time.Second + time.Millisecond) //nolint:forbidigo // The bubble's clock is fake.
			kept.take()
			time.Sleep(10 * time.Second) //nolint:forbidigo // as above
			reads := kept.take()
			want := 10 * min(liveReads/races, int(time.Second/rosterEvery))
			for race := range races - 1 {
				require.Equal(t, want, reads[raceID(race+1)])
			}
			assert.Equal(t, 20, reads[raceID(races)])
			assert.Equal(t, 20, reads[raceID(0)])
		})
	}
}

// Ensure that the games of an open race are looked at less often, too, if an address watches many.
func TestLiveChallenge_Due(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		now := time.Now()
		l := newLiveChallenge(nil, "")
		l.c = &challenge.Challenge{Kind: replay.Race, OpenTime: now, CloseTime: now.Add(time.Hour)}
		l.readAt, l.now = now, now
		l.latest.Load().at = now
		assert.Equal(t, snapshotEvery, l.due().Sub(now))
		l.spaced = 3 * time.Second
		assert.Equal(t, 3*time.Second, l.due().Sub(now))
	})
}

// opens opens a stream of the first race for an address, and closes it again.
func (s *Service) opens(t *testing.T, budget *front.Budget) error {
	v, err := s.OpenWatchChallenge(budget.Context(t.Context()), &pb.WatchChallengeRequest{ChallengeId: raceID(0)}, bareStream{})
	if err == nil {
		v.Close()
	}
	return err
}

// Ensure that a new stream gets the error if the store answers only some of the reads for the first snapshot.
func TestOpenWatchChallenge_Unavailable(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		s, _ := newLiveService(t, 1)
		away := store.Failed(store.Timeout, "away")
		s.Challenges.Log = gamelog.New(noGames{err: away})
		require.ErrorIs(t, s.opens(t, front.NewBudgets(&limits.Limits{}, nil).Of("192.0.2.1")), away)
	})
}

// Ensure that a stream counts as reads of its address.
func TestOpenWatchChallenge_Counts(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		s, _ := newLiveService(t, 1)
		budgets := front.NewBudgets(&limits.Limits{limits.ReadsPerAddressPerSecond: 1}, nil)
		for range front.Burst {
			require.NoError(t, s.opens(t, budgets.Of("192.0.2.1")))
		}
		_, ok := errors.AsType[*limits.ExceededError](s.opens(t, budgets.Of("192.0.2.1")))
		require.True(t, ok)
		require.NoError(t, s.opens(t, budgets.Of("192.0.2.2")))
	})
}

// Ensure that the first message of a stream has the present time even if the challenge has not changed for
// a while, and that streams share later messages.
func TestOpenWatchChallenge_Now(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		s, _ := newLiveService(t, 1)
		open := func() *View {
			v, err := s.OpenWatchChallenge(t.Context(), &pb.WatchChallengeRequest{ChallengeId: raceID(0)}, bareStream{})
			require.NoError(t, err)
			t.Cleanup(v.Close)
			return v
		}
		next := func(v *View) mem.BufferSlice {
			message, _, err := v.next()
			require.NoError(t, err)
			return message.(mem.BufferSlice)
		}
		now := func(message mem.BufferSlice) time.Time {
			m := new(pb.WatchChallengeResponse)
			require.NoError(t, proto.Unmarshal(message.Materialize(), m))
			return m.GetNow().AsTime().Local()
		}
		one := open()
		assert.WithinDuration(t, time.Now(), now(next(one)), 0)
		time.Sleep(repeatEvery - time.Millisecond) //nolint:forbidigo // The bubble's clock is fake.
		other := open()
		assert.WithinDuration(t, time.Now(), now(next(other)), 0)
		time.Sleep(rosterEvery) //nolint:forbidigo // as above
		synctest.Wait()
		assert.Same(t, &next(one)[0], &next(other)[0])
	})
}
