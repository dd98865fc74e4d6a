package cli

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"io"
	"strings"

	"github.com/spf13/cobra"
	"github.com/spf13/pflag"

	"github.com/gridstand/gridstand/client"
	"github.com/gridstand/gridstand/internal/usage"
	pb "github.com/gridstand/gridstand/proto/gridstand/v1"
)

func (p *program) loginCommand() *cobra.Command {
	var replace, rotate, token bool
	cmd := &cobra.Command{
		Use:   "login [name]",
		Short: "Create an account, bring one here, or replace its token",
		Long: `Create an account with the given name on this server and store its token on this
machine. A name has 1 to 24 letters, digits, spaces and - _ . and cannot be
changed.

With --token it uses an account that you already have, for example in a browser:
it asks for the token or, if standard input is not a terminal, reads it from the
first line. ` + name + ` whoami --show-token prints the token of the account stored
here.

With --rotate and no name it replaces the token of the stored account, for
example because someone may have seen it. The old token may work for another 30
seconds.

A token that was used over TLS is never sent in clear text: without --tls the
program refuses to use it. If the server no longer uses TLS, --replace creates a
new account.`,
		ValidArgsFunction: cobra.NoFileCompletions,
		RunE: func(cmd *cobra.Command, args []string) error {
			switch {
			case token && len(args) > 0:
				return errTokenArgument
			case token && rotate:
				return usage.Errorf("--token adds an account and --rotate changes the stored one: use only one of them")
			case token:
				return p.adopt(cmd.Context(), replace)
			case rotate && replace:
				return usage.Errorf("--rotate keeps the account and --replace gives it up: use only one of them")
			case rotate && len(args) > 0:
				return usage.Errorf("--rotate is for the stored account and takes no name")
			case rotate:
				return p.rotate(cmd.Context())
			case len(args) > 0 && p.flags.name != "" && args[0] != p.flags.name:
				return usage.Errorf("login takes one name: omit --name")
			}
			wanted := cmp.Or(first(args), p.flags.name)
			if wanted == "" {
				return usage.Errorf("login needs a name")
			}
			return p.login(cmd.Context(), wanted, replace)
		},
	}
	cmd.Flags().BoolVar(&token, "token", false, "use an existing account; its token is read from a prompt or from standard input")
	cmd.Flags().BoolVar(&rotate, "rotate", false, "replace the token of the stored account")
	cmd.Flags().BoolVar(&replace, "replace", false, "give up the stored account for another one; this cannot be undone")
	cmd.SetFlagErrorFunc(func(cmd *cobra.Command, err error) error {
		if wrong, ok := errors.AsType[*pflag.InvalidValueError](err); ok && wrong.GetFlag().Name == "token" {
			return errTokenArgument // the default error would echo the token
		}
		return usage.Flag(cmd, err)
	})
	return cmd
}

// errTokenArgument is the error for a token on the command line.
var errTokenArgument = usage.Errorf("--token takes no argument: other users of this machine could read it, and " +
	"your shell would keep it in its history. The token is read from a prompt or from standard input")

// withAccount calls do with a client that is logged in to the user's account.
func (p *program) withAccount(ctx context.Context, do func(*client.Client, *pb.Player) error) error {
	c, disconnect, err := p.dial()
	if err != nil {
		return err
	}
	defer disconnect()
	player, err := p.known(ctx, c)
	if err != nil {
		return err
	}
	return do(c, player)
}

// rotate replaces the token of the user's account.
func (p *program) rotate(ctx context.Context) error {
	return p.withAccount(ctx, func(c *client.Client, player *pb.Player) error {
		_, err := orGiveUp(ctx, p, "replace the token", func(ctx context.Context) (struct{}, error) { return struct{}{}, client.RotateStored(ctx, c, p.store) })
		if err != nil {
			return err
		}
		return p.printAccount(c, player)
	})
}

// login creates an account, unless the stored account already has that name.
func (p *program) login(ctx context.Context, wanted string, replace bool) error {
	c, disconnect, err := p.dial()
	if err != nil {
		return err
	}
	defer disconnect()
	player, err := p.replaceable(ctx, c, replace)
	switch {
	case err != nil:
		return err
	case strings.EqualFold(player.GetName(), wanted):
		return p.printAccount(c, player)
	case player != nil && !replace:
		return errors.New("you are " + client.CleanName(player.GetName()) +
			" on this server; --replace permanently gives up that account")
	}
	if replace {
		cred, err := client.Replace(ctx, c, p.store, client.OneName(wanted))
		if err != nil {
			return err
		}
		return p.printAccount(c, account(cred))
	}
	cred, notice, err := client.LogInAs(ctx, c, p.store, wanted)
	if err != nil {
		return err
	}
	if notice != "" {
		p.notef("%s", notice)
	}
	return p.printAccount(c, account(cred))
}

