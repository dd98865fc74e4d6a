//go:build slow

package fault

import (
	"fmt"
	"net"
	"strconv"
	"sync"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
	"google.golang.org/grpc/codes"
	"google.golang.org/grpc/metadata"
	"google.golang.org/protobuf/proto"

	waittest "github.com/gridstand/gridstand/internal/testkit/wait"
	pb "github.com/gridstand/gridstand/proto/gridstand/v1"
)

// longer is a version at which a game has more events than gRPC buffers for a client that does
// not read.
const longer = 800

// Ensure that a server limits what it holds for one address behind a proxy that takes no responses:
// further large responses to that address are refused, and the error names the limit. Other addresses
// behind the same proxy are answered.
func TestUnreadAnswers_Forwarded(t *testing.T) {
	t.Parallel()
	env := newRedisEnv(t)
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
	refused := g.refusals(t)

	proxy, err := dialRaw(t.Context(), &net.Dialer{}, server.addr, 0)
	require.NoError(t, err)
	type ended struct {
		stream  uint32
		outcome string
	}
	outcomes := make(chan ended, 4*allowed/size)
	proxy.answered = func(stream uint32) { outcomes <- ended{stream, "answered"} }
	var reading sync.WaitGroup
	reading.Go(func() { proxy.read(func(stream uint32, status string) { outcomes <- ended{stream, status} }) })
	defer reading.Wait()
	defer func() { _ = proxy.conn.Close() }()
	// list requests a list for an address. It returns "answered", or the status of a refusal.
	list := func(address string) (stream uint32, outcome string) {
		for {
			stream, err := proxy.call(pb.GameService_ListGames_FullMethodName, request, "x-forwarded-for", address)
			require.NoError(t, err)
			got := waittest.Receive(t, "an answer or a refusal", outcomes)
			for got.stream != stream { // gRPC resets a stream after it has refused it.
				got = waittest.Receive(t, "an answer or a refusal", outcomes)
			}
			if got.outcome != strconv.Itoa(int(codes.Unavailable)) { // Redis may be slow.
				return stream, got.outcome
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
		require.LessOrEqual(t, len(held)*size, allowed+size, "no list was refused")
	}
	assert.Greater(t, len(held)*size, allowed*3/4)
	assert.Equal(t, map[string]int{"held_bytes_per_address": 1}, since(refused, g.refusals(t)))
	t.Logf("%d unread lists of %d bytes", len(held), size)

	here := metadata.AppendToOutgoingContext(t.Context(), "x-forwarded-for", address)
	_, err = answered(here, player, player.games.ListGames, request)
	r := refusalOf(err)
	assert.Equal(t, codes.ResourceExhausted, r.code)
	assert.Equal(t, "held_bytes_per_address", r.metadata["limit_name"])
	assert.Equal(t, strconv.Itoa(allowed), r.metadata["limit"])
	assert.Positive(t, r.retry)
	_, outcome := list(other)
	assert.Equal(t, "answered", outcome)

	for _, stream := range held {
		require.NoError(t, proxy.reset(stream))
	}
	waittest.Until(t, "the memory is released", func() bool {
		_, err := player.games.ListGames(here, request)
		return err == nil
	})
}
