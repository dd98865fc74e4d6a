package replay_test

import (
	"slices"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/gridstand/gridstand/game"
	"github.com/gridstand/gridstand/game/replay"
)

// rounds implements the rules of a simple game for several seats, which take turns scoring
// points. A move names a cell whose x is the number of points that it scores. A seat whose
// score is at least full has no move and is skipped, like one that has resigned.
type rounds struct{ full int32 }

// round is an immutable position of rounds.
type round struct {
	rules    rounds
	moves    int32
	scores   []int32
	resigned []bool
	turn     int
}

func (r rounds) Start(*game.Draws) game.Position {
	return round{rules: r, scores: make([]int32, 3), resigned: make([]bool, 3)}
}

func (r rounds) Move(p game.Position, seat int, m game.Move, _ *game.Draws) (game.Position, game.Change, error) {
	if m.Direction != 0 {
		return nil, game.Change{}, game.ErrIllegalMove
	}
	next := p.(round)
	next.moves++
	next.scores = slices.Clone(next.scores)
	next.scores[seat] += m.Cell.X
	next.turn = next.after(seat)
	return next, game.Change{Gained: m.Cell.X}, nil
}

func (r rounds) Resign(p game.Position, seat int) game.Position {
	next := p.(round)
	next.resigned = slices.Clone(next.resigned)
	next.resigned[seat] = true
	if next.turn == seat {
		next.turn = next.after(seat)
	}
	return next
}

func (r rounds) Decode([]byte) (game.Position, error) { panic("not stored") }
func (r rounds) Recordable(reason game.Reason) bool   { return reason == game.NoMoves }

func (p round) after(seat int) int {
	for i := 1; i <= len(p.scores); i++ {
		if next := (seat + i) % len(p.scores); !p.resigned[next] && p.scores[next] < p.rules.full {
			return next
		}
	}
	return game.NoSeat
}

func (p round) AppendBinary(b []byte) ([]byte, error) { return b, nil }
func (p round) MoveCount() int32                      { return p.moves }
func (p round) Scores() []int32                       { return slices.Clone(p.scores) }
func (p round) Turn() int                             { return p.turn }
func (p round) LegalMoves() []game.Move               { return []game.Move{points(1)} }

func (p round) Ended() game.Reason {
	if p.turn == game.NoSeat {
		return game.NoMoves
	}
	return game.ReasonNone
}

func (p round) Winners(r game.Reason) []int {
	var best []int
	for seat, score := range p.scores {
		switch {
		case p.resigned[seat] || r == game.Abandoned:
		case len(best) == 0 || score > p.scores[best[0]]:
			best = []int{seat}
		case score == p.scores[best[0]]:
			best = append(best, seat)
		}
	}
	return best
}

func points(n int32) game.Move { return game.To(game.Cell{X: n}) }

// table returns a running game of rounds with the given seats.
func table(t *testing.T, full int32, seats ...replay.Seat) *replay.State {
	t.Helper()
	require.Len(t, seats, 3)
	r := rounds{full}
	sd := seed(t, 1)
	return replay.State{
		ID: "g", Variant: &game.Variant{ID: "rounds", Seats: 3, Rules: r}, Version: 1, Creator: ann,
		Seats: seats, Status: replay.Active, Position: r.Start(sd.Draws(1)), Ranked: true,
		Commitment: sd.Commitment(), CreateTime: at(1), UpdateTime: at(1),
	}.WithSeed(sd)
}

var (
	annSits = replay.Seat{Player: ann}
	bobSits = replay.Seat{Player: bob}
	eveSits = replay.Seat{Player: eve}
	botSits = replay.Seat{Bot: "greedy"}
)

func score(t *testing.T, s *replay.State, n int32) *replay.State {
	t.Helper()
	return apply(t, s, s.Turn(), replay.Moved{Move: points(n), ByBot: !s.Seats[s.Turn()].Held()})
}

// Ensure that a seat that resigns is skipped, even if it resigned out of turn, and that the
// game ends when one seat is left.
func TestApply_Resignations(t *testing.T) {
	t.Parallel()
	s := table(t, 10, annSits, bobSits, eveSits)
	s = score(t, s, 5)
	s = apply(t, s, 2, replay.Resigned{})
	assert.Equal(t, replay.Active, s.Status)
	assert.Equal(t, 1, s.Turn())
	assert.Equal(t, []bool{false, false, true}, resigned(s))
	_, err := s.Apply(replay.Entry{Seat: 2, Action: replay.Resigned{}}, at(9))
	require.ErrorIs(t, err, replay.ErrInvalid, "the seat has already resigned")

	s = score(t, s, 1)
	assert.Equal(t, 0, s.Turn(), "seat 2 is skipped")
	before := s
	s = apply(t, s, 0, replay.Resigned{})
	assert.Equal(t, replay.Finished, s.Status)
	assert.Equal(t, &replay.Result{Reason: game.Resigned, Winners: []int{1}}, s.Result, "a seat that resigned does not win, whatever its score")
	assert.Equal(t, []bool{false, false, true}, resigned(before), "the previous state is unchanged")
}

