package contract

import (
	"math"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
	"google.golang.org/protobuf/proto"

	redistest "github.com/gridstand/gridstand/internal/testkit/redis"
	pb "github.com/gridstand/gridstand/proto/gridstand/v1"
	"github.com/gridstand/gridstand/server"
)

// Ensure that seats are taken one after the other, as the contract specifies.
func TestJoinGame(t *testing.T) {
	t.Parallel()
	each(t, func(t *testing.T, s *testServer) {
		host, a, b, c := s.player(t), s.player(t), s.player(t), s.player(t)
		g := s.table(t, host, openSeat, callerSeat, openSeat)
		id := g.GetId()
		watching := s.watch(t, s.anyone, from(id, 0))
		require.NotNil(t, watching.event(t).GetCreated())

		t.Run("joining one's own seat changes nothing", func(t *testing.T) {
			assert.EqualValues(t, 1, s.join(t, host, id).GetVersion())
			assert.EqualValues(t, 1, s.join(t, host, id, 1).GetVersion())
		})
		t.Run("a seat that is taken or does not exist is refused", func(t *testing.T) {
			_, err := s.joins(a, id, 1)
			wantReason(t, err, pb.ReasonSeatTaken)
			for _, seat := range []int32{3, 99, math.MaxInt32, -1, math.MinInt32} {
				_, err := s.joins(a, id, seat)
				wantField(t, err, "seat")
			}
		})
		t.Run("a chosen seat is taken once", func(t *testing.T) {
			got := s.join(t, a, id, 2)
			assert.EqualValues(t, 2, got.GetVersion())
			assert.Equal(t, []string{"", host.GetId(), a.GetId()}, sits(got))
			assert.Equal(t, waiting, got.GetStatus())
			joined := watching.event(t)
			assert.EqualValues(t, 2, joined.GetSeat())
			assert.Equal(t, a.GetName(), joined.GetJoined().GetSeat().GetPlayer().GetName())
			assert.EqualValues(t, 2, s.join(t, a, id).GetVersion(), "joining again changes nothing")
		})
		t.Run("no move is possible while a seat is open", func(t *testing.T) {
			for _, call := range []func() error{
				func() error { _, err := s.Move(host.ctx, cell(id, 2, 0, 0)); return err },
				func() error { _, err := s.Move(a.ctx, cell(id, 2, 0, 0)); return err },
				func() error { _, err := s.Undo(host.ctx, &pb.UndoRequest{GameId: id, Version: 2}); return err },
				func() error {
					_, err := s.Undo(a.ctx, &pb.UndoRequest{GameId: id, Version: 2, ToVersion: proto.Int32(1)})
					return err
				},
				func() error { _, err := s.Resign(a.ctx, &pb.ResignRequest{GameId: id}); return err },
			} {
				wantReason(t, call(), pb.ReasonGameNotStarted)
			}
			_, err := s.Move(host.ctx, cell(id, 1, 0, 0))
			wantConflict(t, err, 2)
			_, err = s.Move(b.ctx, cell(id, 2, 0, 0))
			wantReason(t, err, pb.ReasonNotSeated)
		})
		t.Run("the last seat starts the game", func(t *testing.T) {
			got := s.join(t, b, id)
			assert.Equal(t, []string{b.GetId(), host.GetId(), a.GetId()}, sits(got))
			assert.Equal(t, active, got.GetStatus())
			assert.False(t, got.GetRanked(), "a game of three humans is not ranked")
			assert.EqualValues(t, 3, got.GetVersion())
			assert.True(t, proto.Equal(got.GetPosition(), watching.event(t).GetPosition()))
			assert.Equal(t, g.GetPosition().GetTribolo().GetCells(), got.GetPosition().GetTribolo().GetCells())
		})
		t.Run("a full game refuses further players", func(t *testing.T) {
			for _, seat := range [][]int32{nil, {0}, {1}, {2}} {
				_, err := s.joins(c, id, seat...)
				wantReason(t, err, pb.ReasonSeatTaken)
			}
			assert.EqualValues(t, 3, s.join(t, b, id, 0).GetVersion())
		})
		t.Run("a game that is over refuses players without a seat", func(t *testing.T) {
			for _, p := range []player{a, b} {
				s.resign(t, p, id)
			}
			over := s.get(t, id)
			require.Equal(t, finished, over.GetStatus())
			_, err := s.joins(c, id)
			wantReason(t, err, pb.ReasonGameOver)
			_, err = s.joins(a, id, 0)
			wantReason(t, err, pb.ReasonGameOver)
			assert.Equal(t, over.GetVersion(), s.join(t, host, id).GetVersion(), "one's own seat before the end")
			assert.Equal(t, over.GetVersion(), s.join(t, a, id, 2).GetVersion())
		})
	})
}

