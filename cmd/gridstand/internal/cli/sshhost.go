package cli

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"log/slog"
	"net"
	"os"
	"path/filepath"
	"runtime/debug"
	"slices"
	"strings"
	"time"

	"github.com/adrg/xdg"
	"github.com/spf13/cobra"
	"github.com/spf13/pflag"
	"golang.org/x/crypto/ssh"

	"github.com/gridstand/gridstand/client"
	"github.com/gridstand/gridstand/cmd/gridstand/internal/sshhost"
	"github.com/gridstand/gridstand/cmd/gridstand/internal/tui/app"
	"github.com/gridstand/gridstand/cmd/gridstand/internal/tui/ui"
	"github.com/gridstand/gridstand/internal/usage"
	pb "github.com/gridstand/gridstand/proto/gridstand/v1"
)

// sshHostName is the command that serves SSH clients.
const sshHostName = "ssh-host"

// sshOptions are the flags of ssh-host.
type sshOptions struct {
	listen, hostKey, credential string
	limits                      sshhost.Limits
}

// sshVariables are the environment variables of the flags of ssh-host.
var sshVariables = map[string]string{
	"listen":                      usage.Prefix + "SSH_LISTEN",
	"host-key":                    usage.Prefix + "SSH_HOST_KEY",
	"credential-file":             usage.Prefix + "SSH_CREDENTIAL_FILE",
	"idle-timeout":                usage.Prefix + "SSH_IDLE_TIMEOUT",
	"max-duration":                usage.Prefix + "SSH_MAX_DURATION",
	"max-sessions":                usage.Prefix + "SSH_MAX_SESSIONS",
	"max-sessions-per-address":    usage.Prefix + "SSH_MAX_SESSIONS_PER_ADDRESS",
	"max-sessions-per-connection": usage.Prefix + "SSH_MAX_SESSIONS_PER_CONNECTION",
}

func (p *program) sshHostCommand() *cobra.Command {
	o := sshOptions{
		listen: ":2222", hostKey: filepath.Join(xdg.StateHome, "gridstand", "ssh_host_key"),
		limits: sshhost.DefaultLimits(),
	}
	cmd := &cobra.Command{
		Use:   sshHostName,
		Short: "Let people play and watch with an SSH client, without this program",
		Long: `Serve the lobby, games and leaderboards of a server to SSH clients, which then need
no other program:  ssh -p 2222 <host>

A player's SSH key is the account. For this, the server's operator makes a service
credential with gridstand-server ssh-credential, and adds this host to the server's
--proxies. People without a key can watch. A client gets no shell.

Each flag below has an environment variable, such as ` + sshVariables["listen"] + ` for --listen.`,
		RunE: func(cmd *cobra.Command, _ []string) error {
			if err := p.readVariables(cmd.Flags(), sshVariables); err != nil {
				return err
			}
			return p.sshHost(cmd.Context(), o)
		},
	}
	flags := cmd.Flags()
	flags.SortFlags = false
	flags.StringVar(&o.listen, "listen", o.listen, "`address` to serve on")
	flags.StringVar(&o.hostKey, "host-key", o.hostKey, "`file` with the private key of this host; it is created if it does not exist")
	flags.StringVar(&o.credential, "credential-file", "", "`file` with the service credential that lets players use their SSH keys\nas accounts; without it people can only watch")
	flags.DurationVar(&o.limits.Idle, "idle-timeout", o.limits.Idle, "time without a key pressed after which a session ends; 0 for never")
	flags.DurationVar(&o.limits.Duration, "max-duration", o.limits.Duration, "maximum duration of a session; 0 for no limit")
	flags.IntVar(&o.limits.Sessions, "max-sessions", o.limits.Sessions, "sessions at a time")
	flags.IntVar(&o.limits.SessionsPerAddress, "max-sessions-per-address", o.limits.SessionsPerAddress, "sessions of one address at a time")
	flags.IntVar(&o.limits.SessionsPerConnection, "max-sessions-per-connection", o.limits.SessionsPerConnection,
		"sessions on one connection at a time")
	return cmd
}