// replaceable returns the stored account that a login would replace, or nil if no account
// is stored or the server does not know it. If replace is set, it also returns nil if the
// account's token may not be sent in clear text.
func (p *program) replaceable(ctx context.Context, c *client.Client, replace bool) (*pb.Player, error) {
	if replace {
		p.warnClearText(c)
	}
	p.warnExposed(c)
	player, err := p.known(ctx, c)
	if _, missing := errors.AsType[*missingError](err); missing || errors.Is(err, client.ErrClearText) && replace {
		return nil, nil
	}
	return player, err
}

// adopt asks the user for a token and stores the account that it belongs to.
func (p *program) adopt(ctx context.Context, replace bool) error {
	c, disconnect, err := p.dial()
	if err != nil {
		return err
	}
	defer disconnect()
	stored, err := p.replaceable(ctx, c, replace)
	if err != nil {
		return err
	}
	token, err := p.readToken(ctx, c)
	if err != nil {
		return err
	}
	playerID, err := client.ParseToken(token)
	switch {
	case err != nil:
		return err
	case stored != nil && stored.GetId() != playerID && !replace:
		return fmt.Errorf("you are %s on this server; --replace gives up that account. To return to it later, keep its token: %s whoami --show-token",
			client.CleanName(stored.GetName()), name)
	}
	cred, err := client.Adopt(ctx, c, p.store, token)
	if errors.Is(err, client.ErrBadToken) {
		return missingf("%s does not know this token: it may belong to another server, be incomplete, or have been replaced", c.Target())
	}
	if err != nil {
		return err
	}
	return p.printAccount(c, account(cred))
}

// readToken asks for a token on the terminal, or reads it from standard input.
func (p *program) readToken(ctx context.Context, c *client.Client) (string, error) {
	var token string
	var err error
	if in := p.inputTerminal(); in != nil {
		var hidden []byte
		hidden, err = p.askHidden(ctx, in, fmt.Sprintf("Token of your account on %s (it is not shown): ", c.Target()))
		token = strings.TrimSpace(string(hidden))
	} else {
		token, err = p.readLine(ctx)
	}
	if err == nil && token == "" || errors.Is(err, io.EOF) {
		return "", usage.Errorf("no token was given")
	}
	return token, err
}

func account(cred client.Credential) *pb.Player {
	return &pb.Player{Id: cred.PlayerID, Name: cred.Name, Bot: cred.Bot}
}

func (p *program) whoamiCommand() *cobra.Command {
	var show bool
	cmd := &cobra.Command{
		Use: "whoami", Short: "Show your account on this server, or its token",
		RunE: func(cmd *cobra.Command, _ []string) error {
			if show {
				return p.withAccount(cmd.Context(), p.printToken)
			}
			return p.withAccount(cmd.Context(), p.printAccount)
		},
	}
	cmd.Flags().BoolVar(&show, "show-token", false, "print only the token, to use the account in a browser or on another machine")
	return cmd
}

// printToken writes the stored account's token, and nothing else, to standard output.
func (p *program) printToken(c *client.Client, player *pb.Player) error {
	cred, _, err := p.store.Load(c.Target())
	if err != nil {
		return err
	}
	if p.terminal(p.out) {
		p.notef("Keep this secret: with this token, anyone can play as %s on %s.", client.CleanName(player.GetName()), c.Target())
	}
	if p.flags.json {
		return p.printMessage(&pb.CreatePlayerResponse{Player: player, Token: cred.Token})
	}
	return p.printf("%s\n", cred.Token)
}

// printAccount prints the account, and where its token is stored.
func (p *program) printAccount(c *client.Client, player *pb.Player) error {
	if p.flags.json {
		return p.printMessage(player)
	}
	p.notef("The token is stored in %s.", p.store.Path())
	return p.printf("%s on %s, id %s\n", client.CleanName(player.GetName()), c.Target(), clean(player.GetId(), 26))
}
