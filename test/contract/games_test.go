package contract

import (
	"slices"
	"testing"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
	"google.golang.org/protobuf/types/known/durationpb"

	connecttest "github.com/gridstand/gridstand/internal/testkit/connect"
	waittest "github.com/gridstand/gridstand/internal/testkit/wait"
	pb "github.com/gridstand/gridstand/proto/gridstand/v1"
	"github.com/gridstand/gridstand/server"
)

// Ensure that a game can be played to its end over every protocol, that its transcript can be
// verified, and that its score counts immediately.
func TestGame(t *testing.T) {
	t.Parallel()
	s := serve(t)
	for _, protocol := range append(protocols[:len(protocols):len(protocols)], connecttest.GRPC) {
		o := s.over(t, protocol)
		p := o.player(t)
		g := o.game(t, p, "3x3")
		same(t, g, o.get(t, g.GetId()))
		var last *pb.Event
		for version, at := g.GetVersion(), g.GetPosition(); last.GetResult() == nil; version, at = last.GetVersion(), last.GetPosition() {
			last = o.move(t, p, g.GetId(), version, at)
		}
		assert.Equal(t, pb.Result_REASON_NO_MOVES, last.GetResult().GetReason())
		events := o.verified(t, g.GetId())
		same(t, last, events[len(events)-1])
		entry, err := o.rank(p, "3x3", pb.Window_WINDOW_ALL_TIME)
		require.NoError(t, err)
		assert.Equal(t, last.GetResult().GetScores()[0], entry.GetScore())
		assert.Equal(t, g.GetId(), entry.GetGameId())
	}
}

// Ensure that every variant is listed, and that a player and each of its bots can play it.
func TestListVariants(t *testing.T) {
	t.Parallel()
	s := serve(t, patientBots)
	p := s.player(t)
	listed, err := s.ListVariants(s.anyone, &pb.ListVariantsRequest{})
	require.NoError(t, err)
	sizes := map[string][3]int32{}
	for _, v := range listed.GetVariants() {
		sizes[v.GetId()] = [3]int32{v.GetRows(), v.GetColumns(), v.GetSeats()}
		assert.NotEmpty(t, v.GetTitle())
		assert.NotEmpty(t, v.GetSummary())
		assert.NotEmpty(t, v.GetRules())
		g := s.game(t, p, v.GetId())
		assert.Len(t, g.GetSeats(), int(v.GetSeats()))
		for _, bot := range v.GetBots() {
			bots := slices.Repeat([]*pb.SeatRequest{botSeat(bot)}, int(v.GetSeats()))
			s.create(t, p, &pb.CreateGameRequest{Variant: v.GetId(), Seats: bots})
		}
		if v.GetKind() == pb.Kind_KIND_TWENTY48 {
			s.moves(t, p, g, 5)
		}
		s.resign(t, p, g.GetId())
		s.verified(t, g.GetId())
	}
	assert.Equal(t, map[string][3]int32{
		"classic": {4, 4, 1}, "twos": {4, 4, 1}, "restless": {4, 4, 1}, "vt100": {4, 4, 1},
		"3x3": {3, 3, 1}, "5x5": {5, 5, 1}, "6x6": {6, 6, 1}, "tribolo": {11, 16, 3},
	}, sizes)
}