// Ensure that a game no longer counts for the leaderboard once a second seat has a human
// player, even the same one, or a program joins.
func TestJoinGame_Ranked(t *testing.T) {
	t.Parallel()
	each(t, func(t *testing.T, s *testServer) {
		host, guest := s.player(t), s.player(t)
		robot := s.account(t, &pb.CreatePlayerRequest{Name: "A program", Bot: true})
		g := s.table(t, host, callerSeat, openSeat, openSeat)
		assert.True(t, g.GetRanked())
		assert.False(t, s.join(t, guest, g.GetId()).GetRanked())
		again := s.join(t, guest, g.GetId(), 2)
		assert.Equal(t, []string{host.GetId(), guest.GetId(), guest.GetId()}, sits(again))
		assert.False(t, again.GetRanked())
		assert.Equal(t, active, again.GetStatus())

		g = s.table(t, host, openSeat, openSeat, openSeat)
		assert.True(t, s.join(t, guest, g.GetId()).GetRanked())
		assert.False(t, s.join(t, robot, g.GetId()).GetRanked())
		assert.False(t, s.join(t, host, g.GetId()).GetRanked(), "a game never becomes ranked again")

		g = s.create(t, host, &pb.CreateGameRequest{Variant: "classic", Seats: []*pb.SeatRequest{openSeat}})
		joined := s.join(t, guest, g.GetId())
		assert.Equal(t, active, joined.GetStatus())
		assert.True(t, joined.GetRanked())
		s.moves(t, guest, joined, 3)
		_, err := s.Move(host.ctx, slide(g.GetId(), 5, pb.Direction_DIRECTION_UP))
		wantReason(t, err, pb.ReasonNotSeated)
	})
}

// Ensure that only one of several players who join at the same time gets the last seat.
func TestJoinGame_AtOnce(t *testing.T) {
	t.Parallel()
	skipShort(t)
	each(t, func(t *testing.T, s *testServer) {
		host := s.player(t)
		var players []player
		for range 6 {
			players = append(players, s.player(t))
		}
		for _, seat := range [][]int32{nil, {2}} {
			g := s.table(t, host, callerSeat, botSeat("greedy"), openSeat)
			var group sync.WaitGroup
			var mu sync.Mutex
			var winners []string
			for _, p := range players {
				group.Go(func() {
					joined, err := s.joins(p, g.GetId(), seat...)
					if err != nil {
						assert.Equal(t, pb.ReasonSeatTaken, refusalOf(t, err).info.GetReason(), "%v", err)
						return
					}
					mu.Lock()
					defer mu.Unlock()
					winners = append(winners, p.GetId())
					assert.Equal(t, []string{host.GetId(), "greedy", p.GetId()}, sits(joined))
				})
			}
			group.Wait()
			require.Len(t, winners, 1)
			assert.Equal(t, winners[0], s.get(t, g.GetId()).GetSeats()[2].GetPlayer().GetId())
		}
		// One player who joins many times concurrently takes only one seat.
		g := s.table(t, host, openSeat, openSeat, openSeat)
		var group sync.WaitGroup
		for range 6 {
			group.Go(func() {
				_, err := s.joins(players[0], g.GetId())
				assert.NoError(t, err)
			})
		}
		group.Wait()
		assert.Equal(t, []string{players[0].GetId(), "", ""}, sits(s.get(t, g.GetId())))
	}, patientBots)
}

