package play

import (
	"slices"

	"charm.land/bubbles/v2/key"

	"github.com/gridstand/gridstand/cmd/gridstand/internal/tui/contest"
	"github.com/gridstand/gridstand/cmd/gridstand/internal/tui/ui"
)

// keys holds the page's key bindings: those shared by all kinds of games, and those of the
// mode.
type keys struct {
	ui.Common
	New, Undo, Restart, Rules, Copy key.Binding
	// Keys for use after the end of the game.
	Replay, Share, Close, Beat, Standings key.Binding
	// Solvers has a key for each of the mode's solvers. Faster and Slower change the solver's
	// pace.
	Solvers        []key.Binding
	Faster, Slower key.Binding

	short, full []key.Binding // keys of the mode
}

func newKeys(env *ui.Env) *keys {
	return &keys{
		Common:    ui.NewCommon(),
		New:       ui.Bind("n", "new game", "n", "S"),
		Undo:      ui.Bind("u", "undo", "u"),
		Restart:   ui.Bind("R", "restart", "R"),
		Rules:     ui.Bind("r", "rules", "r"),
		Copy:      env.CopyKey(),
		Replay:    ui.Bind("w", "watch replay", "w"),
		Share:     ui.Bind("c", "copy result", "c"),
		Beat:      ui.Bind("b", "challenge others to beat it", "b"),
		Standings: ui.Bind("s", "standings", "s"),
		Close:     ui.Bind("esc", "close result", "esc"),
		Faster:    ui.Bind("+", "solver faster", "+", "="),
		Slower:    ui.Bind("-", "solver slower", "-"),
	}
}

func (k *keys) setMode(m Mode) {
	k.short, k.full = m.Keys()
	for i, name := range m.Solvers() {
		k.Solvers = append(k.Solvers, ui.Bind("XYZB"[i:i+1], name+" plays", "XYZB"[i:i+1]))
	}
}

// allowKeys enables or disables the keys that do not apply to every game: those for undoing
// moves, rematches, standings and copying.
func (p *page) allowKeys() {
	k := p.keys
	for _, b := range []*key.Binding{&k.Undo, &k.Restart} {
		b.SetEnabled(p.alone() && p.contest == nil)
	}
	k.Beat.SetEnabled(p.beatable())
	k.Standings.SetEnabled(p.contest != nil)
	if p.contest != nil {
		k.Share.SetKeys("y", "c")
		k.Copy.SetEnabled(false)
	}
}

// playing returns the keys of a game in progress. wide is set if the footer has room for
// the solvers.
func (k *keys) playing(c *contest.Contest, wide bool) ui.KeyMap {
	again, last := ui.Bind("n", "new"), k.New
	if c != nil {
		again = ui.Bind("n", "give up")
		last = again
	}
	short := slices.Clone(k.short)
	if wide && len(k.Solvers) > 0 {
		short = append(short, ui.Bind("X Y Z B", "solvers"))
	}
	groups := [][]key.Binding{k.full, {k.Undo, k.Restart, last, k.Rules, k.Copy, k.Back}}
	if len(k.Solvers) > 0 {
		groups = append(groups, append(slices.Clone(k.Solvers), k.Faster, k.Slower))
	}
	return ui.KeyMap{Short: append(short, k.Undo, again, k.Rules, k.Help, k.Back), Full: groups}
}

// result returns the keys after the end of a game. closed is set if the result is not
// shown.
func (k *keys) result(c *contest.Contest, closed bool) ui.KeyMap {
	esc, share, again := "close", ui.Bind("c", "copy"), ui.Bind("n", "new")
	if closed {
		esc = "result"
	}
	beat := ui.Bind("b", "beat me")
	beat.SetEnabled(k.Beat.Enabled())
	full := []key.Binding{k.New, k.Replay, k.Share, k.Copy, k.Beat, k.Standings, k.Close, k.Rules, k.Back}
	if c != nil {
		share, again = ui.Bind("y", "copy"), ui.Bind("n", "race again")
		again.SetEnabled(c.Race())
		full[0], full[2] = again, ui.Bind("y", "copy result")
	}
	return ui.KeyMap{
		Short: []key.Binding{k.Copy, k.Rules, ui.Bind("w", "replay"), beat, k.Standings, share, again, ui.Bind("esc", esc), k.Help, k.Back},
		Full:  [][]key.Binding{full},
	}
}
