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

func (s *solving) move(ctx context.Context, server ui.Server, g *pb.Game, version int32, p *pb.Position) (*pb.Event, error) {
	m, err := s.solver.Choose(ctx, p, nil)
	if err != nil {
		return nil, err
	}
	return server.Move(ctx, g, version, client.Slide(pb.Direction(m.Direction)), true)
}

// String describes the solver and its pace for the status line.
func (s *solving) String() string {
	return fmt.Sprintf("%s plays, so the game is unranked. %.1f moves per second.",
		s.solver.Name(), float64(time.Second)/float64(s.pace))
}

// wantSolver lets a solver play. It asks for confirmation if the game is ranked and has
// points.
func (p *page) wantSolver(name string) tea.Cmd {
	solve := func() tea.Cmd {
		s, err := solver.New(p.opened.GetVariant(), p.opened.GetRulesRevision(), name, thinkTime)
		if err != nil {
			p.problem = err.Error()
			return nil
		}
		p.solving, p.queue = &solving{solver: s, pace: firstPace}, nil
		return p.solveOn(p.solving)
	}
	if !p.Game.GetRanked() || p.Score() == 0 {
		return solve()
	}
	p.question = askUnranked("Let "+name+" play?", "let it play", solve)
	return nil
}

// solveOn makes the next move of a solver, unless it was stopped.
func (p *page) solveOn(by *solving) tea.Cmd {
	if by != p.solving || p.Over() {
		return nil
	}
	p.queue = append(p.queue, &request{solver: by})
	return p.send()
}

// after schedules the solver's next move if the solver made the last one.
func (p *page) after(r *request) tea.Cmd {
	if r.solver == nil || r.solver != p.solving {
		return nil
	}
	return p.tasks.Later(r.solver.pace, func() tea.Cmd { return p.solveOn(r.solver) })
}
