package play

import (
	tea "charm.land/bubbletea/v2"

	"github.com/gridstand/gridstand/cmd/gridstand/internal/tui/ui"
)

func (p *page) Keys() ui.KeyTable {
	_, _, shown := p.place(p.env.Body())
	switch {
	case p.solving != nil:
		return p.solverKeys()
	case p.Over():
		return p.resultKeys()
	case !shown, p.held() != nil: // The user must not play without seeing the board.
		return ui.KeyTable{{p.rulesKey(), p.copyKey(), p.backKey(), ui.On("", "", "", shown, p.takeBack)}}
	default:
		return append(ui.KeyTable{p.mode.Keys(p)}, p.playKeys()...)
	}
}

func (p *page) rulesKey() ui.Key {
	return ui.On("r", "r", "rules", true, ui.Run(ui.Open(ui.Route{Rules: p.Game.GetVariant()}))).Footer(7)
}

func (p *page) copyKey() ui.Key {
	return p.CopyKey(p.Err == nil, 8, p.invite())
}

func (p *page) backKey() ui.Key { return ui.On("q", "q", ui.BackText, true, ui.Run(ui.Back)) }

// playKeys returns the keys of a game in progress, without the mode's own. The footer leaves out the
// solvers, since they make a game unranked.
func (p *page) playKeys() ui.KeyTable {
	undo, fixed := p.alone() && p.contest == nil, "Moves of a game with other players cannot be undone."
	again, what := "new", "new game"
	if p.contest != nil {
		fixed, again, what = "Moves of an attempt cannot be undone.", "give up", "give up"
	}
	table := ui.KeyTable{{
		ui.On("u", "u", "undo", undo, p.wantUndo).Footer(6),
		ui.Unlisted("u", func() tea.Cmd { return p.Refuse(fixed) }), // unless it is enabled above
		ui.On("n S", "n S", what, true, p.wantNew).FooterAs(5, "n", again),
		p.rulesKey(), p.copyKey(), p.backKey(),
	}}
	if p.Twenty48() == nil || p.contest != nil { // A move by a program would disqualify an attempt.
		return table
	}
	var solvers []ui.Key
	for i, name := range []string{"greedy", "rote", "montecarlo", "expectimax"} {
		k := "XYZB"[i : i+1]
		solvers = append(solvers, ui.On(k, k, name+" plays", true, func() tea.Cmd { return p.wantSolver(name) }))
	}
	return append(table, solvers)
}

// solverKeys returns the keys while a solver plays.
func (p *page) solverKeys() ui.KeyTable {
	return ui.KeyTable{{ui.On("", "any key", "stop the solver", true, func() tea.Cmd {
		name := p.solving.Name()
		p.solving, p.queue = nil, nil
		return p.Say(name + " has stopped.")
	}).Footer(1)}}
}

// resultKeys returns the keys after the end of a game.
func (p *page) resultKeys() ui.KeyTable {
	c := p.contest
	again := ui.On("n S", "n S", "new game", true, p.create).FooterAs(1, "n", "new")
	others := "ranking"
	if c != nil {
		again = ui.On("n S", "n S", "race again", c.Race(), func() tea.Cmd {
			return ui.Replace(p.Tasks, ui.Route{NewChallenge: c.Again()})
		}).FooterAs(1, "n", "race again")
		if c.Race() {
			others = "all boards"
		}
	}
	return ui.KeyTable{{
		again,
		ui.On("w", "w", "watch replay", true, func() tea.Cmd {
			if p.env.Now.Sub(p.ended) < endTime { // meant as the up key
				return nil
			}
			return ui.Open(ui.Route{Watch: []string{p.Game.GetId()}, Replay: true})
		}).FooterAs(5, "w", "replay"),
		ui.On("c", "c", "copy result", true, func() tea.Cmd { return p.Copy(p.share()) }).FooterAs(2, "c", "result"),
		p.copyKey(),
		p.RematchKey(p.env),
		ui.On("s", "s", others, c != nil, func() tea.Cmd { return ui.Open(ui.Route{Challenge: c.ID}) }).Footer(3),
		ui.On("e", "e", "choose a name", p.guest(), func() tea.Cmd { return p.AskName(p.env) }),
		p.rulesKey(), ui.On("q esc", "q", ui.BackText, true, ui.Run(ui.Back)),
	}}
}
