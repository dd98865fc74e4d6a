package contract

import (
	"slices"
	"sync"
	"testing"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
	"google.golang.org/protobuf/proto"
	"google.golang.org/protobuf/types/known/durationpb"

	pb "github.com/gridstand/gridstand/proto/gridstand/v1"
	"github.com/gridstand/gridstand/server"
)

var (
	callerSeat = &pb.SeatRequest{Occupant: &pb.SeatRequest_Caller{Caller: &pb.Caller{}}}
	openSeat   = &pb.SeatRequest{Occupant: &pb.SeatRequest_Open{Open: &pb.Open{}}}
)

func botSeat(name string) *pb.SeatRequest {
	return &pb.SeatRequest{Occupant: &pb.SeatRequest_Bot{Bot: name}}
}

// Ensure that every variant is listed and playable.
func TestListVariants(t *testing.T) {
	t.Parallel()
	each(t, func(t *testing.T, s *testServer) {
		p := s.player(t)
		listed, err := s.ListVariants(s.anyone, &pb.ListVariantsRequest{})
		require.NoError(t, err)
		sizes := map[string][2]int32{}
		for _, v := range listed.GetVariants() {
			sizes[v.GetId()] = [2]int32{v.GetRows(), v.GetColumns()}
			assert.NotEmpty(t, v.GetTitle())
			assert.NotEmpty(t, v.GetSummary())
			assert.NotEmpty(t, v.GetRules())
			assert.Contains(t, v.GetBots(), "greedy")
			g := s.game(t, p, v.GetId())
			assert.Len(t, g.GetSeats(), int(v.GetSeats()))
			for _, bot := range v.GetBots() {
				seats := slices.Repeat([]*pb.SeatRequest{botSeat(bot)}, int(v.GetSeats()))
				s.create(t, p, &pb.CreateGameRequest{Variant: v.GetId(), Seats: seats})
			}
			if v.GetId() == "tribolo" {
				assert.Equal(t, pb.Kind_KIND_TRIBOLO, v.GetKind())
				assert.EqualValues(t, 3, v.GetSeats())
				assert.Equal(t, v.GetRows(), g.GetPosition().GetTribolo().GetRows())
				assert.Equal(t, v.GetColumns(), g.GetPosition().GetTribolo().GetColumns())
				continue
			}
			assert.Equal(t, pb.Kind_KIND_TWENTY48, v.GetKind())
			assert.EqualValues(t, 1, v.GetSeats())
			assert.Equal(t, v.GetRows(), g.GetPosition().GetTwenty48().GetRows())
			assert.Equal(t, v.GetColumns(), g.GetPosition().GetTwenty48().GetColumns())
			s.moves(t, p, g, 20)
		}
		assert.Equal(t, map[string][2]int32{
			"classic": {4, 4}, "twos": {4, 4}, "restless": {4, 4}, "vt100": {4, 4},
			"3x3": {3, 3}, "5x5": {5, 5}, "6x6": {6, 6}, "tribolo": {11, 16},
		}, sizes)
		assert.Len(t, listed.GetVariants(), len(sizes), "a variant is listed twice")
		again, err := s.ListVariants(p.ctx, &pb.ListVariantsRequest{})
		require.NoError(t, err)
		assert.True(t, proto.Equal(listed, again), "the order varies")
	}, func(c *server.Config) { c.Limits.BotGamesPerPlayer, c.Limits.BotGamesPerAddress = 0, 0 })
}

