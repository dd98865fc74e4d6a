package replay

import (
	"testing"

	"github.com/stretchr/testify/assert"
)

// Ensure a game is ranked when humans play it in public, in one seat or more.
func TestCountsAtFirst(t *testing.T) {
	t.Parallel()
	human, other := Seat{Player: Player{ID: "h"}}, Seat{Player: Player{ID: "i"}}
	program, bot, open := Seat{Player: Player{ID: "p", Bot: true}}, Seat{Bot: "greedy"}, Seat{}
	for _, tt := range []struct {
		name    string
		private bool
		seats   []Seat
		want    bool
	}{
		{"one human", false, []Seat{human}, true},
		{"humans", false, []Seat{human, other, bot}, true},
		{"a human in two seats", false, []Seat{human, other, human}, false},
		{"against chance", false, []Seat{human, {Bot: "random"}, bot}, false},
		{"a human and bots", false, []Seat{human, bot, bot}, true},
		{"whoever comes", false, []Seat{open}, true},
		{"whoever comes and bots", false, []Seat{bot, open, bot}, true},
		{"bots", false, []Seat{bot, bot}, false},
		{"a program's account", false, []Seat{program}, false},
		{"a program's account among humans", false, []Seat{human, program, open}, false},
		{"in private", true, []Seat{human}, false},
	} {
		t.Run(tt.name, func(t *testing.T) {
			t.Parallel()
			assert.Equal(t, tt.want, countsAtFirst(Created{Private: tt.private, Seats: tt.seats}))
		})
	}
}
