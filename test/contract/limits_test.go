package contract

import (
	"context"
	"math"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
	"google.golang.org/grpc/codes"
	"google.golang.org/grpc/status"
	"google.golang.org/protobuf/proto"
	"google.golang.org/protobuf/reflect/protoreflect"

	pb "github.com/gridstand/gridstand/proto/gridstand/v1"
	"github.com/gridstand/gridstand/server"
	"github.com/gridstand/gridstand/server/limits"
)

// Ensure that a player who makes moves too fast is told when to retry, and that other players are
// not affected.
func TestLimit_Moves(t *testing.T) {
	t.Parallel()
	if testing.Short() {
		t.Skip("too slow for -short")
	}
	each(t, func(t *testing.T, s *testServer) {
		p, other := s.player(t), s.player(t)
		g := s.game(t, p, "classic")
		theirs := s.game(t, other, "classic")
		first := slide(g.GetId(), 1, g.GetPosition().GetTwenty48().GetLegalMoves()[0])
		var group sync.WaitGroup
		refused := make(chan error, 100)
		for range cap(refused) { // A repeated move has no effect, but still counts as a call.
			group.Go(func() {
				if _, err := s.Move(p.ctx, first); err != nil {
					refused <- err
				}
			})
		}
		group.Wait()
		close(refused)
		require.NotEmpty(t, refused)
		for err := range refused {
			assert.Equal(t, "2", wantReason(t, err, pb.ReasonRateLimited)["limit"])
			assert.LessOrEqual(t, refusalOf(t, err).retry.GetRetryDelay().AsDuration(), time.Second)
		}
		s.move(t, other, theirs.GetId(), 1, theirs.GetPosition())
		for range 20 {
			s.get(t, g.GetId()) // Reading is not limited.
		}
		eventually(t, "the player may move again", func() bool {
			_, err := s.Move(p.ctx, first)
			return err == nil
		})
	}, func(c *server.Config) { c.Limits.MovesPerSecond = 2 })
}

// Ensure that a game with the maximum number of events accepts no moves and undos but a resignation,
// and that a game that only bots play then ends.
func TestLimit_Events(t *testing.T) {
	t.Parallel()
	each(t, func(t *testing.T, s *testServer) {
		p := s.player(t)
		g := s.game(t, p, "classic")
		made := s.moves(t, p, g, 3)
		tooLong := func(err error) {
			t.Helper()
			assert.Equal(t, map[string]string{"limit": "4", "limit_name": "events_per_game"}, wantReason(t, err, pb.ReasonGameTooLong))
			wantMessage(t, err, "the game has 4 events, the most on this server; resign to end it")
		}
		_, err := s.Move(p.ctx, cell(g.GetId(), 4, 0, 0)) // not legal either
		tooLong(err)
		_, err = s.Undo(p.ctx, &pb.UndoRequest{GameId: g.GetId(), Version: 4})
		tooLong(err)
		_, err = s.Move(p.ctx, cell(g.GetId(), 3, 0, 0))
		wantConflict(t, err, 4)
		again, err := s.Move(p.ctx, slide(g.GetId(), 3, made[2].GetMoved().GetDirection()))
		require.NoError(t, err)
		assert.True(t, proto.Equal(made[2], again.GetEvent()))
		s.resign(t, p, g.GetId())

		created, err := s.CreateGame(p.ctx, &pb.CreateGameRequest{
			Variant: "classic", Seats: []*pb.SeatRequest{botSeat("greedy")}, RequestId: newID(),
		})
		require.NoError(t, err)
		eventually(t, "the game between bots ends", func() bool {
			g := s.get(t, created.GetGame().GetId())
			return g.GetVersion() == 5 && g.GetResult().GetReason() == pb.Result_REASON_ABANDONED
		})
	}, func(c *server.Config) { c.Limits.EventsPerGame, c.BotPace = 4, time.Millisecond })
}