// Ensure that a new game has the requested occupants, clock and privacy, that it is ranked only if
// exactly one human plays it, and that a player who joins can change that only in one direction.
func TestCreateGame(t *testing.T) {
	t.Parallel()
	s := serve(t, patientBots)
	p, guest, robot := s.player(t), s.player(t), s.account(t, &pb.CreatePlayerRequest{Name: "A program", Bot: true})
	for _, tt := range []struct {
		who          player
		variant      string
		seats        []*pb.SeatRequest
		sit          []string
		ranked, then bool // when it is created, and once the guest has the open seat
	}{
		{p, "classic", nil, []string{p.GetId()}, true, true},
		{p, "classic", seats("open"), []string{""}, true, true},
		{p, "classic", seats("random"), []string{"random"}, false, false},
		{robot, "classic", nil, []string{robot.GetId()}, false, false},
		{p, "tribolo", nil, []string{p.GetId(), "greedy", "greedy"}, true, true},
		{p, "tribolo", seats("minimax", "caller", "original"), []string{"minimax", p.GetId(), "original"}, true, true},
		{p, "tribolo", seats("caller", "open", "open"), []string{p.GetId(), "", ""}, true, false},
		{p, "tribolo", seats("open", "open", "greedy"), []string{"", "", "greedy"}, true, true},
		{p, "tribolo", seats("caller", "caller", "open"), []string{p.GetId(), p.GetId(), ""}, false, false},
		{p, "tribolo", seats("caller", "random", "open"), []string{p.GetId(), "random", ""}, false, false},
		{robot, "tribolo", seats("open", "caller", "open"), []string{"", robot.GetId(), ""}, false, false},
	} {
		request := &pb.CreateGameRequest{Variant: tt.variant, Seats: tt.seats, TurnLimit: durationpb.New(time.Hour)}
		g := s.create(t, tt.who, request)
		assert.Equal(t, tt.variant, g.GetVariant())
		assert.Equal(t, time.Hour, g.GetTurnLimit().AsDuration())
		assert.Equal(t, tt.sit, sits(g))
		assert.Equal(t, tt.ranked, g.GetRanked(), "%v", request)
		same(t, g, s.get(t, g.GetId()))
		request.Private = true
		assert.False(t, s.create(t, tt.who, request).GetRanked(), "a private game")
		if g.GetStatus() == waiting {
			g = s.join(t, guest, g.GetId())
		}
		assert.Equal(t, tt.then, g.GetRanked(), "%v", request)
		if turn := g.GetPosition().Turn; turn != nil && g.GetSeats()[*turn].GetPlayer() != nil {
			assert.Equal(t, g.GetUpdateTime().AsTime().Add(time.Hour), g.GetPosition().GetTurnDeadline().AsTime())
		} else {
			assert.Nil(t, g.GetPosition().GetTurnDeadline(), "neither an open seat nor a bot has a clock")
		}
	}
}

// Ensure that the seats of a game for three players are taken one after the other, that a player who
// resigns cannot move, and that the last remaining one wins, which counts in profiles, but on no
// leaderboard.
func TestThreePlayers(t *testing.T) {
	t.Parallel()
	s := serve(t)
	host, a, b := s.player(t), s.player(t), s.player(t)
	id := s.table(t, host, openSeat, callerSeat, openSeat).GetId()
	for _, again := range []*pb.Game{s.join(t, host, id), s.join(t, host, id, 1)} {
		assert.EqualValues(t, 1, again.GetVersion(), "joining one's own seat changes nothing")
	}
	got := s.join(t, a, id, 2)
	assert.Equal(t, []string{"", host.GetId(), a.GetId()}, sits(got))
	assert.Equal(t, waiting, got.GetStatus())
	got = s.join(t, b, id)
	assert.Equal(t, []string{b.GetId(), host.GetId(), a.GetId()}, sits(got))
	assert.Equal(t, active, got.GetStatus())

	players := [3]player{b, host, a}
	g := s.jumps(t, players, id, 1)
	turn := g.GetPosition().GetTurn()
	quitter := (turn + 1) % 3
	e := s.resign(t, players[quitter], id)
	assert.Equal(t, quitter, e.GetSeat())
	assert.Equal(t, turn, e.GetPosition().GetTurn(), "the turn stays with the other seat")
	// A further move could be the last: one draw in 800 leaves no move within three.
	g = s.get(t, id)
	assert.True(t, g.GetSeats()[quitter].GetResigned())
	s.refuses(t, players[quitter].ctx, cell(id, g.GetVersion(), 0, 0), pb.ReasonNotYourTurn)
	end := s.resign(t, players[turn], id)
	assert.Equal(t, pb.Result_REASON_RESIGNED, end.GetResult().GetReason())
	assert.Equal(t, []int32{3 - turn - quitter}, end.GetResult().GetWinners(), "the last remaining seat wins regardless of its cells")
	same(t, e, s.resign(t, players[quitter], id))
	for seat, p := range players {
		s.refuses(t, s.anyone, &pb.GetRankRequest{Variant: "tribolo", PlayerId: p.GetId()}, pb.ReasonNoScore)
		won := map[bool]int32{true: 1}[slices.Contains(end.GetResult().GetWinners(), int32(seat))]
		records := s.profile(t, p).GetVariants()
		require.Len(t, records, 1)
		same(t, &pb.VariantRecord{Variant: "tribolo", Games: 1, Wins: won}, records[0])
	}
	s.verified(t, id)
}

// Ensure that the creator of a waiting game can cancel it, with or without a seat, and that a repeat
// returns the same event.
func TestResign_CallsOff(t *testing.T) {
	t.Parallel()
	s := serve(t)
	host := s.player(t)
	for _, seat := range seats("caller", "open") {
		id := s.table(t, host, seat, openSeat, openSeat).GetId()
		s.join(t, s.player(t), id, 1)
		off := s.resign(t, host, id)
		require.NotNil(t, off.GetAbandoned())
		assert.Equal(t, pb.Result_REASON_ABANDONED, off.GetResult().GetReason())
		assert.Empty(t, off.GetResult().GetWinners())
		same(t, off, s.resign(t, host, id))
		s.refuses(t, s.player(t).ctx, &pb.JoinGameRequest{GameId: id}, pb.ReasonGameOver)
	}
}