// Ensure that a game counts as open for each player with a seat, that players who were
// refused a seat keep their quota, and that the limit applies to joining.
func TestLimit_OpenGamesJoined(t *testing.T) {
	t.Parallel()
	skipShort(t)
	each(t, func(t *testing.T, s *testServer) {
		host, other, p := s.player(t), s.player(t), s.player(t)
		a, b := s.table(t, host, openSeat, callerSeat, openSeat), s.table(t, host, openSeat, callerSeat, openSeat)
		c := s.table(t, other, openSeat, callerSeat, callerSeat)
		full := s.table(t, other, callerSeat, callerSeat, callerSeat)
		s.join(t, p, a.GetId())
		for range 3 {
			_, err := s.joins(p, full.GetId())
			wantReason(t, err, pb.ReasonSeatTaken)
		}
		s.join(t, p, b.GetId())
		s.join(t, p, a.GetId(), 2) // a second seat in the same game
		_, err := s.joins(p, c.GetId())
		wantReason(t, err, pb.ReasonTooManyGames)
		_, err = s.joins(p, full.GetId())
		wantReason(t, err, pb.ReasonSeatTaken)
		_, err = s.CreateGame(p.ctx, &pb.CreateGameRequest{Variant: "classic"})
		wantReason(t, err, pb.ReasonTooManyGames)
		s.resign(t, p, a.GetId())
		assert.Equal(t, active, s.get(t, a.GetId()).GetStatus(), "each player still has a seat")
		s.resign(t, p, a.GetId())
		require.Equal(t, finished, s.get(t, a.GetId()).GetStatus())
		s.join(t, p, c.GetId())
		_, err = s.joins(p, full.GetId())
		wantReason(t, err, pb.ReasonSeatTaken)
	}, func(c *server.Config) { c.Limits.OpenGamesPerPlayer = 2 })
}

// Ensure that a player who joins games too fast is told when to retry, and that other players are
// not affected.
func TestLimit_Joins(t *testing.T) {
	t.Parallel()
	skipShort(t)
	each(t, func(t *testing.T, s *testServer) {
		host, p, other := s.player(t), s.player(t), s.player(t)
		g := s.table(t, host, openSeat, openSeat, openSeat)
		var group sync.WaitGroup
		refused := make(chan error, 50)
		for range cap(refused) {
			group.Go(func() {
				if _, err := s.joins(p, g.GetId()); err != nil {
					refused <- err
				}
			})
		}
		group.Wait()
		close(refused)
		require.NotEmpty(t, refused)
		for err := range refused {
			assert.Equal(t, "moves_per_second", wantReason(t, err, pb.ReasonRateLimited)["limit_name"])
		}
		s.join(t, other, g.GetId())
	}, func(c *server.Config) { c.Limits.MovesPerSecond = 2 })
}

// Ensure that the server does not recount the open games each time a player at the limit tries to
// join.
func TestLimit_OpenGamesRecounted(t *testing.T) {
	t.Parallel()
	store := redistest.StartRedis(t)
	s := start(t, store.URL(), func(c *server.Config) { c.Limits.OpenGamesPerPlayer = 1 })
	client := redistest.NewClient(t, store.Addr())
	looks := func() string {
		stats, err := client.Info(t.Context(), "commandstats").Result()
		require.NoError(t, err)
		calls, _, _ := strings.Cut(strings.Split(stats+"cmdstat_zrange:calls=0,", "cmdstat_zrange:calls=")[1], ",")
		return calls
	}
	host, p := s.player(t), s.player(t)
	g := s.table(t, host, openSeat, openSeat, openSeat)
	s.game(t, p, "classic")
	began := time.Now()
	_, err := s.joins(p, g.GetId())
	wantReason(t, err, pb.ReasonTooManyGames)
	before := looks()
	for range 20 {
		_, err := s.joins(p, g.GetId())
		wantReason(t, err, pb.ReasonTooManyGames)
	}
	if time.Since(began) < 5*time.Second { // On a slow machine the server may have recounted.
		assert.Equal(t, before, looks())
	}
}
