package fault

import (
	"context"
	"errors"
	"fmt"
	"io"
	"net"
	"net/http"
	"strconv"
	"sync"
	"testing"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
	"google.golang.org/grpc/codes"
	"google.golang.org/grpc/metadata"
	"google.golang.org/protobuf/proto"

	"github.com/gridstand/gridstand/internal/testkit/longtest"
	"github.com/gridstand/gridstand/internal/testkit/process"
	redistest "github.com/gridstand/gridstand/internal/testkit/redis"
	pb "github.com/gridstand/gridstand/proto/gridstand/v1"
)

// longer is a version at which a game has more events than gRPC buffers for a client that does
// not read.
const longer = 800

// Ensure that a watcher that reads nothing for too long is told to reconnect, in a way that gRPC
// clients understand. A watcher that does not even read the message loses the connection, which
// frees its memory. Neither kind of watcher may delay other clients.
func TestStalledReader_long(t *testing.T) {
	longtest.Skip(t)
	t.Parallel()
	redis := redistest.StartRedis(t)
	env := newEnv(t, redis.Addr())
	player := env.player(env.serveProcess())
	game, last := player.playLonger(t, seeded(t))
	// The first stream must not stall before the last one is open.
	server, g := env.serveMeasured("--max-moves-per-second=0", fmt.Sprint("--stall=", 10*time.Second+env.delays.Allowance()))
	player = player.on(server)
	before := g.read(t, "gridstand_connections")

	open := func() *slowStream {
		stream, err := slowWatch(t.Context(), server.addr, &pb.WatchRequest{GameId: game.GetId(), AfterVersion: fromStart()})
		require.NoError(t, err)
		return stream
	}
	waking := open()
	for range 5 {
		open()
	}
	require.Eventually(t, func() bool { return g.read(t, "gridstand_watchers") == 6 }, patience, 20*time.Millisecond)
	require.Equal(t, before+6, g.read(t, "gridstand_connections"))
	require.Eventually(t, func() bool { return g.read(t, "gridstand_watchers") == 0 }, patience, 20*time.Millisecond)

	var version int32
	for {
		message, err := waking.Recv()
		if err != nil {
			r := refusalOf(checkError(err))
			assert.Equal(t, codes.Unavailable, r.code)
			assert.Equal(t, pb.ReasonServerUnavailable, r.reason)
			assert.Positive(t, r.retry)
			assert.Equal(t, "500", waking.response.Trailer.Get("Grpc-Retry-Pushback-Ms"))
			break
		}
		if e := message.GetEvent(); e != nil {
			require.Equal(t, version+1, e.GetVersion())
			version = e.GetVersion()
		}
	}
	assert.Positive(t, version)
	assert.Less(t, version, int32(longer), "the stream was not cut short")

	require.Eventually(t, func() bool { return g.read(t, "gridstand_connections") == before }, patience, 20*time.Millisecond,
		"a client that reads nothing keeps the connection")
	player.requirePlayable(t, last)
	_, err := player.resign(t.Context(), game.GetId())
	require.NoError(t, err)
}

// Ensure that a client that makes many requests and reads nothing loses the connection before it
// costs the server much memory, and that other clients can continue.
func TestUnreadAnswers_long(t *testing.T) {
	longtest.Skip(t)
	t.Parallel()
	redis := redistest.StartRedis(t)
	env := newEnv(t, redis.Addr())
	server, g := env.serveMeasured("--max-new-games-per-minute=0")
	player := env.player(server)
	for range 200 {
		player.start(t, "6x6")
	}
	connections := g.read(t, "gridstand_connections")
	g.collect(t)
	before := g.read(t, "process_resident_memory_bytes")

	request := &pb.ListGamesRequest{PageSize: 200}
	reply, err := player.games.ListGames(t.Context(), request)
	require.NoError(t, err)
	size := proto.Size(reply)
	const allowed = 8 << 20
	client, asked := slowClient(&net.Dialer{}), 0
	defer client.CloseIdleConnections()
	for ; asked < 2*allowed/size; asked++ {
		var response *http.Response
		if response, err = slowCall(t.Context(), client, server.addr, pb.GameService_ListGames_FullMethodName, request); err != nil {
			break
		}
		t.Cleanup(func() { _ = response.Body.Close() })
	}
	require.Error(t, err, "the connection is still open after %d responses of %d bytes", asked, size)
	assert.Greater(t, asked, allowed/size/2)
	require.Eventually(t, func() bool { return g.read(t, "gridstand_connections") == connections }, patience, 20*time.Millisecond)
	memory := g.read(t, "process_resident_memory_bytes")
	t.Logf("the connection was closed after %d responses of %d bytes, memory %d MB before and %d after", asked, size, before>>20, memory>>20)
	if !process.Race {
		assert.Less(t, memory, before+16*allowed)
	}
	_, err = player.games.ListGames(t.Context(), request)
	require.NoError(t, err)
}

