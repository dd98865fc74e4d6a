package cli

import (
	"cmp"
	"context"
	"net/url"
	"slices"
	"strings"

	"github.com/gridstand/gridstand/client"
	"github.com/gridstand/gridstand/cmd/gridstand/internal/tui/app"
	"github.com/gridstand/gridstand/cmd/gridstand/internal/tui/ui"
	"github.com/gridstand/gridstand/internal/loopback"
)

// show runs the terminal program, starting with the page that start names, until the user
// leaves. If the server does not answer, it returns the error rather than show an empty page.
func (p *program) show(ctx context.Context, c *client.Client, start ui.Route) error {
	info, err := p.info(ctx, c)
	if err != nil {
		return err
	}
	site := info.GetWebUrl()
	env := ui.Env{
		Server: ui.NewServer(c), Clock: c.Now, Me: c.PlayerID(), Others: p.local.count,
		Site: cmp.Or(site, p.dialedSite(c)), Command: p.typed,
		Reactions: info.GetReactions(),
		Invite:    func(words ...string) string { return commandFor(p.shared(c, site), words...) },
	}
	env.SignIn = func(ctx context.Context) (string, error) {
		cred, _, err := client.LogIn(ctx, c, p.store, "")
		return cred.PlayerID, err
	}
	env.Rename = func(ctx context.Context, name string) error {
		_, err := p.renamed(ctx, c, name)
		return err
	}
	env.Theme.ASCII = p.ascii()
	env.Theme.Still = p.flags.noAnimation || env.Theme.ASCII
	config := app.Config{
		Env: env, Start: start, Notice: strings.Join(p.warnings, "\n"),
	}
	terminal := app.Terminal{Out: p.out, Width: p.width(), Height: 24, Env: p.env, Plain: p.plain()}
	if p.terminal(p.in) { // else the keys come from the terminal itself
		terminal.In = p.in
	}
	if p.over != nil {
		p.over.show(&config, &terminal, c)
	}
	return app.Run(ctx, app.New(ctx, config), terminal)
}

// restore logs the client in to the stored account. Without one, the terminal program creates a guest's
// account when it needs one.
func (p *program) restore(ctx context.Context, c *client.Client) error {
	if p.over != nil {
		return nil // The SSH key identifies the account.
	}
	_, found, err := p.store.Load(c.Target())
	switch {
	case err != nil:
		return err
	case found:
		return p.logIn(ctx, c)
	default:
		p.warnExposed(c)
		return nil
	}
}

// showRestored is like show, but logs the client in first, if the user has an account.
func (p *program) showRestored(ctx context.Context, c *client.Client, start ui.Route) error {
	if err := p.restore(ctx, c); err != nil {
		return err
	}
	return p.show(ctx, c, start)
}

// typed returns a command as the user has to type it, or "" if the user cannot run it. It has
// the flags for the server and the connection that this command was given, also by a link, and to play
// starts the server that this command has started.
func (p *program) typed(words ...string) string {
	if p.over != nil {
		return p.over.typed(words...)
	}
	var flags []string
	if target, err := client.NormalTarget(p.flags.server); err == nil && p.flags.server != "" {
		flags = p.serverFlag(target)
	}
	switch {
	case p.flags.ca != "": // which implies --tls
		flags = append(flags, "--ca", shellWord(p.flags.ca))
	case p.flags.tls:
		flags = append(flags, "--tls")
	}
	switch {
	case !p.local.started:
	case words[0] == "play":
		flags = append(flags, "--local")
		if p.local.others != "" {
			flags = append(flags, "--share")
		}
	case words[0] == "verify": // The server ends before the user can type it.
		return ""
	}
	return commandFor(flags, words...)
}

// commandFor returns a command of this program with flags.
func commandFor(flags []string, words ...string) string {
	return strings.Join(slices.Concat([]string{name}, words, flags), " ")
}

// shellWord returns text as one word for a shell.
func shellWord(text string) string {
	if !strings.ContainsAny(text, " \t\n'\"`$&|;<>()[]{}*?!#") {
		return text
	}
	return "'" + strings.ReplaceAll(text, "'", `'\''`) + "'"
}

// serverFlag returns the flag that selects a server that this program uses, or nil if none is
// needed.
func (p *program) serverFlag(target string) []string {
	if other := p.getenv(serverVariable); target != client.DefaultTarget || p.flags.server != "" && other != "" {
		return []string{"--server", shellWord(withoutPort(target))}
	}
	return nil
}

// withoutPort returns a target without the default port.
func withoutPort(target string) string {
	short := strings.TrimSuffix(target, ":2048")
	if normal, err := client.NormalTarget(short); err != nil || normal != target {
		return target
	}
	return short
}

// shared returns the flags that select the server in commands that are meant for other people
// to run; not --ca, which may name a file that they do not have. If the client dials a loopback address, other
// people have to use the address of a server that --share has started or site, the public address of the server's
// web pages, at which the server also accepts this program's calls.
func (p *program) shared(c *client.Client, site string) []string {
	if p.local.others != "" {
		return []string{"--server", shellWord(p.local.others)}
	}
	flags, encrypted := p.serverFlag(c.Target()), p.usesTLS()
	if u, err := url.Parse(site); err == nil && u.Host != "" && loopback.Is(c.Target()) {
		flags, encrypted = []string{"--server", shellWord(withoutPort(hostPort(u)))}, u.Scheme == "https"
	}
	if encrypted {
		flags = append(flags, "--tls")
	}
	return flags
}

// noticeShared warns that others can connect, and tells the user how. On the screen, the game's panel has the link.
func (p *program) noticeShared() {
	others := p.local.others
	p.warnf("Warning: everyone who can reach %s can connect. Connections are not encrypted: others on the network can read tokens.", others)
	flags := []string{"--server", others}
	p.notef("Others watch at http://%s/ or with %s, and play with %s.", others, commandFor(flags, "watch"), commandFor(flags, "play"))
}
