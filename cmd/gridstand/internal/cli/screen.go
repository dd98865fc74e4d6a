package cli

import (
	"cmp"
	"context"
	"io"
	"strings"

	"github.com/gridstand/gridstand/client"
	"github.com/gridstand/gridstand/cmd/gridstand/internal/tui/app"
	"github.com/gridstand/gridstand/cmd/gridstand/internal/tui/ui"
)

// show runs the terminal program, beginning with one page, until the user leaves.
// local is the server in this program, the zero value if there is none.
func (p *program) show(ctx context.Context, c *client.Client, start ui.Route, local localServer) error {
	env := ui.Env{
		Server: ui.NewServer(c), Clock: p.clock, Me: c.PlayerID(), Local: local.pages,
		Command: func(words ...string) string { return commandFor(cmp.Or(local.others, named(c)), words...) },
	}
	env.Theme.Still = p.flags.noAnimation
	config := app.Config{
		Env: env, Start: start, SuggestedName: cmp.Or(p.flags.name, loginName(p)),
		LogIn: func(ctx context.Context, name string) (string, error) {
			cred, _, err := client.LogIn(ctx, c, p.store, client.OneName(name))
			return cred.PlayerID, err
		},
	}
	terminal := app.Terminal{In: p.keyboard(), Out: p.out, Width: p.width(), Height: 24, Env: p.env, Plain: p.plain()}
	if p.over != nil {
		p.over.show(&config, &terminal)
	}
	return app.Run(ctx, app.New(ctx, config), terminal)
}

// keyboard returns where keys come from: nil, for the terminal itself, if the standard
// input is not a terminal.
func (p *program) keyboard() io.Reader {
	if p.terminal(p.in) {
		return p.in
	}
	return nil
}

// restore makes the client act for the stored account if there is one, or for a new one
// if --name gives a name. Otherwise the terminal program asks for a name when it is
// needed.
func (p *program) restore(ctx context.Context, c *client.Client) error {
	if p.over != nil {
		return nil // The key is the account.
	}
	_, found, err := p.store.Load(c.Target())
	switch {
	case err != nil:
		return err
	case found || p.flags.name != "":
		return p.logIn(ctx, c)
	default:
		p.warnExposed(c)
		return nil
	}
}

// typed returns a command in the form in which the user types it, empty if the user has
// no such command.
func (p *program) typed(words ...string) string {
	if p.over != nil {
		return p.over.typed(words...)
	}
	return commandFor("", words...)
}

// commandFor is a command of this program that names a server, unless that is empty.
func commandFor(server string, words ...string) string {
	if server != "" {
		words = append(words, "--server", server)
	}
	return name + " " + strings.Join(words, " ")
}

// named returns the server as the commands on screens name it, without the default
// port; empty for the default server.
func named(c *client.Client) string {
	short := strings.TrimSuffix(c.Target(), ":2048")
	switch normal, err := client.NormalTarget(short); {
	case c.Target() == client.DefaultTarget:
		return ""
	case err != nil || normal != c.Target():
		return c.Target()
	default:
		return short
	}
}

// noticeShared warns that others can connect, and says how.
func (p *program) noticeShared(local localServer) {
	p.notef("Warning: everyone who can reach %s can connect. Nothing is encrypted: others on the network can read tokens.", local.others)
	p.notef("Others watch with: %s", commandFor(local.others, "watch"))
	p.notef("Others play with:  %s", commandFor(local.others, "play"))
	p.notef("In a browser:      %s/", local.site())
}
