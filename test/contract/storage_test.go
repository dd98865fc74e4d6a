package contract

import (
	"context"
	"log/slog"
	"strings"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
	"google.golang.org/grpc/health/grpc_health_v1"
	"google.golang.org/protobuf/proto"

	"github.com/gridstand/gridstand/internal/testkit/longtest"
	redistest "github.com/gridstand/gridstand/internal/testkit/redis"
	servertest "github.com/gridstand/gridstand/internal/testkit/server"
	pb "github.com/gridstand/gridstand/proto/gridstand/v1"
	"github.com/gridstand/gridstand/server"
)

const printable = " *={}abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789"

// Ensure that calls report that Redis is unavailable, and that calls that do not need Redis work as
// usual. For example, a malformed id is not looked up.
func TestStorageUnavailable(t *testing.T) {
	t.Parallel()
	redis := redistest.StartRedis(t)
	s := start(t, redis.URL())
	p := s.player(t)
	g := s.game(t, p, "classic")
	watching := s.watch(t, s.anyone, &pb.WatchRequest{GameId: g.GetId()})
	watching.game(t)
	redis.Kill()
	s.storeStopped.Store(true)

	id := newID()
	away := map[string]error{}
	_, away["CreateGame"] = s.CreateGame(p.ctx, &pb.CreateGameRequest{Variant: "classic"})
	_, away["GetGame"] = s.GetGame(s.anyone, &pb.GetGameRequest{GameId: g.GetId()})
	_, away["GetGame, unknown"] = s.GetGame(s.anyone, &pb.GetGameRequest{GameId: id})
	_, away["ListGames"] = s.ListGames(s.anyone, &pb.ListGamesRequest{})
	away["Watch"] = s.watch(t, s.anyone, &pb.WatchRequest{GameId: id}).refused(t)
	_, away["ListScores"] = s.ListScores(s.anyone, &pb.ListScoresRequest{Variant: "classic"})
	_, away["GetRank"] = s.GetRank(s.anyone, &pb.GetRankRequest{Variant: "classic", PlayerId: p.GetId()})
	_, away["GetChallenge"] = s.GetChallenge(s.anyone, &pb.GetChallengeRequest{ChallengeId: id})
	_, away["GetChallenge, daily"] = s.GetChallenge(s.anyone, &pb.GetChallengeRequest{Daily: &pb.DailyRequest{}})
	_, away["ListChallenges"] = s.ListChallenges(s.anyone, &pb.ListChallengesRequest{})
	_, away["ListStandings"] = s.ListStandings(s.anyone, &pb.ListStandingsRequest{ChallengeId: id})
	_, away["CreateChallenge"] = s.CreateChallenge(p.ctx, &pb.CreateChallengeRequest{Kind: link, Variant: "classic"})
	_, away["CreateGame, attempt"] = s.CreateGame(p.ctx, &pb.CreateGameRequest{ChallengeId: id})
	_, away["JoinChallenge"] = s.JoinChallenge(p.ctx, &pb.JoinChallengeRequest{ChallengeId: id})
	_, away["CreatePlayer"] = s.CreatePlayer(s.anyone, &pb.CreatePlayerRequest{Name: "Latecomer"})
	_, away["GetPlayer"] = s.GetPlayer(s.anyone, &pb.GetPlayerRequest{PlayerId: id})
	_, away["RotateToken"] = s.RotateToken(p.ctx, &pb.RotateTokenRequest{})
	_, away["a token that the server has not seen"] = s.ListVariants(s.with(newID()+"."+newID()), &pb.ListVariantsRequest{})
	for call, err := range away {
		t.Log(call)
		wantReason(t, err, pb.ReasonStorageUnavailable)
	}

	for _, id := range unknown()[1:] {
		_, err := s.GetGame(s.anyone, &pb.GetGameRequest{GameId: id})
		wantReason(t, err, pb.ReasonGameNotFound)
		wantReason(t, s.watch(t, s.anyone, &pb.WatchRequest{GameId: id}).refused(t), pb.ReasonGameNotFound)
		_, err = s.Move(p.ctx, slide(id, 1, pb.Direction_DIRECTION_UP))
		wantReason(t, err, pb.ReasonGameNotFound)
		_, err = s.Resign(p.ctx, &pb.ResignRequest{GameId: id})
		wantReason(t, err, pb.ReasonGameNotFound)
		_, err = s.GetPlayer(s.anyone, &pb.GetPlayerRequest{PlayerId: id})
		wantReason(t, err, pb.ReasonPlayerNotFound)
		if strings.Trim(id, printable) == "" { // Other characters are refused in headers before the token is checked.
			_, err = s.ListVariants(s.with(id+"."+newID()), &pb.ListVariantsRequest{})
			wantReason(t, err, pb.ReasonBadToken)
		}
		// The list is empty, but the response also counts the games being played, which needs the
		// store.
		_, err = s.ListGames(s.anyone, &pb.ListGamesRequest{PlayerId: id})
		wantReason(t, err, pb.ReasonStorageUnavailable)
	}
	_, err := s.GetServerInfo(s.anyone, &pb.GetServerInfoRequest{})
	require.NoError(t, err)
	_, err = s.ListVariants(p.ctx, &pb.ListVariantsRequest{})
	require.NoError(t, err)
	health, err := grpc_health_v1.NewHealthClient(servertest.Dial(t, s.addr)).Check(s.anyone, &grpc_health_v1.HealthCheckRequest{})
	require.NoError(t, err)
	assert.Equal(t, grpc_health_v1.HealthCheckResponse_SERVING, health.GetStatus(), "calls report the outage themselves")
}

