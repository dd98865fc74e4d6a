package streams

import (
	"context"
	"errors"
	"io"
	"math/rand/v2"
	"net"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
	"google.golang.org/grpc"
	"google.golang.org/grpc/codes"
	"google.golang.org/grpc/status"

	"github.com/gridstand/gridstand/client"
	eventstest "github.com/gridstand/gridstand/internal/testkit/events"
	"github.com/gridstand/gridstand/internal/testkit/longtest"
	playertest "github.com/gridstand/gridstand/internal/testkit/player"
	redistest "github.com/gridstand/gridstand/internal/testkit/redis"
	servertest "github.com/gridstand/gridstand/internal/testkit/server"
	pb "github.com/gridstand/gridstand/proto/gridstand/v1"
	"github.com/gridstand/gridstand/server"
)

// two starts two servers that share a Redis server.
func two(t testing.TB) (one, other *server.Server) {
	t.Helper()
	c := servertest.Config(t)
	c.Store = "redis://" + redistest.StartMiniredis(t).Addr()
	c.Limits.MovesPerSecond = 0
	one, _ = servertest.Start(t, c)
	other, _ = servertest.Start(t, c)
	return one, other
}

// overProxy starts a server whose connections to Redis go through a proxy.
func overProxy(t testing.TB) (*server.Server, *redistest.Proxy) {
	t.Helper()
	proxy := redistest.StartProxy(t, redistest.StartMiniredis(t).Addr())
	c := servertest.Config(t)
	c.Store = "redis://" + proxy.Addr()
	srv, _ := servertest.Start(t, c)
	return srv, proxy
}

// Ensure that watchers of one server see what happens on another before the server rereads the
// record, which it does every 5 s. On an idle machine, a change appears there within 0.5 s. The test
// allows 3 s more than the change takes to appear on the server that made it.
func TestRace_OtherServer(t *testing.T) {
	t.Parallel()
	if testing.Short() {
		t.Skip("waits for seconds")
	}
	one, other := two(t)
	ada, bob := newRacer(t, one.Addr(), "Ada"), newRacer(t, one.Addr(), "Bob")
	var slowest time.Duration
	for range 3 { // Retry, because a busy machine may delay one server and not the other.
		if slowest = watchElsewhere(t, one, other, ada, bob); slowest < 3*time.Second {
			return
		}
	}
	assert.Fail(t, "the other server shows changes late", "after %v", slowest)
}

// watchElsewhere watches a two-player race through both servers, and returns how much longer, at most,
// a change took to appear on the other one.
func watchElsewhere(t *testing.T, one, other *server.Server, ada, bob *racer) (slowest time.Duration) {
	t.Helper()
	race := ada.create(t, time.Minute)
	here, s := watch(t, servertest.Dial(t, one.Addr()), race, ""), watch(t, servertest.Dial(t, other.Addr()), race, "")
	until(t, here, entrants(1))
	until(t, s, entrants(1))
	within := func(what string, do func(), is func(*pb.WatchChallengeResponse) bool) *pb.WatchChallengeResponse {
		do()
		began := time.Now()
		until(t, here, is)
		own := time.Since(began)
		m := until(t, s, is)
		took := time.Since(began)
		t.Logf("%s: seen after %v, on its own server after %v", what, took, own)
		slowest = max(slowest, took-own)
		return m
	}
	within("a new entrant", func() { bob.join(t, race, true) }, entrants(2))
	within("the start", func() { ada.join(t, race, true) }, at(scheduled))
	until(t, here, at(open))
	until(t, s, at(open))
	game := ada.attempt(t, race)
	within("points", func() {
		for game.GetPosition().GetScores()[0] == 0 {
			ada.Move(t, game)
		}
	}, scored)
	m := within("the end of an attempt", func() { ada.Resign(t, game) }, func(m *pb.WatchChallengeResponse) bool {
		return m.GetStandings()[0].GetFinished()
	})
	own := until(t, watch(t, servertest.Dial(t, one.Addr()), race, ""), scored)
	assert.Equal(t, m.GetEtag(), own.GetEtag(), "equal content has an equal etag on every server")
	return slowest
}

