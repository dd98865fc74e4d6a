package watch

import (
	"charm.land/bubbles/v2/key"

	"github.com/gridstand/gridstand/cmd/gridstand/internal/tui/ui"
)

// keys holds the key bindings of a page with one game.
type keys struct {
	Next, NewGame                  key.Binding
	Back, Forward, Steps           key.Binding
	Back10, Forward10, Start, End  key.Binding
	Play, Pause, Faster, Slower    key.Binding
	Live, Rules, Copy, Close, Help key.Binding
	Leave                          key.Binding
}

func newKeys(env *ui.Env) *keys {
	c := ui.NewCommon()
	return &keys{
		Next: ui.Bind("n", "next game", "n"), NewGame: ui.Bind("n", "new game", "n"),
		Back: ui.Bind("←", "move back", "left", "h"), Forward: ui.Bind("→", "move forward", "right"),
		Steps:  ui.Bind("← →", "step"),
		Back10: ui.Bind("PgUp", "10 back", "pgup"), Forward10: ui.Bind("PgDn", "10 forward", "pgdown"),
		Start: ui.Bind("Home", "first move", "home"), End: ui.Bind("End", "last move", "end"),
		Play: ui.Bind("space", "play", "space"), Pause: ui.Bind("space", "pause", "space"),
		Faster: ui.Bind("+", "faster", "+", "="), Slower: ui.Bind("-", "slower", "-"),
		Live: ui.Bind("l", "live", "l"), Rules: ui.Bind("r", "rules", "r"),
		Copy: env.CopyKey(), Close: ui.Bind("esc", "close result", "esc"),
		Help: c.Help, Leave: c.Back,
	}
}

func (p *page) Keys() ui.KeyMap {
	k := p.enable()
	short := []key.Binding{k.Rules, k.Steps, k.Faster, k.Live, k.Play, k.Pause, k.Next, k.NewGame, k.Close, k.Help, k.Leave}
	if k.Close.Enabled() {
		short = append([]key.Binding{k.Copy}, short...)
	}
	return ui.KeyMap{Short: short, Full: [][]key.Binding{
		{k.Back, k.Forward, k.Back10, k.Forward10, k.Start, k.End},
		{k.Play, k.Pause, k.Faster, k.Slower, k.Live, k.Next, k.NewGame, k.Rules, k.Copy, k.Close, k.Leave},
	}}
}

// enable enables the keys that the page handles in its current state.
func (p *page) enable() *keys {
	k, g := p.keys, p.game
	shown := g != nil && g.state.Board() != nil
	back := shown && g.lookingBack()
	tv := p.chooser != nil && p.chooser.player == ""
	k.Next.SetEnabled(tv && g != nil)
	k.NewGame.SetEnabled(tv && g == nil && p.env.Guest == "")
	for _, b := range []*key.Binding{&k.Back, &k.Steps, &k.Back10, &k.Start, &k.Copy, &k.Rules} {
		b.SetEnabled(shown)
	}
	for _, b := range []*key.Binding{&k.Forward, &k.Forward10, &k.End, &k.Faster, &k.Slower} {
		b.SetEnabled(back)
	}
	k.Play.SetEnabled(shown && !p.player.on && (back || !g.running()))
	k.Play.SetHelp("space", "play")
	if !back {
		k.Play.SetHelp("space", "replay")
	}
	k.Pause.SetEnabled(shown && (p.player.on || !back && g.running()))
	k.Live.SetEnabled(back && g.running())
	k.Close.SetEnabled(p.resultOpen())
	return k
}
