package describe_test

import (
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/stretchr/testify/assert"

	"github.com/gridstand/gridstand/game"
	"github.com/gridstand/gridstand/game/variants"
	"github.com/gridstand/gridstand/internal/describe"
	pb "github.com/gridstand/gridstand/proto/gridstand/v1"
)

// Ensure that a game with several seats is described with its players and winners.
func TestTribolo(t *testing.T) {
	t.Parallel()
	g := &pb.Game{
		Variant: "tribolo",
		Seats: []*pb.Seat{
			{Occupant: &pb.Seat_Player{Player: &pb.Player{Name: "ada"}}},
			{Occupant: &pb.Seat_Bot{Bot: "greedy"}},
			{Occupant: &pb.Seat_Open{Open: &pb.Open{}}},
		},
		Position: &pb.Position{MoveCount: 1, Board: &pb.Position_Tribolo{Tribolo: &pb.TriboloBoard{}}},
	}
	assert.Equal(t, "Tribolo", describe.Variant(g))
	assert.Equal(t, "ada, greedy, open", describe.Players(g, describe.Seat))
	assert.Equal(t, "1 move", describe.Standing(g))
	assert.Empty(t, describe.Winners(g, describe.Seat), "the game is not over")
	for want, winners := range map[string][]int32{
		"No winner": nil, "red greedy wins": {1}, "blue ada and red greedy share the win": {0, 1},
		"blue ada and ? and ? share the win": {0, 7, -1},
	} {
		g.Result = &pb.Result{Winners: winners}
		assert.Equal(t, want, describe.Winners(g, describe.Seat))
	}
	g.Result.Winners = []int32{0, 2}
	assert.Equal(t, "blue and green share the win", describe.Winners(g, func(*pb.Seat) string { return "" }))
}

// Ensure that players and watchers of a game see that it is won, or why it is over.
func TestOutcome(t *testing.T) {
	t.Parallel()
	one := []*pb.Seat{{Occupant: &pb.Seat_Player{Player: &pb.Player{Name: "ada"}}}}
	three := append(slices.Clone(one), &pb.Seat{Occupant: &pb.Seat_Bot{Bot: "greedy"}}, &pb.Seat{Occupant: &pb.Seat_Bot{Bot: "minimax"}})
	const goal, stuck, resigned = pb.Result_REASON_GOAL_REACHED, pb.Result_REASON_NO_MOVES, pb.Result_REASON_RESIGNED
	for _, c := range []struct {
		want    string
		seats   []*pb.Seat
		seat    int
		reason  pb.Result_Reason
		winners []int32
	}{
		{"You win: 2048 reached", one, 0, goal, []int32{0}},
		{"You win: 2048 reached", one, -1, goal, []int32{0}},
		{"Game over: no moves left", one, 0, stuck, nil},
		{"Game over: resigned", one, -1, resigned, nil},
		{"You win: others resigned", three, 0, resigned, []int32{0}},
		{"Game over: red greedy wins, others resigned", three, 0, resigned, []int32{1}},
		{"You win: no moves left", three, 0, stuck, []int32{0}},
		{"You win: blue ada and green minimax share the win, no moves left", three, 0, stuck, []int32{0, 2}},
		{"Game over: red greedy wins, no moves left", three, 0, stuck, []int32{1}},
		{"Game over: abandoned", three, 1, pb.Result_REASON_ABANDONED, nil},
		{"Game over: blue ada wins, no moves left", three, -1, stuck, []int32{0}},
	} {
		title, reason, won := describe.Outcome(&pb.Game{Seats: c.seats, Result: &pb.Result{Reason: c.reason, Winners: c.winners}}, c.seat, describe.Seat)
		assert.Equal(t, c.want, title+": "+reason)
		assert.Equal(t, title == "You win", won)
	}
}

// Ensure that verify, which has no Result of the contract, says how a game ended in the same words.
func TestEnding(t *testing.T) {
	t.Parallel()
	for _, reason := range []game.Reason{game.NoMoves, game.Resigned, game.TimedOut, game.Abandoned} {
		g := &pb.Game{Result: &pb.Result{Reason: pb.Result_Reason(reason)}}
		assert.Equal(t, strings.ToLower(describe.Ending(g)), reason.String())
	}
}

// Ensure that the time until an event is rounded up to units that people read.
func TestUntil(t *testing.T) {
	t.Parallel()
	for d, want := range map[time.Duration]string{
		0: "0 s", 100 * time.Millisecond: "1 s", time.Minute: "1 min", 61 * time.Second: "2 min",
		59*time.Minute + 30*time.Second: "1 h", time.Hour: "1 h", 2*time.Hour + 22*time.Minute + time.Second: "2 h 23 min",
		12 * time.Hour: "12 h", 48*time.Hour - time.Second: "2 days", 6*24*time.Hour + time.Second: "7 days",
	} {
		assert.Equal(t, want, describe.Until(d), d)
	}
}

// Ensure that every bot that can sit in a game is explained.
func TestBot(t *testing.T) {
	t.Parallel()
	for _, v := range variants.All() {
		for _, bot := range v.Bots {
			assert.Regexp(t, "^"+bot+": .{8}", describe.Bot(bot))
		}
	}
	assert.Equal(t, "newer", describe.Bot("newer"))
}