// Ensure that a new game matches its request.
func TestCreateGame(t *testing.T) {
	t.Parallel()
	each(t, func(t *testing.T, s *testServer) {
		p := s.player(t)
		for _, request := range []*pb.CreateGameRequest{
			{Variant: "classic"},
			{Variant: "twos", Seats: []*pb.SeatRequest{callerSeat}},
			{Variant: "5x5", Private: true},
			{Variant: "vt100", RequestId: newID()},
		} {
			g := s.create(t, p, request)
			assert.Equal(t, request.GetVariant(), g.GetVariant())
			assert.Equal(t, request.GetPrivate(), g.GetPrivate())
			assert.Equal(t, !request.GetPrivate(), g.GetRanked())
			assert.Equal(t, pb.GameStatus_GAME_STATUS_ACTIVE, g.GetStatus())
			assert.EqualValues(t, 1, g.GetVersion())
			assert.Zero(t, g.GetWatchers())
			assert.Equal(t, g.GetCreateTime().AsTime(), g.GetUpdateTime().AsTime())
			assert.Equal(t, []int32{0}, g.GetPosition().GetScores())
			seat := g.GetSeats()[0]
			assert.Equal(t, p.GetId(), seat.GetPlayer().GetId())
			assert.Equal(t, p.GetName(), seat.GetPlayer().GetName())
			assert.False(t, seat.GetPlayer().GetBot())
			assert.False(t, seat.GetResigned())
			assert.True(t, proto.Equal(g, s.get(t, g.GetId())))
		}
		a, b := s.game(t, p, "classic"), s.game(t, p, "classic")
		assert.NotEqual(t, a.GetId(), b.GetId())
		assert.NotEqual(t, a.GetSeedCommitment(), b.GetSeedCommitment())
	})
}

// Ensure that the error for an invalid field of a new game names the field, and that no game is
// created.
func TestCreateGame_Fields(t *testing.T) {
	t.Parallel()
	each(t, func(t *testing.T, s *testServer) {
		p := s.player(t)
		tests := map[string]struct {
			request *pb.CreateGameRequest
			field   string
		}{
			"bot elsewhere": {&pb.CreateGameRequest{Seats: []*pb.SeatRequest{botSeat("minimax")}}, "seats[0].bot"},
			"unknown bot":   {&pb.CreateGameRequest{Seats: []*pb.SeatRequest{botSeat("nobody")}}, "seats[0].bot"},
			"nameless bot":  {&pb.CreateGameRequest{Seats: []*pb.SeatRequest{botSeat("")}}, "seats[0].bot"},
			"unset seat":    {&pb.CreateGameRequest{Seats: []*pb.SeatRequest{{}}}, "seats[0]"},
			"second unset":  {&pb.CreateGameRequest{Seats: []*pb.SeatRequest{callerSeat, {}}}, "seats[1]"},
			"two seats":     {&pb.CreateGameRequest{Seats: []*pb.SeatRequest{callerSeat, callerSeat}}, "seats"},
			"short limit":   {&pb.CreateGameRequest{TurnLimit: durationpb.New(5*time.Second - 1)}, "turn_limit"},
			"long limit":    {&pb.CreateGameRequest{TurnLimit: durationpb.New(7*24*time.Hour + 1)}, "turn_limit"},
			"endless limit": {&pb.CreateGameRequest{TurnLimit: &durationpb.Duration{Seconds: 1 << 60}}, "turn_limit"},
			"no turn limit": {&pb.CreateGameRequest{TurnLimit: durationpb.New(0)}, "turn_limit"},
			"negative":      {&pb.CreateGameRequest{TurnLimit: durationpb.New(-time.Hour)}, "turn_limit"},
			"no duration":   {&pb.CreateGameRequest{TurnLimit: &durationpb.Duration{Seconds: 1, Nanos: -1}}, "turn_limit"},
			"short id":      {&pb.CreateGameRequest{RequestId: newID()[1:]}, "request_id"},
			"long id":       {&pb.CreateGameRequest{RequestId: newID() + "a"}, "request_id"},
			"upper case id": {&pb.CreateGameRequest{RequestId: "A" + newID()[1:]}, "request_id"},
			"strange id":    {&pb.CreateGameRequest{RequestId: "1" + newID()[1:]}, "request_id"},
		}
		for name, test := range tests {
			test.request.Variant = "classic"
			if !sayable(test.request) {
				continue
			}
			_, err := s.CreateGame(p.ctx, test.request)
			t.Log(name)
			wantField(t, err, test.field)
		}
		listed, err := s.ListGames(p.ctx, &pb.ListGamesRequest{PlayerId: "me"})
		require.NoError(t, err)
		assert.Empty(t, listed.GetGames())
	})
}