// Ensure that the first snapshot on another server has all acknowledged moves, even if that server
// has an older state of the game in memory: the watcher may have seen these moves.
func TestRace_OtherServerIsBehind(t *testing.T) {
	t.Parallel()
	if testing.Short() {
		t.Skip("waits for seconds")
	}
	one, other := two(t)
	ada, bob := newRacer(t, one.Addr(), "Ada"), newRacer(t, one.Addr(), "Bob")
	race := ada.create(t, time.Minute)
	bob.join(t, race, true)
	ada.join(t, race, true)
	require.NoError(t, playertest.Retry(t.Context(), func(context.Context) error {
		_, err := tryUntil(watch(t, servertest.Dial(t, one.Addr()), race, ""), at(open))
		return err
	}, playertest.StorageUnavailable)) // On a busy machine, Redis may not answer in time.
	game := ada.attempt(t, race)
	elsewhere := servertest.Dial(t, other.Addr())
	_, err := pb.NewGameServiceClient(elsewhere).GetGame(ada.Ctx, &pb.GetGameRequest{GameId: game.GetId()})
	require.NoError(t, err)
	for range 5 {
		ada.Move(t, game)
	}
	m, err := watch(t, elsewhere, race, "").Recv()
	require.NoError(t, err)
	moves := int32(0)
	for _, line := range m.GetStandings() {
		moves += line.GetMoveCount()
	}
	assert.EqualValues(t, 5, moves)
}

// Ensure that a stream that resumes on another server does not go back in time, even if that server
// already has streams, whose snapshot is older.
func TestRace_ResumedElsewhere(t *testing.T) {
	t.Parallel()
	if testing.Short() {
		t.Skip("waits for seconds")
	}
	one, other := two(t)
	ada, bob := newRacer(t, one.Addr(), "Ada"), newRacer(t, one.Addr(), "Bob")
	race := ada.create(t, time.Minute)
	elsewhere := servertest.Dial(t, other.Addr())
	until(t, watch(t, elsewhere, race, ""), at(waiting))
	here := watch(t, servertest.Dial(t, one.Addr()), race, "")
	until(t, here, entrants(1))
	bob.join(t, race, true)
	ada.join(t, race, true)
	m := until(t, here, at(scheduled))
	m, err := watch(t, elsewhere, race, m.GetEtag()).Recv()
	require.NoError(t, err)
	assert.GreaterOrEqual(t, m.GetChallenge().GetStatus(), scheduled)
}

// Ensure that streams survive an outage of the store and continue afterward.
func TestRace_Outage(t *testing.T) {
	t.Parallel()
	if testing.Short() {
		t.Skip("waits for seconds")
	}
	srv, store := overProxy(t)
	ada, bob := newRacer(t, srv.Addr(), "Ada"), newRacer(t, srv.Addr(), "Bob")
	race := ada.create(t, time.Minute)
	streams := doors(t, srv, race, "")
	for _, s := range streams {
		until(t, s, entrants(1))
	}
	store.Refuse()
	store.Cut()
	_, err := bob.challenges.JoinChallenge(bob.Ctx, &pb.JoinChallengeRequest{ChallengeId: race})
	require.Error(t, err)
	assert.Equal(t, codes.Unavailable, status.Code(err))
	_, err = watch(t, servertest.Dial(t, srv.Addr()), race, "").Recv()
	require.NoError(t, err, "the challenge is in memory because others watch it")
	_, err = watch(t, servertest.Dial(t, srv.Addr()), race, otherEtag).Recv()
	assert.Equal(t, codes.Unavailable, status.Code(err), "another server may have sent something newer: %v", err)
	store.Accept()
	require.NoError(t, playertest.Retry(bob.Ctx, func(ctx context.Context) error {
		_, err := bob.challenges.JoinChallenge(ctx, &pb.JoinChallengeRequest{ChallengeId: race})
		return err
	}, playertest.StorageUnavailable))
	for protocol, s := range streams {
		m := until(t, s, entrants(2))
		assert.Equal(t, waiting, m.GetChallenge().GetStatus(), protocol)
	}
}

// otherEtag is an etag that no snapshot has.
var otherEtag = strings.Repeat("0", 24)

// Ensure that watchers of a challenge never see its standings without their entries if the store
// does not answer for a while.
func TestLink_Outage(t *testing.T) {
	t.Parallel()
	if testing.Short() {
		t.Skip("too slow for -short")
	}
	srv, store := overProxy(t)
	ada, bob := newRacer(t, srv.Addr(), "Ada"), newRacer(t, srv.Addr(), "Bob")
	link := ada.link(t)
	ada.Resign(t, ada.attempt(t, link))
	stream := watch(t, servertest.Dial(t, srv.Addr()), link, "")
	until(t, stream, func(m *pb.WatchChallengeResponse) bool { return m.GetTotal() == 1 })

	store.Refuse()
	store.Cut()
	_, err := watch(t, servertest.Dial(t, srv.Addr()), link, otherEtag).Recv()
	require.Equal(t, codes.Unavailable, status.Code(err), "%v", err)
	store.Accept()
	var game *pb.Game
	require.NoError(t, playertest.Retry(bob.Ctx, func(ctx context.Context) error {
		attempt, err := bob.Games.CreateGame(ctx, &pb.CreateGameRequest{ChallengeId: link})
		game = attempt.GetGame()
		return err
	}, playertest.StorageUnavailable))
	// The last try fails if an earlier one ended the game without an answer.
	_ = playertest.Retry(bob.Ctx, func(ctx context.Context) error {
		_, err := bob.Games.Resign(ctx, &pb.ResignRequest{GameId: game.GetId()})
		return err
	}, playertest.StorageUnavailable)
	until(t, stream, func(m *pb.WatchChallengeResponse) bool {
		require.NotZero(t, m.GetTotal())
		return m.GetTotal() == 2
	})
}

