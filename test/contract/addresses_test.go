package contract

import (
	"context"
	"io"
	"net"
	"strconv"
	"strings"
	"testing"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
	"google.golang.org/grpc/codes"
	"google.golang.org/grpc/metadata"
	"google.golang.org/grpc/status"

	redistest "github.com/gridstand/gridstand/internal/testkit/redis"
	pb "github.com/gridstand/gridstand/proto/gridstand/v1"
	"github.com/gridstand/gridstand/server"
)

// wantLimited requires that a call is refused because of a limit, and that the error includes
// the limit and a retry delay. It returns the delay.
func wantLimited(t *testing.T, err error, limit string) time.Duration {
	t.Helper()
	assert.Equal(t, codes.ResourceExhausted, status.Code(err))
	assert.Equal(t, limit, wantReason(t, err, pb.ReasonRateLimited)["limit"])
	wait := refusalOf(t, err).retry.GetRetryDelay().AsDuration()
	assert.Positive(t, wait)
	return wait
}

// refills returns how many more calls a limit allows, at most, after the given time: one for each
// interval. It is 0 unless the machine is very slow.
func refills(since time.Time, interval time.Duration) int { return int(time.Since(since) / interval) }

// wantQuota makes a few more calls than a limit per minute allows, and requires that the others are
// refused. It returns the number of calls that succeeded.
func wantQuota(t *testing.T, perMinute int, call func(n int) error) (made int) {
	t.Helper()
	began, interval := time.Now(), time.Minute/time.Duration(perMinute)
	for n := range perMinute + 4 {
		err := call(n)
		if err == nil {
			made++
			continue
		}
		assert.GreaterOrEqual(t, made, perMinute)
		assert.LessOrEqual(t, wantLimited(t, err, strconv.Itoa(perMinute)), interval)
	}
	assert.LessOrEqual(t, made, perMinute+refills(began, interval))
	return made
}

// passedOn returns the context of a call that a proxy forwards on behalf of the given address.
func passedOn(ctx context.Context, address string) context.Context {
	return metadata.AppendToOutgoingContext(ctx, "x-forwarded-for", address)
}

// Ensure that an address cannot create more accounts per minute than allowed, across all
// servers, and that other addresses still can.
func TestLimit_NewPlayers(t *testing.T) {
	t.Parallel()
	store := "redis://" + redistest.StartMiniredis(t).Addr()
	limits := func(c *server.Config) { c.Limits.NewPlayersPerMinute, c.Proxies = 3, "127.0.0.1" }
	servers := []*testServer{start(t, store, limits), start(t, store, limits)}
	create := func(ctx context.Context, n int) error {
		s := servers[n%len(servers)]
		_, err := s.CreatePlayer(ctx, &pb.CreatePlayerRequest{Name: "p" + newID()[:20]})
		return err
	}
	ctx := passedOn(servers[0].anyone, "198.51.100.1")
	wantQuota(t, 3, func(n int) error { return create(ctx, n) })
	require.NoError(t, create(passedOn(servers[0].anyone, "198.51.100.2"), 0))
}

// Ensure that callers cannot claim another address if no proxy is trusted.
func TestLimit_NoProxy(t *testing.T) {
	t.Parallel()
	skipShort(t)
	s := start(t, server.Memory, func(c *server.Config) { c.Limits.NewPlayersPerMinute = 1 })
	s.player(t)
	_, err := s.CreatePlayer(passedOn(s.anyone, "198.51.100.1"), &pb.CreatePlayerRequest{Name: "another"})
	wantLimited(t, err, "1")
}

// Ensure that the limit on new games per minute applies to each account, that a refused call
// creates nothing, and that a repeated call does not count.
func TestLimit_NewGames(t *testing.T) {
	t.Parallel()
	skipShort(t)
	each(t, func(t *testing.T, s *testServer) {
		p := s.player(t)
		first := &pb.CreateGameRequest{Variant: "classic", RequestId: newID()}
		var ids []string
		made := wantQuota(t, 2, func(n int) error {
			request := &pb.CreateGameRequest{Variant: "classic"}
			if n == 0 {
				request = first
			}
			created, err := s.CreateGame(p.ctx, request)
			ids = append(ids, created.GetGame().GetId())
			return err
		})
		assert.Equal(t, ids[0], s.create(t, p, first).GetId())
		assert.Len(t, s.list(t, p, &pb.ListGamesRequest{PlayerId: "me"}), made)
		s.game(t, s.player(t), "classic")
	}, func(c *server.Config) { c.Limits.NewGamesPerMinute, c.Limits.NewGamesPerAddressPerMinute = 2, 0 })
}

// Ensure that the limit on new games per address and minute applies to all accounts together.
func TestLimit_NewGamesPerAddress(t *testing.T) {
	t.Parallel()
	skipShort(t)
	each(t, func(t *testing.T, s *testServer) {
		players := []player{s.player(t), s.player(t)}
		wantQuota(t, 3, func(n int) error {
			_, err := s.CreateGame(players[n%2].ctx, &pb.CreateGameRequest{Variant: "classic"})
			return err
		})
	}, func(c *server.Config) { c.Limits.NewGamesPerMinute, c.Limits.NewGamesPerAddressPerMinute = 0, 3 })
}

