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

// reactions returns the keys for reactions. The footer has them together.
func (p *page) reactions(when bool) (all []ui.Key) {
	for i, name := range describe.Reactions {
		key := strconv.Itoa(i + 1)
		all = append(all, ui.On(key, key, "react: "+name, when, func() tea.Cmd { return p.react(pb.Reaction(i + 1)) }))
	}
	all[0] = all[0].FooterAs(6, "1–6", "react")
	return all
}

// react shows a reaction to the game, at most one a second. A user without an account gets one as
// a guest.
func (p *page) react(r pb.Reaction) tea.Cmd {
	env, id, me := p.env, p.game.id, p.env.Me
	switch {
	case env.Guest != "":
		p.problem = env.Guest
		return nil
	case env.Now.Sub(p.reacted) < time.Second:
		return nil
	}
	p.reacted = env.Now
	return ui.Call(p.Tasks, func(ctx context.Context) (_ string, err error) {
		if me == "" {
			if me, err = env.SignIn(ctx); err != nil {
				return "", err
			}
		}
		return me, env.Server.React(ctx, id, r)
	}, func(me string, err error) tea.Cmd {
		if me != "" {
			env.Me = me
		}
		if err != nil && !errors.Is(err, client.ErrRateLimited) && !errors.Is(err, client.ErrGameOver) {
			p.problem = ui.Explain(err, ui.SameKey)
		}
		return nil
	})
}