// Ensure that a stand-in plays for a player whose clock ran out until the player takes the seat back
// and gets a full turn, and that the game ends when the clock of the last human runs out. A game of
// one player then counts.
func TestClock(t *testing.T) {
	t.Parallel()
	const limit = time.Second // shorter than an outage, for which the server would extend the clock
	s, clock := startAt(t, 12, func(c *server.Config) { c.MinTurnLimit, c.BotPace = limit, time.Hour })
	clock.Stop()
	p := s.player(t)
	s.refuses(t, p.ctx, &pb.CreateGameRequest{Variant: "classic", TurnLimit: durationpb.New(limit - 1)}, "turn_limit")
	solo := s.create(t, p, &pb.CreateGameRequest{Variant: "classic", TurnLimit: durationpb.New(limit)})
	clock.Pass(limit - time.Millisecond)
	last := s.moves(t, p, solo, 8)[7]
	assert.Equal(t, last.GetTime().AsTime().Add(limit), last.GetPosition().GetTurnDeadline().AsTime())
	players := [3]player{p, s.player(t), s.player(t)}
	id := s.create(t, p, &pb.CreateGameRequest{
		Variant: "tribolo", TurnLimit: durationpb.New(limit), Seats: seats("caller", "open", "open"),
	}).GetId()
	s.join(t, players[1], id)
	turn := s.join(t, players[2], id).GetPosition().GetTurn()
	watching := s.watch(t, s.anyone, from(id, 3))
	clock.Pass(limit)
	out := watching.event(t)
	require.NotNil(t, out.GetTimedOut())
	assert.Equal(t, turn, out.GetSeat())
	assert.Equal(t, "greedy", s.get(t, id).GetSeats()[turn].GetStandIn())
	s.refuses(t, players[turn].ctx, cell(id, out.GetVersion(), 0, 0), pb.ReasonNotYourTurn)
	s.refuses(t, players[(turn+1)%3].ctx, &pb.JoinGameRequest{GameId: id, Seat: &turn}, pb.ReasonSeatTaken)
	back := s.join(t, players[turn], id)
	assert.Empty(t, back.GetSeats()[turn].GetStandIn())
	assert.Equal(t, back.GetUpdateTime().AsTime().Add(limit), back.GetPosition().GetTurnDeadline().AsTime())
	moved := s.jump(t, players[turn], id, back.GetVersion(), back.GetPosition())
	assert.Equal(t, moved.GetTime().AsTime().Add(limit), moved.GetPosition().GetTurnDeadline().AsTime())

	waittest.Until(t, "the game of one player is over", func() bool { return s.get(t, solo.GetId()).GetStatus() == finished })
	over := s.get(t, solo.GetId())
	assert.Equal(t, pb.Result_REASON_TIMED_OUT, over.GetResult().GetReason())
	assert.Equal(t, last.GetPosition().GetScores(), over.GetResult().GetScores())
	waittest.Until(t, "its score counts", func() bool {
		entry, err := s.rank(p, "classic", 0)
		return err == nil && entry.GetGameId() == solo.GetId()
	})
}

// Ensure that the server ends a game whose player stops moving, and one that no player joins, and
// that the score of the first counts.
func TestAbandoned(t *testing.T) {
	t.Parallel()
	s, clock := startAt(t, 12, func(c *server.Config) { c.AbandonAfter = time.Hour })
	p, host := s.player(t), s.player(t)
	g := s.game(t, p, "twos")
	last := s.moves(t, p, g, 8)[7]
	hall := s.table(t, host, openSeat, callerSeat, openSeat)
	watching := s.watch(t, host.ctx, from(hall.GetId(), 1))
	clock.Pass(25 * time.Hour)
	end := watching.event(t)
	watching.end(t)
	assert.Equal(t, pb.Result_REASON_ABANDONED, end.GetResult().GetReason())
	assert.Empty(t, end.GetResult().GetWinners())
	waittest.Until(t, "the score counts", func() bool {
		entry, err := s.rank(p, "twos", 0)
		return err == nil && entry.GetScore() == last.GetPosition().GetScores()[0]
	})
	over := s.get(t, g.GetId())
	assert.Equal(t, pb.Result_REASON_ABANDONED, over.GetResult().GetReason())
	assert.False(t, over.GetSeats()[0].GetResigned())
	s.refuses(t, p.ctx, slide(g.GetId(), over.GetVersion(), pb.Direction_DIRECTION_UP), pb.ReasonGameOver)
}