// Ensure that a server limits what it holds for one address behind a proxy that takes no responses:
// further large responses to that address are refused, and the error names the limit. Other addresses
// behind the same proxy are answered.
func TestUnreadAnswers_Forwarded_long(t *testing.T) {
	longtest.Skip(t)
	t.Parallel()
	redis := redistest.StartRedis(t)
	env := newEnv(t, redis.Addr())
	const allowed = 8 << 20
	server, g := env.serveMeasured("--proxies=127.0.0.1", fmt.Sprint("--max-held-bytes-per-address=", allowed),
		"--max-new-games-per-minute=0", "--max-moves-per-second=0")
	player := env.player(server)
	for range 200 {
		player.start(t, "6x6")
	}
	request := &pb.ListGamesRequest{PageSize: 200}
	reply, err := player.games.ListGames(t.Context(), request)
	require.NoError(t, err)
	size := proto.Size(reply)
	g.collect(t)
	before, refused := g.read(t, "process_resident_memory_bytes"), g.refusals(t)

	proxy, err := dialRaw(t.Context(), &net.Dialer{}, server.addr, 0)
	require.NoError(t, err)
	outcomes := make(chan string, 2*allowed/size)
	proxy.answered = func(uint32) { outcomes <- "answered" }
	var reading sync.WaitGroup
	reading.Go(func() { proxy.read(func(_ uint32, status string) { outcomes <- status }) })
	defer reading.Wait()
	defer func() { _ = proxy.conn.Close() }()
	// list requests a list for an address. It returns "answered", or the status of a refusal.
	list := func(address string) (stream uint32, outcome string) {
		for {
			stream, err := proxy.call(pb.GameService_ListGames_FullMethodName, request, "x-forwarded-for", address)
			require.NoError(t, err)
			select {
			case outcome = <-outcomes:
			case <-time.After(patience):
				require.Fail(t, "a list was neither answered nor refused")
			}
			if outcome != strconv.Itoa(int(codes.Unavailable)) { // Redis may be slow.
				return stream, outcome
			}
		}
	}
	const address, other = "192.0.2.1", "192.0.2.2"
	var held []uint32
	for {
		stream, outcome := list(address)
		if outcome != "answered" {
			assert.Equal(t, strconv.Itoa(int(codes.ResourceExhausted)), outcome)
			break
		}
		held = append(held, stream)
		require.LessOrEqual(t, len(held)*size, allowed, "no list was refused")
	}
	assert.Greater(t, len(held)*size, allowed*3/4)
	assert.Equal(t, map[string]int{"held_bytes_per_address": 1}, since(refused, g.refusals(t)))
	t.Logf("%d unread lists of %d bytes, refused: %v; memory %d MB before and %d after",
		len(held), size, since(refused, g.refusals(t)), before>>20, g.read(t, "process_resident_memory_bytes")>>20)

	here := metadata.AppendToOutgoingContext(t.Context(), "x-forwarded-for", address)
	r := refusalOf(player.untilAnswered(here, func(ctx context.Context) error {
		_, err := player.games.ListGames(ctx, request)
		return err
	}))
	assert.Equal(t, codes.ResourceExhausted, r.code)
	assert.Equal(t, "held_bytes_per_address", r.metadata["limit_name"])
	assert.Equal(t, strconv.Itoa(allowed), r.metadata["limit"])
	assert.Positive(t, r.retry)
	_, outcome := list(other)
	assert.Equal(t, "answered", outcome)

	for _, stream := range held {
		require.NoError(t, proxy.reset(stream))
	}
	require.Eventually(t, func() bool {
		_, err := player.games.ListGames(here, request)
		return err == nil
	}, patience, 20*time.Millisecond, "the memory is not released")
}

// Ensure that clients that request a long history and do not read it delay only other such
// requests from their own address, and no watchers of new events.
func TestUnreadPast_long(t *testing.T) {
	longtest.Skip(t)
	t.Parallel()
	redis := redistest.StartRedis(t)
	env := newEnv(t, redis.Addr())
	player := env.player(env.serveProcess())
	game, _ := player.playLonger(t, seeded(t))
	server := env.serveProgram("--max-moves-per-second=0",
		// An address may receive histories on two streams at a time. They must not stall before the
		// third one is refused.
		fmt.Sprint("--stall=", 12*time.Second+env.delays.Allowance()), "--max-watches-per-address", "1024")
	player = player.on(server)
	for range 2 {
		_, err := slowWatch(t.Context(), server.addr, &pb.WatchRequest{GameId: game.GetId(), AfterVersion: fromStart()})
		require.NoError(t, err)
	}
	past := func() error {
		ctx, cancel := context.WithTimeout(t.Context(), patience)
		defer cancel()
		stream, err := player.games.Watch(ctx, &pb.WatchRequest{GameId: game.GetId(), AfterVersion: fromStart()})
		if err == nil {
			_, err = stream.Recv()
		}
		return err
	}
	require.Eventually(t, func() bool { return refusalOf(past()).code == codes.ResourceExhausted }, patience, time.Millisecond)
	r := refusalOf(past())
	if r.code != codes.OK { // The two streams may have stalled in the meantime.
		assert.Equal(t, pb.ReasonRateLimited, r.reason)
		assert.Equal(t, "2", r.metadata["limit"])
		assert.Positive(t, r.retry)
	}
	now := player.watch(t, game.GetId(), watching{})
	now.awaitVersion(t, longer)
	require.Eventually(t, func() bool { return past() == nil }, patience, time.Millisecond)
	_, err := player.resign(t.Context(), game.GetId())
	require.NoError(t, err)
	require.NoError(t, now.awaitEnd(t))
}