// Ensure that if the store hangs, every caller is told that it is unavailable, including callers
// that can't get a slot because hung calls hold them all.
func TestStorageUnavailable_Hanging_long(t *testing.T) {
	longtest.Skip(t)
	t.Parallel()
	redis := redistest.StartRedis(t)
	s := start(t, redis.URL(), func(c *server.Config) { c.Limits.ReadsAtOnce = 4 })
	redis.Pause()
	s.storeStopped.Store(true)
	t.Cleanup(redis.Resume)
	eventually(t, "all calls report that the store is unavailable", func() bool {
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

// Ensure that every call reports a game whose log was lost as damaged, with the last readable
// version, and never as a game that does not exist.
func TestGameDamaged(t *testing.T) {
	t.Parallel()
	redis := redistest.StartRedis(t)
	quiet := func(c *server.Config) { c.Logger = slog.New(slog.DiscardHandler) }
	played, fresh := start(t, redis.URL(), quiet), start(t, redis.URL(), quiet)
	client := redistest.NewClient(t, redis.Addr())
	p := played.player(t)
	g := played.game(t, p, "classic")
	event := played.moves(t, p, g, 3)[2]
	require.NoError(t, client.Del(t.Context(), "game:{"+g.GetId()+"}:log").Err())

	for _, s := range []*testServer{played, fresh} {
		ctx := s.with(p.token)
		damaged := map[string]error{}
		_, damaged["GetGame"] = s.GetGame(s.anyone, &pb.GetGameRequest{GameId: g.GetId()})
		damaged["Watch"] = s.watch(t, s.anyone, &pb.WatchRequest{GameId: g.GetId()}).refused(t)
		damaged["Watch from 0"] = s.watch(t, s.anyone, from(g.GetId(), 0)).refused(t)
		_, damaged["Move"] = s.Move(ctx, slide(g.GetId(), event.GetVersion(), event.GetPosition().GetTwenty48().GetLegalMoves()[0]))
		_, damaged["Resign"] = s.Resign(ctx, &pb.ResignRequest{GameId: g.GetId()})
		for call, err := range damaged {
			t.Log(call)
			wantReason(t, err, pb.ReasonGameDamaged)
		}
	}
	assert.Zero(t, client.Exists(t.Context(), "game:{"+g.GetId()+"}:log").Val(), "nothing was written")
}

// Ensure that a server that has never seen a token accepts it, and that all servers show the same
// games, which they read from the store.
func TestOtherServer(t *testing.T) {
	t.Parallel()
	redis := redistest.StartRedis(t)
	a, b := start(t, redis.URL()), start(t, redis.URL())
	p := a.player(t)
	g := a.game(t, p, "classic")
	elsewhere := player{p.Player, p.token, b.with(p.token)}
	watching := b.watch(t, b.anyone, from(g.GetId(), 0))
	watching.event(t)
	version, at := g.GetVersion(), g.GetPosition()
	for i := range 7 {
		s, who := a, p
		if i%2 == 1 {
			s, who = b, elsewhere
		}
		event := s.move(t, who, g.GetId(), version, at)
		for _, repeat := range []struct {
			s   *testServer
			ctx context.Context
		}{{a, p.ctx}, {b, elsewhere.ctx}} {
			again, err := repeat.s.Move(repeat.ctx, slide(g.GetId(), version, event.GetMoved().GetDirection()))
			require.NoError(t, err)
			assert.True(t, proto.Equal(event, again.GetEvent()))
		}
		version, at = event.GetVersion(), event.GetPosition()
		assert.Equal(t, version, watching.event(t).GetVersion())
		assert.Equal(t, version, a.get(t, g.GetId()).GetVersion(), "an acknowledged move is visible everywhere immediately")
		assert.Equal(t, version, b.get(t, g.GetId()).GetVersion())
		assert.Equal(t, version, a.watch(t, a.anyone, &pb.WatchRequest{GameId: g.GetId()}).game(t).GetVersion())
		assert.Equal(t, version, b.watch(t, b.anyone, &pb.WatchRequest{GameId: g.GetId()}).game(t).GetVersion())
	}
	resigned := a.resign(t, p, g.GetId())
	assert.True(t, proto.Equal(resigned, b.resign(t, elsewhere, g.GetId())))
	assert.True(t, proto.Equal(resigned, watching.event(t)))
	watching.end(t)

	again := &pb.CreateGameRequest{Variant: "twos", RequestId: newID()}
	assert.True(t, proto.Equal(a.create(t, p, again), b.create(t, elsewhere, again)))
	name := &pb.CreatePlayerRequest{Name: "The same", Secret: newID()}
	assert.True(t, proto.Equal(a.account(t, name).Player, b.account(t, name).Player))
}
