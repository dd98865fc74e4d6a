package cli

import (
	"cmp"
	"context"
	"slices"
	"strings"

	"github.com/gridstand/gridstand/client"
	"github.com/gridstand/gridstand/cmd/gridstand/internal/tui/app"
	"github.com/gridstand/gridstand/cmd/gridstand/internal/tui/ui"
)

// show runs the terminal program, starting with the page that start names, until the user
// leaves. If the server does not answer, it returns the error rather than show an empty page.
func (p *program) show(ctx context.Context, c *client.Client, start ui.Route) error {
	info, err := p.info(ctx, c)
	if err != nil {
		return err
	}
	env := ui.Env{
		Server: ui.NewServer(c), Clock: c.Now, Me: c.PlayerID(), Local: p.local.started, Others: p.local.count,
		Site: cmp.Or(info.GetWebUrl(), p.dialedSite(c)), Command: p.typed,
		Reactions: info.GetReactions(),
		// Others need the link, which names the server.
		Invite: func(words ...string) string { return commandFor(nil, words[0], "LINK") },
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
	if s := p.flags.server; s != "" && (s != client.DefaultTarget || p.getenv(serverVariable) != "") {
		flags = []string{"--server", shellWord(s)}
	}
	switch {
	case p.flags.ca != "": // which implies --tls
		flags = append(flags, "--ca", shellWord(p.flags.ca))
	case p.flags.tls:
		flags = append(flags, "--tls")
	}
	if words[0] == "play" && p.local.started {
		flags = append(flags, "--local")
		if p.local.others != "" {
			flags = append(flags, "--share")
		}
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

// noticeShared warns that others can connect, and tells the user how. On the screen, the game's panel has the link.
func (p *program) noticeShared() {
	others := p.local.others
	p.warnf("Warning: everyone who can reach %s can connect. Connections are not encrypted: others on the network can read tokens.", others)
	flags := []string{"--server", others}
	p.notef("Others watch at http://%s/ or with %s, and play with %s.", others, commandFor(flags, "watch"), commandFor(flags, "play"))
}
