package play

import (
	"cmp"
	"slices"

	"github.com/gridstand/gridstand/client"
	"github.com/gridstand/gridstand/cmd/gridstand/internal/tui/gamestate"
	"github.com/gridstand/gridstand/cmd/gridstand/internal/tui/ui"
	pb "github.com/gridstand/gridstand/proto/gridstand/v1"
)

// seated is a game in which the user has at least one seat.
type seated struct {
	gamestate.State
	env *ui.Env
}

// seat returns the index of the user's first seat.
func (s *seated) seat() int { return max(slices.IndexFunc(s.Game.GetSeats(), s.env.Owns), 0) }

// shared reports whether the game has several seats, which take turns.
func (s *seated) shared() bool { return len(s.Game.GetSeats()) > 1 }

// mine reports whether it is the user's turn in a shared game.
func (s *seated) mine() bool {
	seat := s.Seat(s.Turn())
	return s.shared() && !s.Over() && s.env.Owns(seat) && seat.GetStandIn() == ""
}

// held returns the first of the user's seats that has a stand-in, or nil.
func (s *seated) held() *pb.Seat {
	return ui.Find(s.Game.GetSeats(), func(seat *pb.Seat) bool {
		return s.env.Owns(seat) && seat.GetStandIn() != "" && !seat.GetResigned() && !s.Over()
	})
}

// alone reports whether no other player has a seat or can take one. If so, moves can be
// undone.
func (s *seated) alone() bool {
	return !slices.ContainsFunc(s.Game.GetSeats(), func(seat *pb.Seat) bool {
		return seat.GetOpen() != nil || seat.GetPlayer() != nil && !s.env.Owns(seat)
	})
}

// nextOptions returns the options for a new game like this one. In a shared game, the user
// and the bots keep their seats, and the other seats are open.
func (s *seated) nextOptions() client.GameOptions {
	options := client.GameOptions{Private: s.Game.GetPrivate(), TurnLimit: s.Game.GetTurnLimit().AsDuration()}
	if !s.shared() {
		return options
	}
	for _, seat := range s.Game.GetSeats() {
		who := cmp.Or(seat.GetBot(), ui.SeatOpen)
		if s.env.Owns(seat) {
			who = ui.SeatMe
		}
		options.Seats = append(options.Seats, ui.SeatRequest(who))
	}
	return options
}