// readVariables sets flags that are not on the command line from their environment
// variables. An empty variable counts as not set.
func (p *program) readVariables(flags *pflag.FlagSet, variables map[string]string) (err error) {
	flags.VisitAll(func(f *pflag.Flag) {
		variable := variables[f.Name]
		value := p.getenv(variable)
		if f.Changed || value == "" || err != nil {
			return
		}
		if wrong := f.Value.Set(value); wrong != nil {
			err = usage.Value(variable, f, value, wrong)
		}
	})
	return err
}

// readCredential reads a service credential from a file; no file is none.
func readCredential(file string) (string, error) {
	if file == "" {
		return "", nil
	}
	text, err := os.ReadFile(file)
	if err != nil {
		return "", fmt.Errorf("--credential-file: %w", err)
	}
	credential := strings.TrimSpace(string(text))
	if credential == "" || strings.ContainsAny(credential, " \r\n") {
		return "", usage.Errorf("--credential-file: %s has no service credential; "+
			"gridstand-server ssh-credential create makes one", file)
	}
	return credential, nil
}

// sshStopTimeout is how long a stop waits for sessions to end.
const sshStopTimeout = 5 * time.Second

// sshGCPercent is how much garbage there may be, in percent of what is in use: a fifth
// of the usual. A host draws a lot and keeps little of it. At 100 percent 200 sessions
// took 550 MB, at 20 percent 280 MB.
const sshGCPercent = 20

// sshHost serves SSH clients until ctx ends.
func (p *program) sshHost(ctx context.Context, o sshOptions) error {
	if min(o.limits.Sessions, o.limits.SessionsPerAddress, o.limits.SessionsPerConnection) < 1 {
		return usage.Errorf("the limits on sessions must be 1 or more")
	}
	if min(o.limits.Idle, o.limits.Duration) < 0 {
		return usage.Errorf("--idle-timeout and --max-duration must be 0 or more")
	}
	credential, err := readCredential(o.credential)
	if err != nil {
		return err
	}
	key, err := sshhost.HostKey(o.hostKey)
	if err != nil {
		return err
	}
	c, hangUp, err := p.dial()
	if err != nil {
		return err
	}
	defer hangUp()
	// Dead connections of people who watch are found by TCP, too.
	listening := net.ListenConfig{KeepAliveConfig: net.KeepAliveConfig{
		Enable: true, Idle: 30 * time.Second, Interval: 10 * time.Second, Count: 3,
	}}
	listener, err := listening.Listen(ctx, "tcp", o.listen)
	if err != nil {
		return err
	}
	if p.getenv("GOGC") == "" {
		defer debug.SetGCPercent(debug.SetGCPercent(sshGCPercent))
	}
	logger := slog.New(slog.NewTextHandler(p.err, nil))
	logger.Info("serving", "address", listener.Addr().String(), "server", p.server(), "host_key", o.hostKey)
	err = sshhost.Serve(ctx, listener, sshhost.Config{
		HostKey: key, Logger: logger, Limits: o.limits, StopTimeout: sshStopTimeout,
		Serve: func(ctx context.Context, s *sshhost.Session) int {
			return p.overSSH(s, c, credential).session(ctx, s.Command, logger)
		},
	})
	if err == nil {
		logger.Info("stopped")
	}
	return err
}

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
	v, err := variant(ctx, c, what)
	if err != nil {
		return err
	}
	return p.show(ctx, c, ui.Route{Rules: v.GetId()}, localServer{})
}

// show makes the terminal program's pages those of the session.
func (r *remote) show(c *app.Config, t *app.Terminal) {
	t.Height, t.Resized = r.session.Size.Height, r.session.Resized
	c.Env.Theme.Still = true // Moves in between would cost bandwidth and the host's processor.
	c.Env.Command = func(words ...string) string {
		if _, err := sshhost.Parse(strings.Join(words, " ")); err != nil {
			return commandFor("", words...)
		}
		return "ssh -t <this host> " + strings.Join(words, " ")
	}
	if r.refusal != nil {
		c.Env.Guest = r.refusal.Error()
	}
	c.SuggestedName = r.session.User
	c.LogIn = func(ctx context.Context, name string) (string, error) {
		player, _, err := r.client.CreatePlayer(ctx, name, false)
		return player.GetId(), err
	}
}

// known returns the account of the session's key. It returns an error if there is none.
func (r *remote) known(ctx context.Context) (*pb.Player, error) {
	if r.client.PlayerID() == "" {
		return nil, missingf("you have no account yet")
	}
	return r.client.Me(ctx)
}