// Ensure that a reader whose connection is cut 50 times, at arbitrary byte positions, and that
// reconnects to either of two servers, ends up with the current state of the race.
func TestRace_Cuts_long(t *testing.T) {
	longtest.Skip(t)
	t.Parallel()
	one, other := two(t)
	addresses := []net.Addr{one.Addr(), other.Addr()}
	ada := newRacer(t, one.Addr(), "Ada")
	race := ada.create(t, 10*time.Minute)
	ada.addBots(t, race, 1)
	ada.join(t, race, true)
	until(t, watch(t, servertest.Dial(t, one.Addr()), race, ""), at(open))
	game := ada.attempt(t, race)

	const cuts = 50
	random := rand.New(rand.NewPCG(1, 2))
	var last *pb.WatchChallengeResponse
	var resumed int
	for n := range cuts {
		ada.Move(t, game)
		conn := &eventstest.Cut{Conn: dial(t, addresses[n%2]), Left: random.IntN(2500)}
		r, err := tryReadChallenge(t, conn, "GET", race, "Last-Event-ID: "+last.GetEtag())
		for first := true; err == nil; first = false {
			var m *pb.WatchChallengeResponse
			if m, err = r.Recv(); err == nil {
				if first && last != nil {
					resumed++
					assert.NotEqual(t, last.GetEtag(), m.GetEtag(), "the reader already has this snapshot")
				}
				last = m
			}
			ada.Move(t, game)
		}
		require.NoError(t, conn.Close())
	}
	assert.NotZero(t, resumed)
	ada.Resign(t, game)
	final := until(t, readChallenge(t, dial(t, other.Addr()), race, "Last-Event-ID: "+last.GetEtag()), func(m *pb.WatchChallengeResponse) bool {
		return m.GetStandings()[0].GetFinished() || m.GetStandings()[1].GetFinished()
	})
	for _, line := range final.GetStandings() {
		if line.GetPlayer() != nil {
			assert.Equal(t, game.GetPosition().GetScores()[0], line.GetScore())
			assert.Equal(t, game.GetPosition().GetMoveCount(), line.GetMoveCount())
		}
	}
}

// Ensure that the Go SDK follows a race on two servers to its end, even though every one of its
// connections breaks.
func TestRace_ClientCuts_long(t *testing.T) {
	longtest.Skip(t)
	t.Parallel()
	one, other := two(t)
	ada := newRacer(t, one.Addr(), "Ada")
	race := ada.create(t, 20*time.Second)
	ada.addBots(t, race, 1)
	ada.join(t, race, true)
	until(t, watch(t, servertest.Dial(t, one.Addr()), race, ""), at(open))
	game := ada.attempt(t, race)
	random := rand.New(rand.NewPCG(3, 4))
	var mu sync.Mutex
	c, err := client.Dial(client.Config{
		Target: one.Addr().String() + "," + other.Addr().String(),
		DialOptions: []grpc.DialOption{grpc.WithContextDialer(func(ctx context.Context, address string) (net.Conn, error) {
			conn, err := (&net.Dialer{}).DialContext(ctx, "tcp", address)
			if err != nil {
				return nil, err
			}
			mu.Lock()
			defer mu.Unlock()
			return &eventstest.Cut{Conn: conn, Left: 300 + random.IntN(900)}, nil
		})},
	})
	require.NoError(t, err)
	defer c.Close()
	w := c.WatchChallenge(t.Context(), client.ChallengeWatchOptions{ChallengeID: race})
	defer w.Close()
	var last *pb.WatchChallengeResponse
	cuts := 0
	for {
		update, err := w.Next()
		if errors.Is(err, io.EOF) {
			break
		}
		require.NoError(t, err)
		if update.Connection.State == client.Reconnecting {
			cuts++
		}
		if update.Snapshot != nil && update.Snapshot.GetChallenge().GetStatus() == open {
			ada.tryMove(game)
		}
		if update.Snapshot != nil {
			assert.NotEqual(t, last.GetEtag(), update.Snapshot.GetEtag())
			last = update.Snapshot
		}
	}
	assert.Greater(t, cuts, 3)
	assert.Equal(t, closed, last.GetChallenge().GetStatus())
	assert.Len(t, last.GetChallenge().GetSeed(), 32)
	for _, line := range last.GetStandings() {
		assert.True(t, line.GetFinished())
	}
	t.Logf("%d connections broke", cuts)
}