// Ensure that repeating CreateGame with the same request_id returns the caller's own game in its
// current state, and never another player's game.
func TestCreateGame_Again(t *testing.T) {
	t.Parallel()
	skipShort(t)
	each(t, func(t *testing.T, s *testServer) {
		p, other := s.player(t), s.player(t)
		request := &pb.CreateGameRequest{Variant: "classic", RequestId: newID()}
		g := s.create(t, p, request)
		assert.True(t, proto.Equal(g, s.create(t, p, request)))

		// An equivalent request counts as the same request.
		spelled := proto.Clone(request).(*pb.CreateGameRequest)
		spelled.Seats = []*pb.SeatRequest{callerSeat}
		assert.Equal(t, g.GetId(), s.create(t, p, spelled).GetId())

		for _, content := range []*pb.CreateGameRequest{
			{Variant: "twos", RequestId: request.GetRequestId()},
			{Variant: "classic", RequestId: request.GetRequestId(), Private: true},
			{Variant: "classic", RequestId: request.GetRequestId(), TurnLimit: durationpb.New(time.Minute)},
			{Variant: "classic", RequestId: request.GetRequestId(), Seats: []*pb.SeatRequest{openSeat}},
			{Variant: "classic", RequestId: request.GetRequestId(), Seats: []*pb.SeatRequest{botSeat("greedy")}},
		} {
			_, err := s.CreateGame(p.ctx, content)
			wantField(t, err, "request_id")
		}
		assert.NotEqual(t, g.GetId(), s.create(t, other, request).GetId(), "request ids are separate for each caller")
		assert.NotEqual(t, g.GetId(), s.game(t, p, "classic").GetId())

		s.moves(t, p, g, 3)
		s.watch(t, s.anyone, &pb.WatchRequest{GameId: g.GetId()}).game(t)
		assert.True(t, proto.Equal(s.get(t, g.GetId()), s.create(t, p, request)), "in its current state")
		assert.EqualValues(t, 1, s.create(t, p, request).GetWatchers())
		s.resign(t, p, g.GetId())
		ended := s.create(t, p, request)
		assert.Equal(t, pb.GameStatus_GAME_STATUS_FINISHED, ended.GetStatus())
		assert.True(t, proto.Equal(unwatched(s.get(t, g.GetId())), unwatched(ended))) // the stream above may still be counted
	})
}

// Ensure that a CreateGame call that is sent many times concurrently creates one game, and that
// only one of several different requests with the same id succeeds.
func TestCreateGame_AtOnce(t *testing.T) {
	t.Parallel()
	skipShort(t)
	each(t, func(t *testing.T, s *testServer) {
		p := s.player(t)
		same, mixed := newID(), newID()
		var group sync.WaitGroup
		var mu sync.Mutex
		games, variants := map[string]int{}, map[string]int{}
		for i := range 12 {
			group.Go(func() {
				created, err := s.CreateGame(p.ctx, &pb.CreateGameRequest{Variant: "classic", RequestId: same})
				if assert.NoError(t, err) {
					mu.Lock()
					games[created.GetGame().GetId()]++
					mu.Unlock()
				}
			})
			group.Go(func() {
				created, err := s.CreateGame(p.ctx, &pb.CreateGameRequest{Variant: []string{"classic", "twos", "3x3"}[i%3], RequestId: mixed})
				mu.Lock()
				defer mu.Unlock()
				if err != nil {
					assert.Equal(t, []string{"request_id"}, refusalOf(t, err).fields, "%v", err)
					return
				}
				variants[created.GetGame().GetVariant()]++
			})
		}
		group.Wait()
		assert.Len(t, games, 1)
		assert.Len(t, variants, 1)
		for _, n := range variants {
			assert.Equal(t, 4, n)
		}
		listed, err := s.ListGames(p.ctx, &pb.ListGamesRequest{PlayerId: "me"})
		require.NoError(t, err)
		assert.Len(t, listed.GetGames(), 2)
	})
}
