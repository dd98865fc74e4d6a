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

// react shows a reaction to the game, at most one a second.
func (p *page) react(r pb.Reaction) tea.Cmd {
	env, id := p.env, p.game.id
	switch {
	case env.WatchOnly != "":
		return p.Refuse(env.WatchOnly)
	case p.reacting || env.Now.Sub(p.reacted) < time.Second:
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
