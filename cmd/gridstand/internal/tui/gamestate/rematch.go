package gamestate

import (
	tea "charm.land/bubbletea/v2"

	"github.com/gridstand/gridstand/client"
	"github.com/gridstand/gridstand/cmd/gridstand/internal/tui/ui"
	pb "github.com/gridstand/gridstand/proto/gridstand/v1"
)

// RematchKey returns the key that creates a rematch of the game, so that others can try to beat its score. This
// requires a finished game of 2048 with one seat and a public seed. A second press requests the same rematch.
func (s *State) RematchKey(env *ui.Env) ui.Key {
	alone := s.Twenty48() != nil && len(s.Game.GetSeats()) == 1
	possible := s.Over() && alone && !s.Sealed() && env.WatchOnly == ""
	return ui.On("b", "b", "challenge others to beat it", possible, func() tea.Cmd {
		if s.rematch == "" {
			s.rematch = client.NewSecret()
		}
		return ui.Open(ui.Route{NewChallenge: &ui.NewChallenge{Request: &pb.CreateChallengeRequest{
			Kind: pb.ChallengeKind_CHALLENGE_KIND_REMATCH, GameId: s.Game.GetId(), RequestId: s.rematch,
		}}})
	}).FooterAs(4, "b", "challenge")
}
