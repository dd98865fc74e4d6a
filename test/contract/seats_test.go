package contract

import (
	"slices"
	"testing"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
	"google.golang.org/protobuf/proto"
	"google.golang.org/protobuf/types/known/durationpb"

	pb "github.com/gridstand/gridstand/proto/gridstand/v1"
	"github.com/gridstand/gridstand/server"
)

// table creates a game of Tribolo.
func (s *testServer) table(t testing.TB, p player, seats ...*pb.SeatRequest) *pb.Game {
	t.Helper()
	return s.create(t, p, &pb.CreateGameRequest{Variant: "tribolo", Seats: seats})
}

// join takes the given seat, or any open seat if no seat is given.
func (s *testServer) join(t testing.TB, p player, id string, seat ...int32) *pb.Game {
	t.Helper()
	g, err := s.joins(p, id, seat...)
	require.NoError(t, err)
	return g
}

func (s *testServer) joins(p player, id string, seat ...int32) (*pb.Game, error) {
	request := &pb.JoinGameRequest{GameId: id}
	if len(seat) > 0 {
		request.Seat = &seat[0]
	}
	joined, err := s.JoinGame(p.ctx, request)
	return joined.GetGame(), err
}

// sits returns the occupants of a game's seats: player ids, bot names, and "" for open seats.
func sits(g *pb.Game) []string {
	var who []string
	for _, seat := range g.GetSeats() {
		who = append(who, seat.GetPlayer().GetId()+seat.GetBot())
	}
	return who
}

// patientBots makes bots wait so that the test can move first.
func patientBots(c *server.Config) { c.BotPace = time.Hour }

// Ensure that a new game has the requested occupants, and that it is ranked only if a human plays
// it.
func TestCreateGame_Seats(t *testing.T) {
	t.Parallel()
	each(t, func(t *testing.T, s *testServer) {
		p, robot := s.player(t), s.account(t, &pb.CreatePlayerRequest{Name: "A program", Bot: true})
		for _, tt := range []struct {
			variant string
			who     player
			seats   []*pb.SeatRequest
			sit     []string
			ranked  bool
		}{
			{"tribolo", p, nil, []string{p.GetId(), "greedy", "greedy"}, true},
			{"tribolo", p, []*pb.SeatRequest{botSeat("minimax"), callerSeat, botSeat("original")}, []string{"minimax", p.GetId(), "original"}, true},
			{"tribolo", p, []*pb.SeatRequest{callerSeat, openSeat, openSeat}, []string{p.GetId(), "", ""}, true},
			{"tribolo", p, []*pb.SeatRequest{openSeat, openSeat, openSeat}, []string{"", "", ""}, true},
			{"tribolo", p, []*pb.SeatRequest{callerSeat, callerSeat, openSeat}, []string{p.GetId(), p.GetId(), ""}, false},
			{"tribolo", p, []*pb.SeatRequest{callerSeat, botSeat("random"), openSeat}, []string{p.GetId(), "random", ""}, false},
			{"tribolo", p, []*pb.SeatRequest{botSeat("greedy"), botSeat("minimax"), botSeat("greedy")}, []string{"greedy", "minimax", "greedy"}, false},
			{"tribolo", robot, []*pb.SeatRequest{openSeat, callerSeat, openSeat}, []string{"", robot.GetId(), ""}, false},
			{"tribolo", robot, []*pb.SeatRequest{openSeat, openSeat, openSeat}, []string{"", "", ""}, true},
			{"classic", p, []*pb.SeatRequest{openSeat}, []string{""}, true},
			{"classic", p, []*pb.SeatRequest{botSeat("random")}, []string{"random"}, false},
			{"classic", robot, nil, []string{robot.GetId()}, false},
		} {
			g := s.create(t, tt.who, &pb.CreateGameRequest{Variant: tt.variant, Seats: tt.seats})
			assert.Equal(t, tt.sit, sits(g))
			assert.Equal(t, tt.ranked, g.GetRanked(), "%v", tt.seats)
			assert.Equal(t, slices.Contains(tt.sit, ""), g.GetStatus() == waiting)
			assert.True(t, proto.Equal(g, s.get(t, g.GetId())))
			first := s.watch(t, s.anyone, from(g.GetId(), 0)).event(t)
			assert.True(t, proto.Equal(g.GetPosition(), first.GetPosition()))
			for i, seat := range first.GetCreated().GetSeats() {
				assert.True(t, proto.Equal(g.GetSeats()[i], seat))
			}
		}
		for name, tt := range map[string]struct {
			seats []*pb.SeatRequest
			field string
		}{
			"one":         {[]*pb.SeatRequest{callerSeat}, "seats"},
			"two":         {[]*pb.SeatRequest{callerSeat, openSeat}, "seats"},
			"four":        {[]*pb.SeatRequest{callerSeat, openSeat, openSeat, openSeat}, "seats"},
			"unset":       {[]*pb.SeatRequest{callerSeat, openSeat, {}}, "seats[2]"},
			"unknown bot": {[]*pb.SeatRequest{callerSeat, botSeat("Greedy"), openSeat}, "seats[1].bot"},
			"bot of 2048": {[]*pb.SeatRequest{botSeat("rote"), callerSeat, openSeat}, "seats[0].bot"},
		} {
			_, err := s.CreateGame(p.ctx, &pb.CreateGameRequest{Variant: "tribolo", Seats: tt.seats})
			t.Log(name)
			wantField(t, err, tt.field)
		}
	}, patientBots)
}