// unreadRoom is the maximum amount of memory, in bytes, that a watcher that reads nothing costs the server.
const unreadRoom = 25_000

// Ensure that thousands of watchers that read nothing while a game has hundreds of fast moves cost the
// server little memory, that it is freed when their connections close, and that players can continue to
// play.
func TestStalledReaders_Memory_long(t *testing.T) {
	longtest.Skip(t)
	t.Parallel()
	conns, streams := 4, 2000
	if process.Race {
		streams = 400
	}
	redis := redistest.StartRedis(t)
	env := newUncheckedEnv(t, redis.Addr(), redistest.NewClient(t, redis.Addr()))
	env.wrapper = []string{"env", "GOMEMLIMIT=" + strconv.Itoa(memoryLimit)}
	server, g := env.serveMeasured("--max-moves-per-second=0")
	b := newBaseline(t, env.player(server))
	calm := b.measureMoves(t)
	game := b.player.start(t, "6x6")
	before, open := g.read(t, residentMemory), g.read(t, "gridstand_connections")
	var raw []*rawConn
	for range conns {
		c, err := dialRaw(t.Context(), dialFrom(t, 1), server.addr, slowWindow)
		require.NoError(t, err)
		t.Cleanup(func() { _ = c.conn.Close() })
		raw = append(raw, c)
		for range streams {
			_, err := c.call(pb.GameService_Watch_FullMethodName, &pb.WatchRequest{GameId: game.GetId()})
			require.NoError(t, err)
		}
	}
	require.Eventually(t, func() bool { return g.read(t, "gridstand_watchers") == conns*streams }, patience, 20*time.Millisecond)
	peak := g.peakMemory(t)
	b.player.playOn(t, game, longer)
	busy := b.measureMoves(t)
	for _, c := range raw {
		_ = c.conn.Close()
	}
	require.Eventually(t, func() bool { return g.read(t, "gridstand_connections") <= open+1 }, patience, 20*time.Millisecond)
	memory := peak()
	t.Logf("%d watchers that read nothing: %d MB (%d before); p50 %v (%v before), p99 %v (%v before)", conns*streams,
		memory>>20, before>>20, at(busy, 50), at(calm, 50), at(busy, 99), at(calm, 99))
	b.assertQuick(t, "watchers that read nothing", calm, busy)
	g.collect(t)
	if !process.Race {
		assert.Less(t, memory, before+conns*streams*unreadRoom)
		assert.Less(t, g.read(t, residentMemory), before+roomFor)
	}
}

// Ensure that a stream counts toward the limit of its address until the server has written its last
// message, although the game is over.
func TestFinished_Unread_long(t *testing.T) {
	longtest.Skip(t)
	t.Parallel()
	env := newSQLiteEnv(t)
	server := env.serveProgram("--max-watches-per-address=2")
	player := env.player(server)
	game := player.start(t, "6x6")
	_, err := player.resign(t.Context(), game.GetId())
	require.NoError(t, err)
	deaf, err := dialRaw(t.Context(), &net.Dialer{}, server.addr, 0)
	require.NoError(t, err)
	defer deaf.conn.Close()
	watch := func() error {
		ctx, cancel := context.WithTimeout(t.Context(), patience)
		defer cancel()
		stream, err := player.games.Watch(ctx, &pb.WatchRequest{GameId: game.GetId()})
		for err == nil {
			_, err = stream.Recv()
		}
		return err
	}
	var refused refusal
	require.Eventually(t, func() bool {
		if _, err := deaf.call(pb.GameService_Watch_FullMethodName, &pb.WatchRequest{GameId: game.GetId()}); err != nil {
			return false
		}
		refused = refusalOf(watch())
		return refused.code == codes.ResourceExhausted
	}, patience, 10*time.Millisecond)
	assert.Equal(t, map[string]string{"limit": "2", "limit_name": "watches_per_address"}, refused.metadata)
	require.NoError(t, deaf.conn.Close())
	require.Eventually(t, func() bool { return errors.Is(watch(), io.EOF) }, patience, time.Millisecond)
}
