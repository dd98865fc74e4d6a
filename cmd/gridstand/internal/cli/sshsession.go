package cli

import (
	"context"
	"errors"
	"log/slog"
	"slices"
	"strings"

	"github.com/gridstand/gridstand/client"
	"github.com/gridstand/gridstand/cmd/gridstand/internal/sshhost"
	"github.com/gridstand/gridstand/cmd/gridstand/internal/tui/app"
	"github.com/gridstand/gridstand/internal/names"
)

// remote is the state of an ssh-host session.
type remote struct {
	session *sshhost.Session
	// refusal is the reason why the session cannot play, or nil if it can.
	refusal error
	// command is the start of the commands that reach the host, such as "ssh -t play.example". commands are the
	// words that may follow it.
	command  string
	commands []string
}

// Reasons why a session can only watch.
var (
	errGuest = errors.New("you are a guest and can only watch. To play, create an SSH key with " +
		"ssh-keygen -t ed25519 and connect again: the key will be your account")
	errOnlyWatching = errors.New("you can only watch on this host")
)

// overSSH returns a program that runs in a session: it writes its output to the SSH
// client, and makes its calls over the host's connection to the server. command is the start
// of the commands that it shows.
func (p *program) overSSH(s *sshhost.Session, c *client.Client, credential, command string) *program {
	over := &remote{session: s, command: command}
	as := client.Session{Address: s.Address}
	switch {
	case credential == "":
		over.refusal = errOnlyWatching
	case s.Key == "":
		over.refusal = errGuest
	default:
		as.Credential, as.Key = credential, s.Key
	}
	return &program{
		out: s.Out, err: s.Err, env: s.Env, clock: p.clock, timeout: p.timeout,
		terminal: func(any) bool { return s.Terminal },
		width:    func() int { return s.Size.Width },
		flags:    globalFlags{server: p.server()},
		over:     over,
		client:   c.ForSession(as), // makes calls for the account of the key, if it has one
	}
}

// identify looks up the account of the session's key, which may not have one yet.
func (p *program) identify(ctx context.Context, log *slog.Logger) error {
	if p.over.refusal != nil {
		return nil
	}
	_, err := p.client.Me(ctx)
	switch {
	case err == nil, errors.Is(err, client.ErrKeyNotLinked):
		return nil
	case errors.Is(err, client.ErrBadCredential):
		logHostError(log, err)
		p.client, p.over.refusal = p.client.ForSession(client.Session{Address: p.over.session.Address}), errOnlyWatching
		return nil
	case errors.Is(err, client.ErrUnreachable):
		logHostError(log, err)
	}
	return err
}

// session runs the client's command line and returns its exit code.
func (p *program) session(ctx context.Context, line string, log *slog.Logger) int {
	return p.ended(ctx, p.sshCommand(ctx, line, log), "", p.over.command+" help")
}

// show adapts the configuration of the terminal program to the session.
func (r *remote) show(c *app.Config, t *app.Terminal, as *client.Client) {
	t.Height, t.Resized, t.Keys = r.session.Size.Height, r.session.Resized, r.session.Keys
	t.Pace, t.Turn = r.session.Pace, r.session.Turn
	c.Env.Remote = true
	c.Env.Theme.Still = true // Animations would use bandwidth and the host's CPU.
	c.Env.Invite = r.typed
	if r.refusal != nil {
		text := r.refusal.Error()
		c.Env.WatchOnly = strings.ToUpper(text[:1]) + text[1:] + "."
	}
	c.Env.SignIn = func(ctx context.Context) (string, error) { return r.signIn(ctx, as) }
}

// signIn creates an account for the session's key, unless it has one, and returns the account's id.
func (r *remote) signIn(ctx context.Context, c *client.Client) (string, error) {
	if r.refusal != nil {
		return "", r.refusal
	}
	player, err := c.Me(ctx) // Another session with the key may have created the account.
	for errors.Is(err, client.ErrKeyNotLinked) || errors.Is(err, client.ErrNameTaken) {
		player, _, err = c.CreatePlayer(ctx, names.Guest(client.NewSecret()), false)
	}
	return player.GetId(), err
}

// typed returns a command as SSH clients have to type it, or "" if they have no command of that name. The
// program shows them no commands below account.
func (r *remote) typed(words ...string) string {
	if !slices.Contains(r.commands, words[0]) {
		return ""
	}
	return r.command + " " + strings.Join(words, " ")
}
