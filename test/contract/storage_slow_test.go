//go:build slow

package contract

import (
	"context"
	"sync"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
	"google.golang.org/grpc/health/grpc_health_v1"
	"google.golang.org/protobuf/proto"

	redistest "github.com/gridstand/gridstand/internal/testkit/redis"
	waittest "github.com/gridstand/gridstand/internal/testkit/wait"
	pb "github.com/gridstand/gridstand/proto/gridstand/v1"
	"github.com/gridstand/gridstand/server"
	"github.com/gridstand/gridstand/server/limits"
)

// Ensure that calls report that Redis is unavailable, that calls that do not need Redis work as usual (for
// example, a malformed id is not looked up), and that after the outage a repeated call has its outcome and
// streams go on.
func TestStorageUnavailable(t *testing.T) {
	t.Parallel()
	redis := redistest.StartProxy(t, redistest.StartMiniredis(t).Addr())
	s := start(t, "redis://"+redis.Addr())
	p := s.player(t)
	g := s.game(t, p, "classic")
	watching := s.watch(t, s.anyone, &pb.WatchRequest{GameId: g.GetId()})
	watching.game(t)
	redis.Refuse()
	s.storeStopped.Store(true)

	id := newID()
	calls := []struct {
		ctx     context.Context
		request proto.Message
	}{
		{p.ctx, &pb.CreateGameRequest{Variant: "classic"}},
		{p.ctx, &pb.CreateGameRequest{ChallengeId: id}},
		{s.anyone, &pb.GetGameRequest{GameId: g.GetId()}},
		{s.anyone, &pb.GetGameRequest{GameId: id}},
		{s.anyone, &pb.ListGamesRequest{}},
		{s.anyone, &pb.WatchRequest{GameId: id}},
		{p.ctx, slide(g.GetId(), 1, g.GetPosition().GetTwenty48().GetLegalMoves()[0])},
		{s.anyone, &pb.ListScoresRequest{Variant: "classic"}},
		{s.anyone, &pb.GetRankRequest{Variant: "classic", PlayerId: p.GetId()}},
		{s.anyone, &pb.GetChallengeRequest{ChallengeId: id}},
		{s.anyone, &pb.GetChallengeRequest{Daily: &pb.DailyRequest{}}},
		{s.anyone, &pb.ListStandingsRequest{ChallengeId: id}},
		{p.ctx, &pb.CreateChallengeRequest{Kind: link, Variant: "classic"}},
		{p.ctx, &pb.JoinChallengeRequest{ChallengeId: id}},
		{s.anyone, &pb.CreatePlayerRequest{Name: "Latecomer"}},
		{p.ctx, &pb.RotateTokenRequest{}},
		{p.ctx, &pb.RenameRequest{Name: "Renamed"}},
		{p.ctx, &pb.CreateSessionLinkRequest{}},
		{s.anyone, &pb.OpenSessionRequest{Code: id}},
		{s.with(newID() + "." + newID()), &pb.ListVariantsRequest{}}, // a token that the server has not seen
	}
	errs := make([]error, len(calls))
	var group sync.WaitGroup
	for n, call := range calls {
		group.Go(func() { _, errs[n] = s.send(call.ctx, call.request) })
	}
	group.Wait()
	for n, err := range errs {
		require.Error(t, err, "%T", calls[n].request)
		wantReason(t, err, pb.ReasonStorageUnavailable)
	}
	for _, id := range unknown()[1:] {
		s.refuses(t, s.anyone, &pb.GetGameRequest{GameId: id}, pb.ReasonGameNotFound)
		s.refuses(t, s.anyone, &pb.GetPlayerRequest{PlayerId: id}, pb.ReasonPlayerNotFound)
	}
	_, err := s.GetServerInfo(s.anyone, &pb.GetServerInfoRequest{})
	require.NoError(t, err)
	_, err = s.ListVariants(s.anyone, &pb.ListVariantsRequest{})
	require.NoError(t, err)
	health, err := grpc_health_v1.NewHealthClient(s.bare(t)).Check(s.anyone, &grpc_health_v1.HealthCheckRequest{})
	require.NoError(t, err)
	assert.Equal(t, grpc_health_v1.HealthCheckResponse_SERVING, health.GetStatus(), "calls report the outage themselves")

	redis.Accept()
	s.storeStopped.Store(false)
	moved, err := s.Move(p.ctx, slide(g.GetId(), 1, g.GetPosition().GetTwenty48().GetLegalMoves()[0]))
	require.NoError(t, err, "the repeated call has an outcome")
	same(t, moved.GetEvent(), watching.event(t))
	same(t, s.move(t, p, g.GetId(), 2, moved.GetEvent().GetPosition()), watching.event(t))
}

// Ensure that if the store hangs, every caller is told that it is unavailable, including callers
// that can't get a slot because hung calls hold them all.
func TestStorageUnavailable_Hanging(t *testing.T) {
	t.Parallel()
	redis := redistest.StartRedis(t)
	s := start(t, redis.URL(), func(c *server.Config) { c.Limits[limits.ReadsPerAddressPerSecond] = 2000 })
	redis.Pause()
	s.storeStopped.Store(true)
	t.Cleanup(redis.Resume)
	waittest.Until(t, "all calls report that the store is unavailable", func() bool {
		const calls = 12
		reasons := make(chan string, calls)
		for range calls {
			go func() {
				_, err := s.ListGames(s.anyone, &pb.ListGamesRequest{})
				reasons <- refusalOf(t, err).info.GetReason()
			}()
		}
		away := 0
		for range calls {
			if <-reasons == pb.ReasonStorageUnavailable {
				away++
			}
		}
		return away == calls
	})
}