// Ensure that an account cannot have more running games between bots than allowed, that a repeated
// request returns its game, and that a finished game makes room for another.
func TestLimit_BotGames(t *testing.T) {
	t.Parallel()
	skipShort(t)
	each(t, func(t *testing.T, s *testServer) {
		p, other := s.player(t), s.player(t)
		bots := func(variant string, seats ...*pb.SeatRequest) *pb.CreateGameRequest {
			return &pb.CreateGameRequest{Variant: variant, Seats: seats, RequestId: newID()}
		}
		full := func(p player, name, limit string) {
			t.Helper()
			_, err := s.CreateGame(p.ctx, bots("classic", botSeat("greedy")))
			told := wantReason(t, err, pb.ReasonRateLimited)
			assert.Equal(t, name, told["limit_name"])
			assert.Equal(t, limit, told["limit"])
			assert.LessOrEqual(t, refusalOf(t, err).retry.GetRetryDelay().AsDuration(), 2*time.Hour)
		}
		first := bots("6x6", botSeat("greedy"))
		a := s.create(t, p, first)
		assert.False(t, a.GetRanked())
		s.create(t, p, bots("6x6", botSeat("rote")))
		full(p, "bot_games_per_player", "2")
		assert.Equal(t, a.GetId(), s.create(t, p, first).GetId(), "the same request")
		s.game(t, p, "classic") // Games with a human player do not count toward the limit.
		s.create(t, p, bots("tribolo", callerSeat, botSeat("greedy"), botSeat("greedy")))
		s.create(t, p, bots("tribolo", openSeat, botSeat("greedy"), botSeat("greedy")))
		s.create(t, other, bots("6x6", botSeat("greedy")))
		full(other, "bot_games_per_address", "3")
		full(p, "bot_games_per_player", "2")
	}, func(c *server.Config) {
		// Keep every game running until the last call.
		c.PauseAfter, c.BotPace = time.Hour, time.Hour
		c.Limits.BotGamesPerPlayer, c.Limits.BotGamesPerAddress, c.Limits.BotGamesPerStore = 2, 3, 4
	})
}

// Ensure that a finished game between bots makes room for another.
func TestLimit_BotGames_Over(t *testing.T) {
	if testing.Short() {
		t.Skip("waits for bots to end their games")
	}
	t.Parallel()
	each(t, func(t *testing.T, s *testServer) {
		p := s.player(t)
		for range 3 {
			var g *pb.Game
			eventually(t, "the previous game has made room", func() bool {
				created, err := s.CreateGame(p.ctx, &pb.CreateGameRequest{
					Variant: "tribolo", Seats: []*pb.SeatRequest{botSeat("random"), botSeat("greedy"), botSeat("random")},
				})
				g = created.GetGame()
				return err == nil
			})
			watching := s.watch(t, s.anyone, &pb.WatchRequest{GameId: g.GetId(), AfterVersion: proto.Int32(0), EveryEvent: true})
			for watching.event(t).GetResult() == nil {
				continue
			}
		}
	}, func(c *server.Config) {
		c.BotPace, c.PauseAfter, c.Limits.BotGamesPerPlayer = 0, time.Hour, 1
	})
}