func resigned(s *replay.State) []bool {
	var which []bool
	for _, seat := range s.Seats {
		which = append(which, seat.Resigned)
	}
	return which
}

// Ensure that a game ends when the last human leaves, no matter whether the other seats have
// bots or stand-ins.
func TestApply_NoHumanLeft(t *testing.T) {
	t.Parallel()
	away := replay.Seat{Player: bob, StandIn: "greedy"}
	for _, tt := range []struct {
		name  string
		seats []replay.Seat
		ends  bool
	}{
		{"bots", []replay.Seat{annSits, botSits, botSits}, true},
		{"a bot and a stand-in", []replay.Seat{annSits, away, botSits}, true},
		{"a bot and a human", []replay.Seat{annSits, bobSits, botSits}, false},
		{"the same player in another seat", []replay.Seat{annSits, annSits, botSits}, false},
	} {
		t.Run(tt.name, func(t *testing.T) {
			t.Parallel()
			s := apply(t, table(t, 10, tt.seats...), 0, replay.Resigned{})
			assert.Equal(t, tt.ends, s.Status == replay.Finished)
			if tt.ends {
				assert.Equal(t, &replay.Result{Reason: game.Resigned, Winners: []int{1, 2}}, s.Result)
			} else {
				assert.Equal(t, 1, s.Turn())
			}
		})
	}
}

// Ensure that a resignation that leaves no seat able to move ends the game as if it had been
// played out.
func TestApply_ResignationLeavesNoMove(t *testing.T) {
	t.Parallel()
	s := table(t, 3, annSits, bobSits, eveSits)
	s = score(t, s, 1)
	s = score(t, s, 3)
	s = score(t, s, 3)
	require.Equal(t, 0, s.Turn(), "the other seats have no moves")
	s = apply(t, s, 0, replay.Resigned{})
	assert.Equal(t, replay.Finished, s.Status)
	assert.Equal(t, &replay.Result{Reason: game.NoMoves, Winners: []int{1, 2}}, s.Result)
}

// Ensure that a game is unranked if a program moves in a human's own seat. Moves by bots and
// stand-ins do not matter.
func TestApply_ByBot(t *testing.T) {
	t.Parallel()
	for _, tt := range []struct {
		name   string
		seat   replay.Seat
		ranked bool
	}{
		{"a human's", annSits, false},
		{"a bot's", botSits, true},
		{"a stand-in's", replay.Seat{Player: ann, StandIn: "greedy"}, true},
	} {
		t.Run(tt.name, func(t *testing.T) {
			t.Parallel()
			s := table(t, 10, tt.seat, bobSits, eveSits)
			s = apply(t, s, 0, replay.Moved{Move: points(1), ByBot: true})
			assert.Equal(t, tt.ranked, s.Ranked)
			s = score(t, s, 1)
			assert.Equal(t, tt.ranked, s.Ranked, "Ranked does not change later")
		})
	}
}

// Ensure that in a played-out game with several seats, only the seats that a player held to the
// end score.
func TestScored_Seats(t *testing.T) {
	t.Parallel()
	s := table(t, 3, annSits, bobSits, replay.Seat{Player: eve, StandIn: "greedy", Absent: true})
	s = score(t, s, 3)
	s = score(t, s, 2)
	s = score(t, s, 3)
	gone := apply(t, s, 0, replay.Resigned{})
	for _, tt := range []struct {
		name  string
		state *replay.State
		want  []bool
	}{
		{"before the end", s, []bool{false, false, false}},
		{"played out", score(t, s, 1), []bool{true, true, false}},
		{"played out after a resignation", score(t, gone, 1), []bool{false, true, false}},
		{"resigned", apply(t, gone, 1, replay.Resigned{}), []bool{false, false, false}},
		{"abandoned", apply(t, s, game.NoSeat, replay.Abandoned{}), []bool{false, false, false}},
	} {
		t.Run(tt.name, func(t *testing.T) {
			t.Parallel()
			for seat, want := range tt.want {
				assert.Equal(t, want, tt.state.Scored(seat), "seat %d", seat)
			}
		})
	}

	full := table(t, 1, annSits, botSits, botSits)
	full = score(t, score(t, score(t, full, 1), 1), 1)
	require.Equal(t, game.NoMoves, full.Result.Reason)
	assert.True(t, full.Scored(0))
	assert.False(t, full.Scored(1), "a bot")
}

// Ensure that SeatsOf finds all seats that a player holds.
func TestSeatsOf(t *testing.T) {
	t.Parallel()
	s := table(t, 3, annSits, replay.Seat{Player: bob, StandIn: "greedy"}, annSits)
	assert.Equal(t, []int{0, 2}, s.SeatsOf("ann"))
	assert.Equal(t, []int{1}, s.SeatsOf("bob"))
	assert.Empty(t, s.SeatsOf("eve"))
	assert.Empty(t, table(t, 3, annSits, botSits, replay.Seat{}).SeatsOf(""), "bot seats and open seats have no player")
}
