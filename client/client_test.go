package client_test

import (
	"context"
	"path/filepath"
	"strings"
	"sync"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
	"google.golang.org/grpc"
	"google.golang.org/grpc/stats"

	"github.com/gridstand/gridstand/client"
	"github.com/gridstand/gridstand/internal/testkit/process"
	waittest "github.com/gridstand/gridstand/internal/testkit/wait"
	pb "github.com/gridstand/gridstand/proto/gridstand/v1"
)

func TestNormalTarget(t *testing.T) {
	t.Parallel()
	for in, want := range map[string]string{
		"":                           "localhost:2048",
		"  LocalHost ":               "localhost:2048",
		":2050":                      "localhost:2050",
		"play.example.org":           "play.example.org:2048",
		"Play.Example.org:443":       "play.example.org:443",
		"::1":                        "[::1]:2048",
		"[::1]":                      "[::1]:2048",
		"[::1]:1":                    "[::1]:1",
		"[0:0:0:0:0:0:0:1]:1":        "[::1]:1",
		"2001:DB8::0:0:7":            "[2001:db8::7]:2048",
		"[::ffff:192.0.2.7]:1":       "192.0.2.7:1",
		"FE80::1%Eth0":               "[fe80::1%Eth0]:2048",
		"[::1%lo]:1":                 "[::1%lo]:1",
		"b:2, a , b:2":               "a:2048,b:2",
		"dns:///Play.example.org":    "dns:///play.example.org:2048",
		"DNS:///play.example.org:80": "dns:///play.example.org:80",
	} {
		got, err := client.NormalTarget(in)
		require.NoError(t, err, in)
		assert.Equal(t, want, got, in)
	}
	for _, in := range []string{
		",", "a,,b", ":", "a:", "a:0", "a:65536", "a:port", "a:1:2", "http://a", "unix:///run/x", "a b", "u@h:1", "dns:///", "dns:///a,b", "[", "a%lo", "127.0.0.1%lo",
	} {
		_, err := client.NormalTarget(in)
		assert.Error(t, err, in)
		_, err = client.Dial(client.Config{Target: in})
		assert.Error(t, err, in)
	}
	for in, want := range map[string]string{
		"http://a:2048": "omit http://", "a,https://b/": "omit https:// and use TLS (--tls)",
	} {
		_, err := client.NormalTarget(in)
		require.ErrorContains(t, err, want)
	}
}

func TestDial_BadCAFile(t *testing.T) {
	t.Parallel()
	_, err := client.Dial(client.Config{CAFile: filepath.Join(t.TempDir(), "none.pem")})
	assert.ErrorContains(t, err, "none.pem")
	_, err = client.Dial(client.Config{CAFile: "client_test.go"})
	assert.ErrorContains(t, err, "client_test.go")
}

func TestDial_SeveralServers(t *testing.T) {
	t.Parallel()
	servers := []*fake{{}, {}}
	list := process.FreeAddress(t)
	for _, f := range servers {
		f.getGame = func(int, *pb.GetGameRequest) (*pb.Game, error) { return gameAt(1), nil }
		list += "," + f.start(t)
	}
	c := dial(t, client.Config{Target: list})
	waittest.Until(t, "both servers were called", func() bool {
		_, err := c.Games.GetGame(waittest.Context(t), &pb.GetGameRequest{GameId: gameID})
		return assert.NoError(t, err) && servers[0].made("getGame") > 0 && servers[1].made("getGame") > 0
	})
}

// Ensure that only reads are repeated without the caller's knowledge: nothing would report that an earlier try of
// a write may have taken effect.
func TestRetry_OnlyReads(t *testing.T) {
	t.Parallel()
	f := &fake{}
	conn := dial(t, client.Config{Target: f.start(t, grpc.UnaryInterceptor(
		func(_ context.Context, _ any, call *grpc.UnaryServerInfo, _ grpc.UnaryHandler) (any, error) {
			f.count(call.FullMethod)
			return nil, storageAway()
		},
	))}).Conn()
	var calls sync.WaitGroup
	for _, service := range []grpc.ServiceDesc{
		pb.GameService_ServiceDesc, pb.LeaderboardService_ServiceDesc,
		pb.ChallengeService_ServiceDesc, pb.PlayerService_ServiceDesc,
	} {
		for _, call := range service.Methods {
			method := "/" + service.ServiceName + "/" + call.MethodName
			want := 1
			if strings.HasPrefix(call.MethodName, "Get") || strings.HasPrefix(call.MethodName, "List") {
				want = 4
			}
			calls.Go(func() {
				err := conn.Invoke(waittest.Context(t), method, &pb.GetGameRequest{}, &pb.GetGameResponse{})
				assert.ErrorIs(t, err, client.ErrStorageUnavailable, method)
				assert.Equal(t, want, f.made(method), method)
			})
		}
	}
	calls.Wait()
}

// headerSeen is signaled when the header of an answer arrives at a client.
type headerSeen chan struct{}

func (headerSeen) TagRPC(ctx context.Context, _ *stats.RPCTagInfo) context.Context   { return ctx }
func (headerSeen) TagConn(ctx context.Context, _ *stats.ConnTagInfo) context.Context { return ctx }
func (headerSeen) HandleConn(context.Context, stats.ConnStats)                       {}

func (h headerSeen) HandleRPC(_ context.Context, s stats.RPCStats) {
	if _, header := s.(*stats.InHeader); header {
		h <- struct{}{}
	}
}

// Ensure that a read is repeated if its connection breaks in the middle of the answer.
func TestRetry_BrokenAnswer(t *testing.T) {
	t.Parallel()
	seen := make(headerSeen, 4)
	f := &fake{}
	f.listGames = func(n int, ctx context.Context, _ *pb.ListGamesRequest) (*pb.ListGamesResponse, error) {
		if n < 3 {
			assert.NoError(t, grpc.SendHeader(ctx, nil))
			<-seen
			f.listener.cut()
			<-ctx.Done()
		}
		return &pb.ListGamesResponse{MovingGames: int32(n)}, nil
	}
	c := dial(t, client.Config{Target: f.start(t), DialOptions: []grpc.DialOption{grpc.WithStatsHandler(seen)}})
	list, err := c.Games.ListGames(waittest.Context(t), &pb.ListGamesRequest{})
	require.NoError(t, err)
	assert.EqualValues(t, 3, list.GetMovingGames())
}