// Ensure that an account cannot have more open games than allowed, and that a game stops counting
// no matter how it ends.
func TestLimit_OpenGames(t *testing.T) {
	t.Parallel()
	each(t, func(t *testing.T, s *testServer) {
		p := s.player(t)
		full := func() {
			t.Helper()
			_, err := s.CreateGame(p.ctx, &pb.CreateGameRequest{Variant: "classic"})
			require.Equal(t, "2", wantReason(t, err, pb.ReasonTooManyGames)["limit"])
		}
		// Refused requests do not count.
		for range 3 {
			_, err := s.CreateGame(p.ctx, &pb.CreateGameRequest{Variant: "chess"})
			require.Error(t, err)
			_, err = s.CreateGame(p.ctx, &pb.CreateGameRequest{Variant: "classic", RequestId: "?"})
			require.Error(t, err)
		}
		first := &pb.CreateGameRequest{Variant: "classic", RequestId: newID()}
		a := s.create(t, p, first)
		b := s.create(t, p, &pb.CreateGameRequest{Variant: "3x3", Private: true})
		full()
		full()
		assert.Equal(t, a.GetId(), s.create(t, p, first).GetId(), "a repeated request needs no place")
		s.game(t, s.player(t), "classic") // Other players' games do not count.

		s.resign(t, p, a.GetId())
		assert.Equal(t, a.GetId(), s.create(t, p, first).GetId(), "a repeated request takes no place")
		a = s.game(t, p, "classic")
		full()
		require.NotNil(t, s.moves(t, p, b, math.MaxInt32), "the game must end")
		require.Equal(t, finished, s.get(t, b.GetId()).GetStatus())
		s.game(t, p, "classic")
		full()
		s.resign(t, p, a.GetId())
		s.resign(t, p, a.GetId()) // Resigning again does not lower the number of open games again.
		s.game(t, p, "classic")
		full()
	}, func(c *server.Config) { c.Limits.OpenGamesPerPlayer = 2 })
}

// Ensure that the limit on open games applies to concurrent calls, whether they are repeats
// or not.
func TestLimit_OpenGamesAtOnce(t *testing.T) {
	t.Parallel()
	skipShort(t)
	each(t, func(t *testing.T, s *testServer) {
		p := s.player(t)
		again := newID()
		var group sync.WaitGroup
		var made atomic.Int32
		for i := range 16 {
			group.Go(func() {
				request := &pb.CreateGameRequest{Variant: "classic"}
				if i%2 == 0 {
					request.RequestId = again
				}
				_, err := s.CreateGame(p.ctx, request)
				if err == nil && i%2 != 0 {
					made.Add(1)
				}
				if err != nil {
					assert.Equal(t, pb.ReasonTooManyGames, refusalOf(t, err).info.GetReason(), "%v", err)
				}
			})
		}
		group.Wait()
		games := s.list(t, p, &pb.ListGamesRequest{PlayerId: "me"})
		assert.Len(t, games, 3)
		assert.Contains(t, []int32{2, 3}, made.Load())
	}, func(c *server.Config) { c.Limits.OpenGamesPerPlayer = 3 })
}

// Ensure that a game cannot have more spectators than allowed, not counting its own players,
// and that a spectator who leaves makes room for another.
func TestLimit_Watchers(t *testing.T) {
	t.Parallel()
	if testing.Short() {
		t.Skip("too slow for -short")
	}
	each(t, func(t *testing.T, s *testServer) {
		p := s.player(t)
		g := s.game(t, p, "classic")
		request := &pb.WatchRequest{GameId: g.GetId()}
		first := s.watch(t, s.anyone, request)
		first.game(t)
		s.watch(t, s.player(t).ctx, request).game(t)
		for _, refused := range []*pb.WatchRequest{request, from(g.GetId(), 0), from(g.GetId(), 1)} {
			err := s.watch(t, s.anyone, refused).refused(t)
			assert.Equal(t, "2", wantReason(t, err, pb.ReasonRateLimited)["limit"])
		}
		for range 3 {
			s.watch(t, p.ctx, request).game(t)
		}
		assert.EqualValues(t, 2, s.get(t, g.GetId()).GetWatchers())
		other := s.game(t, p, "classic")
		s.watch(t, s.anyone, &pb.WatchRequest{GameId: other.GetId()}).game(t)

		first.leave()
		eventually(t, "one spectator has left", func() bool { return s.get(t, g.GetId()).GetWatchers() == 1 })
		preview := s.watch(t, s.anyone, &pb.WatchRequest{GameId: g.GetId(), Preview: true})
		preview.game(t)
		for _, refused := range []*pb.WatchRequest{request, {GameId: g.GetId(), Preview: true}} {
			wantReason(t, s.watch(t, s.anyone, refused).refused(t), pb.ReasonRateLimited)
		}
		preview.leave()
		eventually(t, "the preview has left", func() bool {
			_, err := s.watch(t, s.anyone, request).receive(t)
			return err == nil
		})
	}, func(c *server.Config) { c.Limits.WatchersPerGame = 2 })
}

