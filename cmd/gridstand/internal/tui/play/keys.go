package play

import (
	tea "charm.land/bubbletea/v2"

	"github.com/gridstand/gridstand/cmd/gridstand/internal/tui/ui"
)

func (p *page) Keys() ui.KeyMap {
	again, share, id := "n=new", "c=copy", "y"
	if p.contest != nil {
		again, share, id = "n", "y=copy", ""
	}
	switch {
	case p.solving != nil:
		return p.solverKeys().Map("+", "-", "other keys")
	case p.Over():
		closes, beat := "esc=close", ""
		if p.beatable() {
			beat = "b=beat me"
		}
		if p.closed {
			closes = "esc=result"
		}
		return p.resultKeys().Map(again, closes, share, "s", beat, "w=replay", "r", id)
	}
	footer, own := p.mode.Keys()
	solvers := ""
	if p.env.Width >= 80 && len(p.solvers()) > 0 {
		solvers = "X Y Z B=solvers"
	}
	return append(ui.KeyTable{own}, p.playKeys()...).Map(append(footer, again, "u", "r", solvers)...)
}

func (p *page) rulesKey() ui.Key {
	return ui.On("r", "r", "rules", !p.starting, ui.Run(ui.Open(ui.Route{Rules: p.Game.GetVariant()})))
}

func (p *page) copyKey() ui.Key {
	return p.env.CopyKey(p.contest == nil, func() tea.Cmd {
		say, do := p.env.Copy(p.Game.GetId())
		p.say(say)
		return do
	})
}

func (p *page) backKey() ui.Key { return ui.On("q", "q", ui.BackText, true, p.leave) }

// solvers returns the bots that can play 2048 for the user, in the order of their keys. An
// attempt has none, since a move by a program would disqualify it.
func (p *page) solvers() []string {
	if p.Twenty48() == nil || p.contest != nil {
		return nil
	}
	return []string{"greedy", "rote", "montecarlo", "expectimax"}
}

// playKeys returns the keys of a game in progress, without the mode's own.
func (p *page) playKeys() ui.KeyTable {
	undo, again := p.alone() && p.contest == nil, "new game"
	if p.contest != nil {
		again = "give up"
	}
	restart := func() tea.Cmd { return p.Ask(p.askNew()) }
	table := ui.KeyTable{{
		ui.On("u", "u", "undo", undo, p.wantUndo), ui.On("R", "R", "restart", undo, p.wantRestart),
		ui.On("n", "n", again, true, restart), ui.On("S", "S", again, true, restart),
		p.rulesKey(), p.copyKey(), p.backKey(),
	}}
	var solvers []ui.Key
	for i, name := range p.solvers() {
		k := "XYZB"[i : i+1]
		solvers = append(solvers, ui.On(k, k, name+" plays", true, func() tea.Cmd { return p.wantSolver(name) }))
	}
	if solvers != nil {
		table = append(table, append(solvers, ui.Listed("+", "solver faster"), ui.Listed("-", "solver slower")))
	}
	return table
}

// solverKeys returns the keys while a solver plays. Any other key stops it.
func (p *page) solverKeys() ui.KeyTable {
	s := p.solving
	return ui.KeyTable{{
		ui.On("+ =", "+", "solver faster", true, func() tea.Cmd { s.pace = max(s.pace/2, minPace); return nil }),
		ui.On("-", "-", "solver slower", true, func() tea.Cmd { s.pace = min(s.pace*2, maxPace); return nil }),
		ui.Listed("other keys", "stop the solver"),
	}}
}

// resultKeys returns the keys after the end of a game.
func (p *page) resultKeys() ui.KeyTable {
	c := p.contest
	result := "close result"
	if p.closed {
		result = "show result"
	}
	what, start, share := "new game", p.create, ui.On("c", "c", "copy result", true, p.copyResult)
	if c != nil {
		what, start = "race again", func() tea.Cmd { return ui.Replace(p.Tasks, ui.Route{NewChallenge: c.Again()}) }
		share = ui.On("y c", "y", "copy result", true, p.copyResult)
	}
	return ui.KeyTable{{
		ui.On("n", "n", what, c == nil || c.Race(), start), ui.On("S", "S", what, c == nil || c.Race(), start),
		ui.On("w", "w", "watch replay", true, func() tea.Cmd {
			if p.env.Now.Sub(p.ended) < endTime { // meant as the up key
				return nil
			}
			return ui.Open(ui.Route{Replay: p.Game.GetId()})
		}),
		share, p.copyKey(),
		ui.On("b", "b", "challenge others to beat it", p.beatable(), p.challenge),
		ui.On("s", "s", "standings", c != nil, func() tea.Cmd { return ui.Open(ui.Route{Challenge: c.ID}) }),
		ui.On("esc", "esc", result, true, func() tea.Cmd { p.closed = !p.closed; return nil }),
		p.rulesKey(), p.backKey(),
	}}
}

func (p *page) copyResult() tea.Cmd {
	say, do := ui.SetClipboard(p.share())
	p.say(say)
	return do
}

func (p *page) Key(msg tea.KeyPressMsg) tea.Cmd {
	p.notice = nil // the notice was about the previous key
	if p.solving != nil {
		if _, done := p.solverKeys().Press(msg); !done {
			p.say(p.solving.solver.Name() + " has stopped.")
			p.solving, p.queue = nil, nil
		}
		return nil
	}
	if cmd, done := (ui.KeyTable{{p.rulesKey(), p.copyKey(), p.backKey()}}).Press(msg); done {
		return cmd
	}
	switch {
	case p.starting:
		return nil
	case p.Over():
		cmd, _ := p.resultKeys().Press(msg)
		return cmd
	case p.held() != nil:
		return p.takeBack()
	}
	if cmd, done := p.playKeys().Press(msg); done {
		return cmd
	}
	return p.mode.Key(&p.playing, msg)
}
