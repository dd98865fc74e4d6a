package cli

import (
	"context"
	"errors"
	"log/slog"
	"strings"
	"time"

	"golang.org/x/crypto/ssh"

	"github.com/gridstand/gridstand/client"
	"github.com/gridstand/gridstand/cmd/gridstand/internal/sshhost"
	"github.com/gridstand/gridstand/cmd/gridstand/internal/tui/app"
	"github.com/gridstand/gridstand/internal/names"
	"github.com/gridstand/gridstand/internal/usage"
)

// remote is the state of an ssh-host session.
type remote struct {
	session *sshhost.Session
	// refusal is the reason why the session cannot play, or nil if it can.
	refusal error
	// command is the start of the commands that reach the host, such as "ssh -t play.example".
	command string
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
	case s.Key == nil:
		over.refusal = errGuest
	default:
		as.Credential, as.Key = credential, ssh.FingerprintSHA256(s.Key)
	}
	return &program{
		out: s.Out, err: s.Err, env: s.Env, clock: p.clock,
		terminal: func(any) bool { return s.Terminal },
		width:    func() int { return s.Size.Width },
		flags:    globalFlags{server: p.server()},
		over:     over,
		client:   c.ForSession(as), // makes calls for the account of the key, if it has one
	}
}

// identifyTimeout is the timeout of the call that looks up the account of a key. Tests change it.
var identifyTimeout = 10 * time.Second

// identify looks up the account of the session's key, which may not have one yet.
func (p *program) identify(ctx context.Context, log *slog.Logger) error {
	if p.over.refusal != nil {
		return nil
	}
	ctx, cancel := context.WithTimeout(ctx, identifyTimeout)
	defer cancel()
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

// session runs the client's command and returns its exit code.
func (p *program) session(ctx context.Context, command sshhost.Command, log *slog.Logger) int {
	if err := p.identify(ctx, log); err != nil {
		p.notef("%s", p.explain(err))
		return exitFailed
	}
	err := p.sshCommand(ctx, command)
	if err != nil && !errors.Is(err, app.ErrInterrupted) {
		p.notef("%s", p.explain(err))
	}
	if err == nil {
		return exitOK
	}
	return exitCode(ctx, err)
}

// sshCommand runs the client's command.
func (p *program) sshCommand(ctx context.Context, command sshhost.Command) error {
	args := append([]string{command.Name, "--"}, command.Args...)
	switch {
	case command.Name == "":
		return p.lobby(ctx)
	case command.Name == "help":
		return p.printf("%s", sshhost.Help(p.over.command))
	case command.Name == "daily" && p.over.refusal != nil: // A guest can only see the ranking.
		args = []string{"top", dailyWord}
	case command.Name == "link" || command.Name == "account":
		var err error
		if args, err = p.accountArgs(command); err != nil {
			return err
		}
	case command.Name == "games" && len(command.Args) > 0:
		args = []string{"games", "--status=waiting"}
	case command.String() == "race --now":
		args = []string{"race", "--now"}
	case command.Name == "race" && len(command.Args) > 1:
		args = []string{"race", "--limit=" + command.Args[1], "--", command.Args[0]}
	}
	root := p.command()
	root.SetArgs(args)
	return root.ExecuteContext(ctx)
}

// accountArgs returns the arguments of a command about the client's account. A client reaches only
// these subcommands, since a host has no token.
func (p *program) accountArgs(command sshhost.Command) ([]string, error) {
	const rename, end = "rename", "end"
	switch {
	case len(command.Args) > 0 && strings.HasPrefix(command.Args[0], "@"): // Anyone can see a player's profile.
		return []string{"account", "--", strings.Join(command.Args, " ")}, nil
	case p.over.refusal != nil:
		return nil, p.over.refusal
	case command.Name == "link":
		return []string{"account", "link"}, nil
	case len(command.Args) == 0:
		return []string{"account"}, nil
	case command.Args[0] == rename && len(command.Args) > 1:
		return []string{"account", rename, "--", strings.Join(command.Args[1:], " ")}, nil
	case command.Args[0] == end && len(command.Args) == 2:
		return []string{"account", end, "--", command.Args[1]}, nil
	}
	return nil, usage.Errorf("usage: account, account @PLAYER, account rename NAME, or account end SESSION")
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
	c.Env.SignIn = func(ctx context.Context) (string, error) {
		player, err := as.Me(ctx) // Another session with the key may have created the account.
		for errors.Is(err, client.ErrKeyNotLinked) || errors.Is(err, client.ErrNameTaken) {
			player, _, err = as.CreatePlayer(ctx, names.Guest(client.NewSecret()), false)
		}
		return player.GetId(), err
	}
}

// typed returns a command as SSH clients have to type it, or "" if they cannot run it.
func (r *remote) typed(words ...string) string {
	line := strings.Join(words, " ")
	if _, err := sshhost.Parse(line); err != nil {
		return ""
	}
	return r.command + " " + line
}
