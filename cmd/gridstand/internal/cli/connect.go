package cli

import (
	"cmp"
	"context"
	"errors"
	"strings"

	"github.com/spf13/cobra"
	"github.com/spf13/pflag"
	"google.golang.org/grpc"

	"github.com/gridstand/gridstand/client"
	"github.com/gridstand/gridstand/internal/usage"
	"github.com/gridstand/gridstand/internal/version"
	pb "github.com/gridstand/gridstand/proto/gridstand/v1"
)

// serverVariable is the environment variable for --server.
const serverVariable = usage.Prefix + "SERVER"

// server returns the server to use: the one named by --server or, failing that, by the
// environment variable, or else the default.
func (p *program) server() string {
	return cmp.Or(p.flags.server, p.getenv(serverVariable), client.DefaultTarget)
}

// usesTLS reports whether the flags make connections use TLS.
func (p *program) usesTLS() bool { return p.flags.tls || p.flags.ca != "" }

// dialOptions are additional options of connections. Only tests set them.
var dialOptions []grpc.DialOption

// dial returns the program's client, which connects on its first call. Except over SSH, it is not
// logged in, since reading requires no account.
func (p *program) dial() (*client.Client, error) {
	if p.client == nil {
		c, err := client.Dial(client.Config{
			Target: p.server(), TLS: p.flags.tls, CAFile: p.flags.ca,
			UserAgent: name + "/" + version.Version, DialOptions: dialOptions,
		})
		if err != nil {
			return nil, usage.Wrap(err)
		}
		p.client = c
	}
	p.clock = p.client.Now
	return p.client, nil
}

// runner is what a command runs, the RunE of cobra.
type runner = func(cmd *cobra.Command, args []string) error

// onServer returns the action of a command that calls the server.
func (p *program) onServer(run func(ctx context.Context, c *client.Client, args []string) error) runner {
	return func(cmd *cobra.Command, args []string) error {
		c, err := p.dial()
		if err != nil {
			return err
		}
		return inFlags(cmd.Flags(), run(cmd.Context(), c, args))
	}
}

// inFlags returns err or, if the server refused a field that a flag sets, an error that names the flag.
func inFlags(flags *pflag.FlagSet, err error) error {
	if refused, ok := errors.AsType[*client.Error](err); ok {
		for _, v := range refused.Violations {
			if flag := strings.ReplaceAll(v.Field, "_", "-"); flags.Lookup(flag) != nil {
				return usage.Errorf("--%s %s", flag, v.Description)
			}
		}
	}
	return err
}

// onReference is like onServer, for a command whose argument, which may be missing, is a reference. A link
// determines the server.
func (p *program) onReference(run func(ctx context.Context, c *client.Client, r reference) error) runner {
	return func(cmd *cobra.Command, args []string) error {
		r, err := p.refer(first(args))
		if err != nil {
			return err
		}
		return p.onServer(func(ctx context.Context, c *client.Client, _ []string) error {
			return run(ctx, c, r)
		})(cmd, args)
	}
}

// onAccount is like onServer, and logs the client in to the user's account.
func (p *program) onAccount(run func(ctx context.Context, c *client.Client, player *pb.Player, args []string) error) runner {
	return p.onServer(func(ctx context.Context, c *client.Client, args []string) error {
		player, err := p.known(ctx, c)
		if err != nil {
			return err
		}
		return run(ctx, c, player, args)
	})
}

// disconnect closes the client, if there is one.
func (p *program) disconnect() {
	if p.client != nil {
		_ = p.client.Close()
		p.client = nil
	}
}

// warnExposed warns if the stored token will be sent to another machine in clear text.
func (p *program) warnExposed(c *client.Client) {
	if cred, _, err := p.store.Load(c.Target()); err == nil && cred.TLS {
		return // a token that was used over TLS is not sent in clear text
	}
	p.warnClearText(c)
}

// warnClearText warns, once, if a token will be sent to another machine in clear text.
func (p *program) warnClearText(c *client.Client) {
	if !c.Exposed() || p.warned {
		return
	}
	p.warned = true
	p.warnf("Warning: the connection to %s is not encrypted; others on the network can read your token. "+
		"If the server uses TLS, add --tls, or --ca if it has its own certificate authority.", c.Target())
}

// logIn logs the client in to the user's account, which it creates if necessary.
func (p *program) logIn(ctx context.Context, c *client.Client) error {
	if p.over != nil {
		_, err := p.over.signIn(ctx, c)
		return err
	}
	p.warnExposed(c)
	_, found, _ := p.store.Load(c.Target())
	cred, notice, err := client.LogIn(ctx, c, p.store, "")
	switch {
	case errors.Is(err, client.ErrBadToken):
		return missingf("%w. Enter the new one: %s. Or create another account: %s",
			err, p.typed("account", "import"), p.typed("account", "new", "<name>"))
	case err != nil:
		return err
	}
	if notice != "" {
		p.warnf("%s", notice)
	} else if !found {
		p.notef("You are %s. To choose a name: %s", client.CleanName(cred.Name), p.typed("account", "rename", "<name>"))
	}
	return nil
}

// known logs the client in to the account stored for its server. It returns an error if no
// account is stored or the server does not know it.
func (p *program) known(ctx context.Context, c *client.Client) (*pb.Player, error) {
	switch {
	case p.over != nil && p.over.refusal != nil:
		return nil, &missingError{p.over.refusal}
	case p.over != nil && c.PlayerID() == "":
		return nil, missingf("you have no account yet; your first game creates it")
	case p.over != nil:
		return c.Me(ctx)
	}
	cred, found, err := p.store.Load(c.Target())
	if err != nil {
		return nil, err
	}
	if !found || cred.Token == "" {
		return nil, missingf("you have no account on %s yet. Create one: %s. If you have one elsewhere: %s",
			c.Target(), p.typed("account", "new", "<name>"), p.typed("account", "import"))
	}
	p.warnExposed(c)
	player, err := client.Restore(ctx, c, p.store)
	if err == nil && player == nil {
		return nil, missingf("%s no longer knows your account %s. If you changed its token elsewhere: %s. Else create a new account: %s",
			c.Target(), client.CleanName(cred.Name), p.typed("account", "import"), p.typed("account", "new", "<name>"))
	}
	return player, err
}