// Ensure that the limit on spectators applies to concurrent calls.
func TestLimit_WatchersAtOnce(t *testing.T) {
	t.Parallel()
	skipShort(t)
	each(t, func(t *testing.T, s *testServer) {
		for range 5 {
			g := s.game(t, s.player(t), "classic")
			var group sync.WaitGroup
			var watching atomic.Int32
			for range 16 {
				w := s.watch(t, s.anyone, &pb.WatchRequest{GameId: g.GetId()})
				group.Go(func() {
					_, err := w.receive(t)
					if err == nil {
						watching.Add(1)
					} else {
						assert.Equal(t, pb.ReasonRateLimited, refusalOf(t, err).info.GetReason(), "%v", err)
					}
				})
			}
			group.Wait()
			assert.LessOrEqual(t, watching.Load(), int32(3))
			eventually(t, "refused streams are not counted", func() bool { return s.get(t, g.GetId()).GetWatchers() == watching.Load() })
		}
	}, func(c *server.Config) { c.Limits.WatchersPerGame = 3 })
}

// Ensure that a connection cannot have more concurrent streams than allowed: further calls
// wait.
func TestLimit_Streams(t *testing.T) {
	if testing.Short() {
		t.Skip("too slow for -short")
	}
	grpcOnly(t, "an HTTP/1.1 connection has one call at a time")
	t.Parallel()
	s := start(t, server.Memory, func(c *server.Config) { c.Limits.StreamsPerConnection = 2 })
	p := s.player(t)
	g := s.game(t, p, "classic")
	request := &pb.WatchRequest{GameId: g.GetId()}
	first := s.watch(t, s.anyone, request)
	first.game(t)
	s.watch(t, p.ctx, request).game(t)
	ctx, cancel := context.WithTimeout(s.anyone, 50*time.Millisecond)
	defer cancel()
	_, err := s.GetGame(ctx, &pb.GetGameRequest{GameId: g.GetId()})
	assert.Equal(t, codes.DeadlineExceeded, status.Code(err), "%v", err)
	first.leave()
	s.get(t, g.GetId())
}

// Ensure that a server reports its configured limits and the address of its pages.
func TestGetServerInfo(t *testing.T) {
	t.Parallel()
	given := func(row int) int {
		if limits.Table[row].Field == "held_bytes_per_address" {
			return math.MaxInt32 // This test's responses might exceed a smaller limit.
		}
		return []int{4096 + row, 0, math.MaxInt32}[row%3]
	}
	each(t, func(t *testing.T, s *testServer) {
		info, err := s.GetServerInfo(s.anyone, &pb.GetServerInfoRequest{})
		require.NoError(t, err)
		assert.Equal(t, "gridstand", info.GetName())
		assert.NotEmpty(t, info.GetVersion())
		told := info.GetLimits().ProtoReflect()
		assert.Equal(t, 20*time.Millisecond, info.GetLimits().GetMinTurnLimit().AsDuration())
		assert.Equal(t, len(limits.Table)+1, told.Descriptor().Fields().Len(), "every limit has a row, except min_turn_limit")
		for i, limit := range limits.Table {
			field := told.Descriptor().Fields().ByName(protoreflect.Name(limit.Field))
			assert.EqualValues(t, given(i), told.Get(field).Int(), limit.Field)
		}
		storage := pb.Storage_STORAGE_DURABLE
		if s.volatile {
			storage = pb.Storage_STORAGE_EMBEDDED
		}
		assert.Equal(t, storage, info.GetStorage())
		assert.Equal(t, "https://play.example:8443", info.GetWebUrl())
	}, func(c *server.Config) {
		c.MinTurnLimit = 20 * time.Millisecond
		c.PublicURL = "https://play.example:8443"
		for i, limit := range limits.Table {
			*limit.Of(&c.Limits) = given(i)
		}
	})
}