// Ensure that a game gets the requested turn limit, from the shortest to the longest, and that the
// clock of the seat to move is running.
func TestCreateGame_TurnLimit(t *testing.T) {
	t.Parallel()
	each(t, func(t *testing.T, s *testServer) {
		p := s.player(t)
		for _, limit := range []time.Duration{5 * time.Second, time.Minute + 1, 7 * 24 * time.Hour} {
			request := &pb.CreateGameRequest{Variant: "classic", TurnLimit: durationpb.New(limit), RequestId: newID()}
			began := time.Now()
			g := s.create(t, p, request)
			assert.Equal(t, limit, g.GetTurnLimit().AsDuration())
			assert.Equal(t, g.GetCreateTime().AsTime().Add(limit), g.GetPosition().GetTurnDeadline().AsTime())
			assert.Equal(t, g.GetId(), s.create(t, p, request).GetId())
			moved, err := s.Move(p.ctx, slide(g.GetId(), 1, g.GetPosition().GetTwenty48().GetLegalMoves()[0]))
			if err != nil { // On a slow machine, the shortest time runs out before the move.
				require.Greater(t, time.Since(began), limit, "%v", err)
			} else {
				e := moved.GetEvent()
				assert.Equal(t, e.GetTime().AsTime().Add(limit), e.GetPosition().GetTurnDeadline().AsTime())
			}
			created := s.watch(t, s.anyone, from(g.GetId(), 0)).event(t).GetCreated()
			assert.Equal(t, limit, created.GetTurnLimit().AsDuration())
		}
		open := s.create(t, p, &pb.CreateGameRequest{
			Variant: "tribolo", TurnLimit: durationpb.New(time.Minute), Seats: []*pb.SeatRequest{callerSeat, callerSeat, openSeat},
		})
		assert.Nil(t, open.GetPosition().GetTurnDeadline(), "no seat is to move yet")
		g := s.join(t, s.player(t), open.GetId())
		assert.Equal(t, g.GetUpdateTime().AsTime().Add(time.Minute), g.GetPosition().GetTurnDeadline().AsTime())
	})
}

// Ensure that a player with several seats can move for each of them in turn.
func TestHotSeat(t *testing.T) {
	t.Parallel()
	skipShort(t)
	each(t, func(t *testing.T, s *testServer) {
		p := s.player(t)
		g := s.table(t, p, callerSeat, callerSeat, callerSeat)
		watching := s.watch(t, s.anyone, from(g.GetId(), 0))
		version, at := g.GetVersion(), g.GetPosition()
		seen := map[int32]bool{}
		for at.Turn != nil {
			legal := at.GetTribolo().GetLegalMoves()
			to := legal[int(version)%len(legal)].GetCell()
			moved, err := s.Move(p.ctx, cell(g.GetId(), version, to.GetX(), to.GetY()))
			require.NoError(t, err)
			e := moved.GetEvent()
			require.Equal(t, at.GetTurn(), e.GetSeat())
			seen[e.GetSeat()] = true
			version, at = e.GetVersion(), e.GetPosition()
		}
		assert.Len(t, seen, 3)
		for watching.history.Version() < version {
			watching.event(t)
		}
		watching.end(t)
		over := s.get(t, g.GetId())
		assert.Equal(t, pb.Result_REASON_NO_MOVES, over.GetResult().GetReason())
		assert.False(t, over.GetRanked())
		_, err := s.rank(t, p, "tribolo", 0)
		wantReason(t, err, pb.ReasonNoScore)
	})
}
