package play

import (
	"slices"

	"charm.land/bubbles/v2/key"
	tea "charm.land/bubbletea/v2"

	"github.com/gridstand/gridstand/cmd/gridstand/internal/tui/ui"
)

// keys are the keys of the page that every game has.
type keys struct {
	ui.Common
	New, Undo, Restart, Rules, Copy key.Binding
	// After the end.
	Replay, Share, Close key.Binding
	// Solvers have one key each; Faster and Slower are their pace.
	Solvers        []key.Binding
	names          []string // of the solvers
	Faster, Slower key.Binding
	Yes, No        key.Binding

	short, full []key.Binding // of the mode
}

func newKeys(env *ui.Env) *keys {
	return &keys{
		Common:  ui.NewCommon(),
		New:     ui.Bind("n", "new game", "n", "S"),
		Undo:    ui.Bind("u", "undo", "u"),
		Restart: ui.Bind("R", "restart", "R"),
		Rules:   ui.Bind("r", "rules", "r"),
		Copy:    env.CopyKey(),
		Replay:  ui.Bind("w", "watch replay", "w"),
		Share:   ui.Bind("c", "copy result", "c"),
		Close:   ui.Bind("esc", "close result", "esc"),
		Faster:  ui.Bind("+", "solver faster", "+", "="),
		Slower:  ui.Bind("-", "solver slower", "-"),
		Yes:     ui.Bind("y", "yes", "y", "Y"),
		No:      ui.Bind("n", "no", "n", "N", "esc", "q"),
	}
}

// setMode takes the keys of a mode.
func (k *keys) setMode(m Mode) {
	k.short, k.full = m.Keys()
	k.names = m.Solvers()
	for i, name := range k.names {
		k.Solvers = append(k.Solvers, ui.Bind("XYZB"[i:i+1], name+" plays", "XYZB"[i:i+1]))
	}
}

// allowUndo makes the keys work that take moves back, or not.
func (k *keys) allowUndo(allowed bool) {
	k.Undo.SetEnabled(allowed)
	k.Restart.SetEnabled(allowed)
}

// solver returns the name of the solver of a key, empty for none.
func (k *keys) solver(msg tea.KeyPressMsg) string {
	for i, b := range k.Solvers {
		if ui.Pressed(msg, b) {
			return k.names[i]
		}
	}
	return ""
}

// copyGame copies what names the game to others.
func (p *Model) copyGame() (do tea.Cmd) {
	p.notice, do = p.env.Copy(p.opened.GetId())
	return do
}

// playing are the keys while the game is played; wide if the footer has room for all.
func (k *keys) playing(wide bool) ui.KeyMap {
	short := slices.Clone(k.short)
	if wide && len(k.names) > 0 {
		short = append(short, ui.Bind("X Y Z B", "solvers"))
	}
	groups := [][]key.Binding{k.full, {k.Undo, k.Restart, k.New, k.Rules, k.Copy, k.Back}}
	if len(k.Solvers) > 0 {
		groups = append(groups, append(slices.Clone(k.Solvers), k.Faster, k.Slower))
	}
	return ui.KeyMap{Short: append(short, k.Undo, ui.Bind("n", "new"), k.Rules, k.Help, k.Back), Full: groups}
}
