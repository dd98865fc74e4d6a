package tui

import (
	"context"
	"errors"
	"fmt"
	"time"

	"charm.land/bubbles/v2/key"
	tea "charm.land/bubbletea/v2"

	"github.com/gridstand/gridstand/client"
	"github.com/gridstand/gridstand/cmd/gridstand/internal/solver"
	pb "github.com/gridstand/gridstand/proto/gridstand/v1"
)

// Paces of a solver: the pause after each of its moves.
const (
	firstPace = 250 * time.Millisecond
	minPace   = 15 * time.Millisecond // next to none
	maxPace   = 4 * time.Second
	thinkTime = 200 * time.Millisecond // of a search
)

// solving is a solver that plays in the place of the player.
type solving struct {
	solver *solver.Solver
	// pace is the pause after a move.
	pace time.Duration
	// made is set once a move of it took effect.
	made bool
}

// solvedMsg brings a move of a solver; solveMsg asks for the next. Both name
// whose it is: one that was stopped is not heard any more.
type (
	solvedMsg struct {
		by    *solving
		event *pb.Event
		game  *pb.Game
		err   error
	}
	solveMsg struct{ by *solving }
)

// solverKey returns the solver that a key means.
func (k *playKeys) solverKey(msg tea.KeyPressMsg) (string, bool) {
	for _, s := range []struct {
		key  key.Binding
		name string
	}{{k.Greedy, "greedy"}, {k.Rote, "rote"}, {k.MonteCarlo, "montecarlo"}, {k.Expectimax, "expectimax"}} {
		if pressed(msg, s.key) {
			return s.name, true
		}
	}
	return "", false
}

// wantSolver lets a solver take over. A game that counts no longer does then, so
// that is asked first, once there is something to lose.
func (p *Play) wantSolver(name string) tea.Cmd {
	if !p.over() && !p.starting && p.game.GetRanked() && p.score() > 0 {
		p.question, p.wanted = askSolver, name
		return nil
	}
	return p.solve(name)
}

// solve lets a solver take over.
func (p *Play) solve(name string) tea.Cmd {
	if p.over() || p.starting {
		return nil
	}
	s, err := solver.New(p.opened.GetVariant(), p.opened.GetRulesRevision(), name, thinkTime)
	if err != nil {
		p.notice = "! " + err.Error()
		return nil
	}
	p.queue, p.solving = nil, &solving{solver: s, pace: firstPace}
	return p.solveOn()
}

// solverTake handles a key while a solver plays: it makes it faster or slower,
// and any other one stops it.
func (p *Play) solverTake(msg tea.KeyPressMsg) {
	switch {
	case pressed(msg, p.keys.Faster):
		p.solving.pace = max(p.solving.pace/2, minPace)
	case pressed(msg, p.keys.Slower):
		p.solving.pace = min(p.solving.pace*2, maxPace)
	default:
		p.notice = p.solving.solver.Name() + " has stopped."
		p.solving = nil
	}
}

// solveOn makes the next move of the solver, once the player's own is made.
func (p *Play) solveOn() tea.Cmd {
	by := p.solving
	if by == nil || p.over() {
		p.solving = nil
		return nil
	}
	if p.moving != none || p.undoing != nil {
		return p.tasks.after(by.pace, solveMsg{by})
	}
	game, version, position := p.opened, p.game.GetVersion(), p.game.GetPosition()
	return p.tasks.do(func(ctx context.Context) tea.Msg {
		m, err := by.solver.Choose(ctx, position, nil)
		if err != nil {
			return solvedMsg{by: by, err: err}
		}
		e, err := p.server.Slide(ctx, game, version, pb.Direction(m.Direction), true)
		if errors.Is(err, client.ErrVersionConflict) || errors.Is(err, client.ErrGameOver) {
			g, err := p.server.Game(ctx, game.GetId())
			return solvedMsg{by: by, game: g, err: err}
		}
		return solvedMsg{by: by, event: e, err: err}
	})
}

// solved takes in a move of a solver, also of one that was stopped meanwhile.
func (p *Play) solved(msg solvedMsg) tea.Cmd {
	var changed bool
	switch {
	case msg.err != nil:
		if p.solving == msg.by {
			p.solving = nil
			p.fail(msg.err)
		}
		return nil
	case msg.game != nil:
		changed = msg.game.GetId() == p.opened.GetId() && p.replace(msg.game)
	default:
		msg.by.made = true
		changed = msg.event.GetGameId() == p.opened.GetId() && p.apply(msg.event)
	}
	if p.solving != msg.by {
		return p.changed(changed)
	}
	if p.over() {
		p.solving = nil
		return p.changed(changed)
	}
	return tea.Batch(p.changed(changed), p.tasks.after(msg.by.pace, solveMsg{msg.by}))
}

// solverState says who plays, while it is a solver.
func (p *Play) solverState() string {
	pace := float64(time.Second) / float64(p.solving.pace)
	return fmt.Sprintf("%s plays, so the game is unranked. %.1f moves a second.", p.solving.solver.Name(), pace)
}
