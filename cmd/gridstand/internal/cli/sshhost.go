package cli

import (
	"context"
	"fmt"
	"log/slog"
	"net"
	"path/filepath"
	"regexp"
	"runtime/debug"
	"time"

	"github.com/adrg/xdg"
	"github.com/spf13/cobra"

	"github.com/gridstand/gridstand/cmd/gridstand/internal/sshhost"
	"github.com/gridstand/gridstand/internal/netaddr"
	"github.com/gridstand/gridstand/internal/usage"
)

// sshHostName is the name of the command that serves SSH clients.
const sshHostName = "ssh-host"

// sshOptions are the flags of the ssh-host command.
type sshOptions struct {
	listen, address, hostKey, credential, metrics string
	limits                                        sshhost.Limits
}

func (p *program) sshHostCommand() *cobra.Command {
	o := sshOptions{listen: ":2222", limits: sshhost.DefaultLimits()}
	if p.state != "" {
		o.hostKey = filepath.Join(xdg.StateHome, "gridstand", "ssh_host_key")
	}
	cmd := &cobra.Command{
		Use:   sshHostName,
		Short: "Let people play and watch with an SSH client",
		Long: `Serve the lobby, games and leaderboards of a server to SSH clients, which then
need no other program:  ssh -p 2222 <host>

A player's SSH key identifies the account. For this, the server's operator
creates a service credential for --credential-file with
` + createCredential + `, and adds this host to
the server's --proxies. People without a key can only watch. Clients do not get
a shell.

Limits without a flag: 256 connections that have no session (the address with
most of them loses the one that has waited longest); 10 seconds to exchange keys
and 30 to open a session; 128 kB of input a second from one address, with a
burst of 1 MB, of which an exchange of keys and a session count as 8 kB and a
key, a mouse movement and a change of size as 512 bytes; half of the processors
to draw the screens of one address; 136 kB of input that waits, and 64 kB for
one paste; a minute to read output; windows of 240 by 64.

Each flag below can also be set by an environment variable, such as --listen by
GRIDSTAND_SSH_LISTEN.`,
		RunE: func(cmd *cobra.Command, _ []string) error {
			if err := usage.ReadEnvironment(cmd.Flags(), p.getenv); err != nil {
				return err
			}
			return p.sshHost(cmd.Context(), o)
		},
	}
	flags := cmd.Flags()
	flags.SortFlags = false
	flags.StringVar(&o.listen, "listen", o.listen, "`address` to serve on")
	flags.StringVar(&o.address, "address", "", "`host` or host:port of this host, for the ssh commands that it shows, such as play.example:2222")
	flags.StringVar(&o.hostKey, "host-key", o.hostKey, "`file` with the private key of this host; it is created if it does not exist")
	flags.StringVar(&o.credential, "credential-file", "", "`file` with the service credential that lets players use their SSH keys as accounts; without it people can only watch")
	flags.StringVar(&o.metrics, "metrics", "", "`address` for Prometheus metrics (/metrics); must not be public; disabled if empty")
	flags.DurationVar(&o.limits.Idle, "idle-timeout", o.limits.Idle, "time without a key press after which a session ends; 0 for never")
	flags.IntVar(&o.limits.Sessions, "max-sessions", o.limits.Sessions, "maximum number of concurrent sessions")
	flags.IntVar(&o.limits.SessionsPerAddress, "max-sessions-per-address", o.limits.SessionsPerAddress,
		"maximum number of concurrent sessions from one address (for IPv6, one /56 network)")
	usage.NameVariables(flags, usage.Prefix+"SSH_")
	return cmd
}

// sshStopTimeout limits how long a stopping host waits for sessions to end. Tests change it.
var sshStopTimeout = 5 * time.Second

// sshGCPercent is the garbage collector's target (GOGC): a fifth of the default. A host
// allocates a lot and keeps little of it. 200 sessions took 207 to 220 MB with GOGC=20.
// With 10 they took 14 MB less and a quarter more processor time, and with 30 they took
// 14 MB more and hardly less processor time.
const sshGCPercent = 20

