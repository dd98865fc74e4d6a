package watch

import (
	"context"
	"errors"
	"strconv"
	"time"

	tea "charm.land/bubbletea/v2"

	"github.com/gridstand/gridstand/client"
	"github.com/gridstand/gridstand/cmd/gridstand/internal/tui/ui"
	"github.com/gridstand/gridstand/internal/describe"
	pb "github.com/gridstand/gridstand/proto/gridstand/v1"
)

// Keys implements ui.Page.
func (p *page) Keys() ui.KeyTable {
	g, play, step := p.game, "play", "← →"
	shown := g != nil && g.Board() != nil
	back := shown && g.lookingBack()
	tv := p.chooser != nil && p.chooser.player == nil
	if !back {
		play, step = "replay", "←"
	}
	at, newest := int32(0), int32(0)
	if shown {
		at, newest = g.position(), g.Game.GetVersion()
	}
	to := func(version int32) func() tea.Cmd { return func() tea.Cmd { p.stop(); return p.seek(version) } }
	pace := func(speed int) func() tea.Cmd { return func() tea.Cmd { p.player.speed = speed; return nil } }
	var rematch, invite ui.Key
	if shown {
		rematch, invite = g.RematchKey(p.env), p.CopyKey(true, 8, g.Invitation(p.env))
	}
	own := shown && g.running() && !back && p.env.Seated(g.Game.Game)
	return ui.KeyTable{
		{
			ui.On("left h", "←", "move back", shown, to(at-1)).FooterAs(2, step, "step"),
			ui.On("right", "→", "move forward", back, to(at+1)),
			ui.On("pgup", "PgUp", "10 back", shown, to(at-10)),
			ui.On("pgdown", "PgDn", "10 forward", back, to(at+10)),
			ui.On("home", "Home", "first move", shown, to(1)),
			ui.On("end", "End", "last move", back, to(newest)),
		},
		{
			ui.On("enter", "enter", "continue", own, func() tea.Cmd { return ui.Open(ui.PlayOn(g.Game.Game)) }).Footer(1),
			ui.On("space", "space", play, shown && !p.player.on && (back || !g.running()), p.replayOn).Footer(1),
			ui.On("space", "space", "pause", shown && (p.player.on || !back && g.running()), p.pause).Footer(1),
			ui.On("+ =", "+", "faster", back, pace(min(p.player.speed*2, maxSpeed))).Footer(6),
			ui.On("-", "-", "slower", back, pace(max(p.player.speed/2, 1))),
			ui.On("l", "l", "live", back && g.running(), to(newest)).Footer(1),
			ui.On("n", "n", "next game", tv && g != nil, func() tea.Cmd { p.chooser.byUser = true; return p.find() }).Footer(3),
			newKey(p.env, tv && g == nil),
			rematch,
			ui.On("r", "r", "rules", shown, func() tea.Cmd { return ui.Open(ui.Route{Rules: g.Game.GetVariant()}) }).Footer(7),
			invite,
			ui.On("q esc", "q", ui.BackText, true, ui.Run(ui.Back)),
		},
		p.reactions(shown && !back && g.running() && p.env.Reactions && p.env.WatchOnly == ""),
	}
}

// newKey returns the key that starts a game if there is none to watch.
func newKey(env *ui.Env, when bool) ui.Key {
	start := ui.Run(ui.Open(ui.Route{New: &ui.NewGame{Variant: "classic"}}))
	return ui.On("n", "n", "new game", when && env.WatchOnly == "", start).Footer(3)
}

// replayOn plays on from the version on the screen, or from the start of a finished game.
func (p *page) replayOn() tea.Cmd {
	if p.game.lookingBack() {
		return p.play()
	}
	return tea.Batch(p.seek(1), p.play())
}

func (p *page) pause() tea.Cmd {
	p.stop()
	if g := p.game; !g.lookingBack() {
		g.show(g.Game.GetVersion()) // keep it on the screen
	}
	return nil
}

// reactions returns the keys for reactions. The footer has them together.
func (p *page) reactions(when bool) (all []ui.Key) {
	for i, name := range describe.Reactions {
		key := strconv.Itoa(i + 1)
		all = append(all, ui.On(key, key, "react: "+name, when, func() tea.Cmd { return p.react(pb.Reaction(i + 1)) }))
	}
	all[0] = all[0].FooterAs(6, "1–6", "react")
	return all
}

// react shows a reaction to the game, at most one a second.
func (p *page) react(r pb.Reaction) tea.Cmd {
	env, id := p.env, p.game.Game.GetId()
	if p.reacting || env.Now.Sub(p.reacted) < time.Second {
		return nil
	}
	p.reacted, p.reacting = env.Now, true
	return ui.CallSignedIn(p.Tasks, env, func(ctx context.Context, _ string) (struct{}, error) {
		return struct{}{}, env.Server.React(ctx, id, r)
	}, func(_ struct{}, err error) tea.Cmd {
		p.reacting = false
		if err != nil && !errors.Is(err, client.ErrRateLimited) && !errors.Is(err, client.ErrGameOver) {
			return p.Fail(err)
		}
		return nil
	})
}
