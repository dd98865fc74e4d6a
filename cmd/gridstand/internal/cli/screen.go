package cli

import (
	"cmp"
	"context"
	"io"
	"net"
	"net/url"
	"strings"

	"github.com/gridstand/gridstand/client"
	"github.com/gridstand/gridstand/cmd/gridstand/internal/tui/app"
	"github.com/gridstand/gridstand/cmd/gridstand/internal/tui/ui"
)

// show runs the terminal program, starting with the page that start names, until the user
// leaves. local is the server used by play --local, or the zero value for any other
// command.
func (p *program) show(ctx context.Context, c *client.Client, start ui.Route, local localServer) error {
	site := p.site(ctx, c)
	env := ui.Env{
		Server: ui.NewServer(c), Clock: p.clock, Me: c.PlayerID(), Local: local.pages, Site: site,
		Command:       func(words ...string) string { return commandFor(cmp.Or(local.others, p.named(c.Target())), words...) },
		Invite:        func(words ...string) string { return commandFor(cmp.Or(local.others, p.shared(c, site)), words...) },
		ChallengePage: func(id string) string { return p.dialedLink(c, id) },
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

// keyboard returns the source of key presses, or nil to use the terminal itself if standard
// input is not a terminal.
func (p *program) keyboard() io.Reader {
	if p.terminal(p.in) {
		return p.in
	}
	return nil
}

// restore logs the client in to the stored account, or to a new account if --name is set.
// Otherwise the terminal program asks for a name when it needs one.
func (p *program) restore(ctx context.Context, c *client.Client) error {
	if p.over != nil {
		return nil // The SSH key identifies the account.
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

// typed returns a command as the user has to type it, or "" if the user cannot run it. It names
// the server if this command was given one by --server or by a link.
func (p *program) typed(words ...string) string {
	if p.over != nil {
		return p.over.typed(words...)
	}
	if p.flags.server == "" {
		return commandFor("", words...)
	}
	target, _ := client.NormalTarget(p.flags.server) // "" if it is invalid and the command does not connect
	return commandFor(p.named(target), words...)
}

// commandFor returns a command of this program with --server, unless server is empty.
func commandFor(server string, words ...string) string {
	if server != "" {
		words = append(words, "--server", server)
	}
	return name + " " + strings.Join(words, " ")
}

// named returns a server that this program uses as shown in commands, with --tls if it uses
// TLS, and "" for the default server.
func (p *program) named(target string) string {
	switch {
	case target == "", target == client.DefaultTarget:
		return ""
	case p.usesTLS():
		return withoutPort(target) + " --tls"
	default:
		return withoutPort(target)
	}
}

// withoutPort returns a target without the default port.
func withoutPort(target string) string {
	short := strings.TrimSuffix(target, ":2048")
	if normal, err := client.NormalTarget(short); err != nil || normal != target {
		return target
	}
	return short
}

// shared returns the server as shown in commands that are meant for other people to run,
// with the flags that they need to connect. If the client dials a loopback address, other
// people have to use site, the public address of the server's web pages, at which the
// server also accepts this program's calls.
func (p *program) shared(c *client.Client, site string) string {
	u, err := url.Parse(site)
	switch {
	case err != nil || u.Host == "" || !onThisMachine(c.Target()):
		return p.named(c.Target())
	case u.Scheme == "https":
		return withoutPort(net.JoinHostPort(u.Hostname(), cmp.Or(u.Port(), "443"))) + " --tls"
	default:
		return withoutPort(net.JoinHostPort(u.Hostname(), cmp.Or(u.Port(), "80")))
	}
}

// noticeShared warns that others can connect, and tells the user how.
func (p *program) noticeShared(local localServer) {
	p.notef("Warning: everyone who can reach %s can connect. Connections are not encrypted: others on the network can read tokens.", local.others)
	p.notef("Others watch with: %s", commandFor(local.others, "watch"))
	p.notef("Others play with:  %s", commandFor(local.others, "play"))
	p.notef("In a browser:      %s/", local.site())
}
