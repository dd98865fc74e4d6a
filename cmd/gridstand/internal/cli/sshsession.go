package cli

import (
	"cmp"
	"context"
	"errors"
	"log/slog"
	"slices"
	"strings"
	"time"

	"golang.org/x/crypto/ssh"

	"github.com/gridstand/gridstand/client"
	"github.com/gridstand/gridstand/cmd/gridstand/internal/sshhost"
	"github.com/gridstand/gridstand/cmd/gridstand/internal/tui/app"
	"github.com/gridstand/gridstand/cmd/gridstand/internal/tui/ui"
	pb "github.com/gridstand/gridstand/proto/gridstand/v1"
)

// remote is the client of a session of ssh-host.
type remote struct {
	session *sshhost.Session
	// client acts for the account of the session's key, if it has one.
	client *client.Client
	// refusal says why the session cannot play, nil if it can.
	refusal error
}

// Reasons why a session can only watch.
var (
	errGuest = errors.New("you are a guest and can watch. To play, make an SSH key, which will be your account: " +
		"ssh-keygen -t ed25519, and connect again")
	errOnlyWatching = errors.New("on this host you can only watch")
)

// overSSH returns the program of a session: what it shows goes to the client, and its
// calls go over the host's connection to the server.
func (p *program) overSSH(s *sshhost.Session, c *client.Client, credential string) *program {
	over := &remote{session: s}
	as := client.Session{Address: s.Address}
	switch {
	case s.Key == nil:
		over.refusal = errGuest
	case credential == "":
		over.refusal = errOnlyWatching
	default:
		as.Credential, as.Key = credential, ssh.FingerprintSHA256(s.Key)
	}
	over.client = c.ForSession(as)
	return &program{
		in: s.In, out: s.Out, err: s.Err, env: s.Env, clock: p.clock,
		terminal: func(any) bool { return s.Terminal },
		width:    func() int { return s.Size.Width },
		flags:    globalFlags{server: p.server()},
		over:     over,
	}
}

// session runs what a client asked for and returns its exit code.
func (p *program) session(ctx context.Context, command sshhost.Command, log *slog.Logger) int {
	if err := p.over.identify(ctx, log); err != nil {
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

// identifyTimeout bounds the call that asks for the account of a key.
const identifyTimeout = 10 * time.Second

// identify finds the account of the session's key, which may not have one yet.
func (r *remote) identify(ctx context.Context, log *slog.Logger) error {
	if r.refusal != nil {
		return nil
	}
	ctx, cancel := context.WithTimeout(ctx, identifyTimeout)
	defer cancel()
	_, err := r.client.Me(ctx)
	switch {
	case err == nil, errors.Is(err, client.ErrKeyNotLinked):
		return nil
	case errors.Is(err, client.ErrBadCredential):
		log.Error("the server refuses the service credential; players can only watch", "error", err)
		r.client, r.refusal = r.client.ForSession(client.Session{Address: r.session.Address}), errOnlyWatching
		return nil
	default:
		return err
	}
}

// sshCommand runs what a client asked for. On a terminal, lists are the lobby's.
func (p *program) sshCommand(ctx context.Context, command sshhost.Command) error {
	if p.over.session.Terminal {
		switch what := first(command.Args); {
		case command.Name == "variants" && what != "":
			return p.rulesScreen(ctx, what)
		case what == "" && slices.Contains([]string{"games", "top", "variants"}, command.Name):
			return p.lobby(ctx)
		}
	}
	switch command.Name {
	case "help":
		return p.printf("%s", sshhost.Help())
	case "games":
		return p.games(ctx, gamesOptions{status: "live", order: "recent", limit: defaultLimit})
	case "top":
		return p.top(ctx, cmp.Or(first(command.Args), defaultVariant), pb.Window_WINDOW_ALL_TIME, false, defaultLimit)
	case "variants":
		return p.variants(ctx, first(command.Args))
	case "tv", "watch":
		return p.watchScreen(ctx, command.Args)
	case "play":
		return p.play(ctx, first(command.Args), playOptions{})
	default:
		return p.lobby(ctx)
	}
}

// rulesScreen shows the rules of a variant on the terminal.
func (p *program) rulesScreen(ctx context.Context, what string) error {
	c, hangUp, err := p.dial()
	if err != nil {
		return err
	}
	defer hangUp()
	v, err := p.variant(ctx, c, what)
	if err != nil {
		return err
	}
	return p.show(ctx, c, ui.Route{Rules: v.GetId()}, localServer{})
}

// show makes the terminal program's pages those of the session.
func (r *remote) show(c *app.Config, t *app.Terminal) {
	t.Height, t.Resized = r.session.Size.Height, r.session.Resized
	c.Env.Theme.Still = true // Moves in between would cost bandwidth and the host's processor.
	c.Env.Command = r.typed
	if r.refusal != nil {
		text := r.refusal.Error()
		c.Env.Guest = strings.ToUpper(text[:1]) + text[1:] + "."
	}
	c.SuggestedName = r.session.User
	c.LogIn = func(ctx context.Context, name string) (string, error) {
		player, _, err := r.client.CreatePlayer(ctx, name, false)
		return player.GetId(), err
	}
}

// typed returns a command in the form in which SSH clients type it, empty if they have no
// such command.
func (r *remote) typed(words ...string) string {
	if words[0] == "join" {
		words = append([]string{"play"}, words[1:]...) // It takes a seat, too.
	}
	line := strings.Join(words, " ")
	if _, err := sshhost.Parse(line); err != nil {
		return ""
	}
	return "ssh -t <this host> " + line
}

// known returns the account of the session's key. It returns an error if there is none.
func (r *remote) known(ctx context.Context) (*pb.Player, error) {
	if r.client.PlayerID() == "" {
		return nil, missingf("you have no account yet")
	}
	return r.client.Me(ctx)
}