// Ensure that a limit of 0 means no limit.
func TestLimit_None(t *testing.T) {
	t.Parallel()
	skipShort(t)
	each(t, func(t *testing.T, s *testServer) {
		p := s.player(t)
		for range 5 {
			g := s.game(t, p, "classic")
			s.moves(t, p, g, 5)
			for range 3 {
				s.watch(t, s.anyone, &pb.WatchRequest{GameId: g.GetId()}).game(t)
			}
		}
	}, func(c *server.Config) {
		*c = c.Unlimited()
		c.Limits.MessageBytes = 0
	})
}

// Ensure that the server ends a game whose player stops moving, that its score counts, and that it
// no longer counts as open.
func TestAbandoned(t *testing.T) {
	t.Parallel()
	if testing.Short() {
		t.Skip("waits for seconds")
	}
	const after = 700 * time.Millisecond
	each(t, func(t *testing.T, s *testServer) {
		p := s.player(t)
		g := s.game(t, p, "twos")
		watching := s.watch(t, s.anyone, from(g.GetId(), 0))
		version, at := int32(1), g.GetPosition()
		for at.GetScores()[0] == 0 {
			moved, err := s.Move(p.ctx, slide(g.GetId(), version, at.GetTwenty48().GetLegalMoves()[0]))
			if err != nil { // The test was too slow: the game has already ended.
				wantReason(t, err, pb.ReasonGameOver)
				break
			}
			version, at = moved.GetEvent().GetVersion(), moved.GetEvent().GetPosition()
		}
		var last, end *pb.Event
		for end.GetResult() == nil {
			last, end = end, watching.event(t)
		}
		watching.end(t)
		require.NotNil(t, end.GetAbandoned())
		assert.Equal(t, pb.Result_REASON_ABANDONED, end.GetResult().GetReason())
		assert.Equal(t, version+1, end.GetVersion())
		assert.Equal(t, at.GetScores(), end.GetResult().GetScores())
		assert.GreaterOrEqual(t, end.GetTime().AsTime().Sub(last.GetTime().AsTime()), after)
		assert.True(t, end.GetRanked())

		// A player who tries to move is refused immediately. The lists and the leaderboard are
		// updated soon after.
		_, err := s.Move(p.ctx, slide(g.GetId(), end.GetVersion(), pb.Direction_DIRECTION_UP))
		wantReason(t, err, pb.ReasonGameOver)
		_, err = s.Resign(p.ctx, &pb.ResignRequest{GameId: g.GetId()})
		wantReason(t, err, pb.ReasonGameOver)
		final := s.get(t, g.GetId())
		assert.False(t, final.GetSeats()[0].GetResigned())
		assert.True(t, proto.Equal(end.GetResult(), final.GetResult()))
		eventually(t, "the game is listed as finished", func() bool {
			return len(s.list(t, p, &pb.ListGamesRequest{Status: finished, PlayerId: "me"})) == 1
		})
		eventually(t, "its score counts", func() bool {
			entry, err := s.rank(t, p, "twos", 0)
			return at.GetScores()[0] == 0 || err == nil && entry.GetGameId() == g.GetId() && entry.GetScore() == at.GetScores()[0]
		})
		eventually(t, "its place is free", func() bool {
			_, err := s.CreateGame(p.ctx, &pb.CreateGameRequest{Variant: "twos"})
			return err == nil
		})
	}, func(c *server.Config) { c.AbandonAfter, c.Limits.OpenGamesPerPlayer = after, 1 })
}
