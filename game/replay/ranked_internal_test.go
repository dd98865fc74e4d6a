package replay

import (
	"testing"

	"github.com/stretchr/testify/assert"
)

// Ensure that a game can be ranked if one human plays it, or may join, against bots other than
// random.
func TestRankable(t *testing.T) {
	t.Parallel()
	human, other := Seat{Player: Player{ID: "h"}}, Seat{Player: Player{ID: "i"}}
	program, bot, open := Seat{Player: Player{ID: "p", Bot: true}}, Seat{Bot: "greedy"}, Seat{}
	lent := Seat{Player: Player{ID: "h"}, StandIn: "greedy", Absent: true}
	for _, tt := range []struct {
		name  string
		seats []Seat
		want  bool
	}{
		{"one human", []Seat{human}, true},
		{"a human and bots", []Seat{human, bot, {Bot: "minimax"}}, true},
		{"a human with a stand-in", []Seat{lent, bot, bot}, true},
		{"two humans", []Seat{human, other, bot}, false},
		{"three humans", []Seat{human, other, {Player: Player{ID: "j"}}}, false},
		{"a human in two seats", []Seat{human, bot, human}, false},
		{"two humans, one of them resigned", []Seat{human, {Player: Player{ID: "i"}, Resigned: true}, bot}, false},
		{"with the random bot", []Seat{human, {Bot: "random"}, bot}, false},
		{"an open seat", []Seat{open}, true},
		{"open seats", []Seat{open, open, open}, true},
		{"a human and an open seat", []Seat{human, open, bot}, true},
		{"two humans and an open seat", []Seat{human, other, open}, false},
		{"bots and an open seat", []Seat{bot, open, bot}, true},
		{"bots", []Seat{bot, bot}, false},
		{"a program's account", []Seat{program}, false},
		{"a program's account and an open seat", []Seat{program, bot, open}, false},
	} {
		assert.Equal(t, tt.want, Rankable(tt.seats), tt.name)
	}
}
