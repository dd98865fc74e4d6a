package play

import (
	"context"
	"fmt"
	"time"

	tea "charm.land/bubbletea/v2"

	"github.com/gridstand/gridstand/client"
	"github.com/gridstand/gridstand/cmd/gridstand/internal/solver"
	"github.com/gridstand/gridstand/cmd/gridstand/internal/tui/ui"
	pb "github.com/gridstand/gridstand/proto/gridstand/v1"
)

// Paces of a solver: the pause after each of its moves.
const (
	firstPace = 250 * time.Millisecond
	minPace   = 15 * time.Millisecond
	maxPace   = 4 * time.Second
	thinkTime = 200 * time.Millisecond // of a search
)

// solving is a solver that plays in place of the player.
type solving struct {
	solver *solver.Solver
	pace   time.Duration // the pause after a move
}

// solveMsg asks for the next move of a solver.
type solveMsg struct{ by *solving }

// newSolving makes the solver of a name for a game.
func newSolving(g *pb.Game, name string) (*solving, error) {
	s, err := solver.New(g.GetVariant(), g.GetRulesRevision(), name, thinkTime)
	if err != nil {
		return nil, err
	}
	return &solving{solver: s, pace: firstPace}, nil
}

// setPace makes the solver faster or slower and reports whether the key asked for that.
func (s *solving) setPace(msg tea.KeyPressMsg, k *keys) bool {
	switch {
	case ui.Pressed(msg, k.Faster):
		s.pace = max(s.pace/2, minPace)
	case ui.Pressed(msg, k.Slower):
		s.pace = min(s.pace*2, maxPace)
	default:
		return false
	}
	return true
}

// move chooses a move and makes it.
func (s *solving) move(ctx context.Context, server ui.Server, g *pb.Game, version int32, p *pb.Position) (*pb.Event, error) {
	m, err := s.solver.Choose(ctx, p, nil)
	if err != nil {
		return nil, err
	}
	return server.Move(ctx, g, version, client.Slide(pb.Direction(m.Direction)), true)
}

// String says who plays, and how fast.
func (s *solving) String() string {
	return fmt.Sprintf("%s plays, so the game is unranked. %.1f moves a second.",
		s.solver.Name(), float64(time.Second)/float64(s.pace))
}