// Ensure that an address cannot have more open streams than allowed, even over several
// connections, and that a stream that ends makes room for another.
func TestLimit_WatchesPerAddress(t *testing.T) {
	t.Parallel()
	if testing.Short() {
		t.Skip("too slow for -short")
	}
	each(t, func(t *testing.T, s *testServer) {
		p := s.player(t)
		g := s.game(t, p, "classic")
		request := &pb.WatchRequest{GameId: g.GetId()}
		s.watch(t, p.ctx, request).game(t)
		ctx, leave := context.WithCancel(s.anyone)
		s.watch(t, ctx, request).game(t)
		wantLimited(t, s.watch(t, s.anyone, request).refused(t), "2")
		again := pb.NewGameServiceClient(dial(t, s.addr))
		stream, err := again.Watch(s.anyone, request)
		require.NoError(t, err)
		_, err = stream.Recv()
		wantLimited(t, err, "2")
		leave()
		eventually(t, "another stream is allowed", func() bool {
			stream, err := again.Watch(s.anyone, request)
			if err != nil {
				return false
			}
			_, err = stream.Recv()
			return err == nil
		})
	}, func(c *server.Config) { c.Limits.WatchesPerAddress = 2 })
}

// Ensure that an address that opens and closes streams too fast is told to wait and may retry
// later.
func TestLimit_WatchesPerSecond(t *testing.T) {
	t.Parallel()
	if testing.Short() {
		t.Skip("too slow for -short")
	}
	each(t, func(t *testing.T, s *testServer) {
		g := s.game(t, s.player(t), "classic")
		open := func() error {
			ctx, leave := context.WithCancel(s.anyone)
			defer leave()
			stream, err := s.Watch(ctx, &pb.WatchRequest{GameId: g.GetId()})
			if err == nil {
				_, err = stream.Recv()
			}
			return err
		}
		refused, began := 0, time.Now()
		for range 200 {
			if err := open(); err != nil {
				wantLimited(t, err, "2")
				refused++
			}
		}
		assert.Greater(t, refused, 100-refills(began, time.Second/2))
		eventually(t, "the address may watch again", func() bool { return open() == nil })
	}, func(c *server.Config) { c.Limits.WatchesPerAddressPerSecond = 2 })
}

// Ensure that an address that has sent many wrong tokens is refused when it sends more, and that
// accounts verified before and other addresses are not affected.
func TestLimit_WrongTokens(t *testing.T) {
	t.Parallel()
	each(t, func(t *testing.T, s *testServer) {
		known, other := s.player(t), s.player(t)
		s.get(t, s.game(t, known, "classic").GetId())
		wrong := metadata.AppendToOutgoingContext(s.anyone, "authorization", "Bearer "+other.GetId()+"."+strings.Repeat("a", 26))
		refused, began := 0, time.Now()
		for range 20 {
			_, err := s.GetPlayer(wrong, &pb.GetPlayerRequest{PlayerId: "me"})
			if status.Code(err) == codes.ResourceExhausted {
				wantLimited(t, err, "5")
				refused++
				continue
			}
			wantReason(t, err, pb.ReasonBadToken)
		}
		assert.GreaterOrEqual(t, refused, 14-refills(began, 12*time.Second))
		_, err := s.GetPlayer(known.ctx, &pb.GetPlayerRequest{PlayerId: "me"})
		require.NoError(t, err)
		_, err = s.GetPlayer(passedOn(other.ctx, "198.51.100.2"), &pb.GetPlayerRequest{PlayerId: "me"})
		require.NoError(t, err)
	}, func(c *server.Config) { c.Limits.WrongTokensPerMinute, c.Proxies = 5, "127.0.0.0/8" })
}

// Ensure that an address cannot have more connections than allowed, that further connections
// are closed immediately, and that closing one makes room for another.
func TestLimit_Connections(t *testing.T) {
	t.Parallel()
	skipShort(t)
	s := start(t, server.Memory, func(c *server.Config) { c.Limits.ConnectionsPerAddress = 3 })
	s.player(t) // uses one connection
	dial := func() net.Conn {
		conn, err := net.DialTimeout("tcp", s.addr.String(), patience)
		require.NoError(t, err)
		t.Cleanup(func() { _ = conn.Close() })
		require.NoError(t, conn.SetDeadline(time.Now().Add(patience)))
		return conn
	}
	// greeted sends the beginning of an HTTP/2 connection and waits for the server's first
	// frame. It returns an error if the server has closed the connection.
	greeted := func(conn net.Conn) error {
		_, err := conn.Write([]byte("PRI * HTTP/2.0\r\n\r\nSM\r\n\r\n\x00\x00\x00\x04\x00\x00\x00\x00\x00"))
		if err == nil {
			_, err = io.ReadFull(conn, make([]byte, 9))
		}
		return err
	}
	first := dial()
	require.NoError(t, greeted(first))
	require.NoError(t, greeted(dial()))
	require.Error(t, greeted(dial()))
	require.NoError(t, first.Close())
	eventually(t, "another connection is allowed", func() bool { return greeted(dial()) == nil })
	s.player(t)
}