// check returns an error for values that the flags cannot have.
func (o sshOptions) check() error {
	switch {
	case min(o.limits.Sessions, o.limits.SessionsPerAddress) < 1:
		return usage.Errorf("--max-sessions and --max-sessions-per-address must be 1 or more")
	case o.limits.Idle < 0:
		return usage.Errorf("--idle-timeout must be 0 or more")
	case o.hostKey == "":
		return usage.Errorf("--host-key must name a file; there is a default only if HOME is set")
	}
	return nil
}

// sshHost serves SSH clients until ctx is done.
func (p *program) sshHost(ctx context.Context, o sshOptions) error {
	if err := o.check(); err != nil {
		return err
	}
	command, err := sshCommand(o.address)
	if err != nil {
		return err
	}
	credential, err := readCredential(o.credential)
	if err != nil {
		return err
	}
	key, err := sshhost.HostKey(o.hostKey)
	if err != nil {
		return fmt.Errorf("%w; --host-key selects another file", err)
	}
	c, err := p.dial()
	if err != nil {
		return err
	}
	// Use TCP keepalive, which detects dead connections even if their clients only watch.
	listening := net.ListenConfig{KeepAliveConfig: net.KeepAliveConfig{
		Enable: true, Idle: 30 * time.Second, Interval: 10 * time.Second, Count: 3,
	}}
	listener, err := listening.Listen(ctx, "tcp", o.listen)
	if err != nil {
		return cannotListen("--listen", err)
	}
	if p.getenv("GOGC") == "" {
		defer debug.SetGCPercent(debug.SetGCPercent(sshGCPercent))
	}
	logger := slog.New(slog.NewTextHandler(p.err, nil))
	metrics := sshhost.NewMetrics()
	if o.metrics != "" {
		page, err := new(net.ListenConfig).Listen(ctx, "tcp", o.metrics)
		if err != nil {
			_ = listener.Close()
			return cannotListen("--metrics", err)
		}
		logger.Info("serving metrics", "address", page.Addr().String())
		defer metrics.Serve(page)()
	}
	canPlay := checkHost(ctx, c, credential, key.PublicKey(), logger)
	logger.Info("serving", "address", listener.Addr().String(), "server", p.server(), "host_key", o.hostKey, "can_play", canPlay)
	err = sshhost.Serve(ctx, listener, sshhost.Config{
		HostKey: key, Logger: logger, Metrics: metrics, Limits: o.limits, StopTimeout: sshStopTimeout,
		Serve: func(ctx context.Context, s *sshhost.Session) int {
			return p.overSSH(s, c, credential, command).session(ctx, s.Line, logger)
		},
	})
	if err == nil {
		logger.Info("stopped")
	}
	return err
}

// cannotListen returns the error for an address that a flag sets. It is a *usage.Error, after which a supervisor
// does not start the host again, only if no later start can succeed.
func cannotListen(flag string, err error) error {
	if unusable := netaddr.Unusable(err); unusable != nil {
		return usage.Errorf("%s: %w", flag, unusable)
	}
	return fmt.Errorf("%s: %w", flag, err)
}

// hostName matches names and addresses that need no quotes in a shell.
var hostName = regexp.MustCompile(`^[0-9A-Za-z][0-9A-Za-z.:-]*$`)

// sshCommand returns the start of the commands that people type to reach this host at the given
// address, which may be empty.
func sshCommand(address string) (string, error) {
	host, port, err := net.SplitHostPort(address)
	switch {
	case address == "":
		return "ssh -t <this host>", nil
	case err != nil:
		host, port = address, "22"
	}
	if _, err := net.LookupPort("tcp", port); err != nil || !hostName.MatchString(host) {
		return "", usage.Errorf("--address must be a host or host:port, such as play.example:2222, not %.60q", address)
	}
	if port == "22" {
		return "ssh -t " + host, nil
	}
	return "ssh -p " + port + " -t " + host, nil
}
