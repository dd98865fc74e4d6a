package play

import (
	"context"
	"fmt"
	"time"

	"github.com/gridstand/gridstand/client"
	"github.com/gridstand/gridstand/cmd/gridstand/internal/solver"
	"github.com/gridstand/gridstand/cmd/gridstand/internal/tui/ui"
	pb "github.com/gridstand/gridstand/proto/gridstand/v1"
)

// Paces of a solver. A pace is the pause after each move.
const (
	firstPace = 250 * time.Millisecond
	minPace   = 15 * time.Millisecond
	maxPace   = 4 * time.Second
	thinkTime = 200 * time.Millisecond // time limit of a search
)

// solving is a solver that plays for the user.
type solving struct {
	solver *solver.Solver
	pace   time.Duration // the pause after a move
}

func (s *solving) move(ctx context.Context, server ui.Server, g client.Game) (*pb.Event, error) {
	m, err := s.solver.Choose(ctx, g.GetPosition(), nil)
	if err != nil {
		return nil, err
	}
	return server.Move(ctx, g, g.GetVersion(), client.Slide(pb.Direction(m.Direction)), true)
}

// String describes the solver and its pace for the status line.
func (s *solving) String() string {
	return fmt.Sprintf("%s plays, so the game is unranked. %.1f moves per second.",
		s.solver.Name(), float64(time.Second)/float64(s.pace))
}
