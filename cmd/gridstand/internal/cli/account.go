package cli

import (
	"context"
	"errors"
	"strings"

	"github.com/spf13/cobra"

	"github.com/gridstand/gridstand/client"
	"github.com/gridstand/gridstand/internal/usage"
	pb "github.com/gridstand/gridstand/proto/gridstand/v1"
)

func (p *program) loginCommand() *cobra.Command {
	var replace, rotate bool
	cmd := &cobra.Command{
		Use:   "login [name]",
		Short: "Create an account on this server, or replace its token",
		Long: `Create an account with that name on this server and store its token on this
machine. A name has 1 to 24 letters, digits, spaces and - _ . and cannot be changed.

With --rotate and no name it replaces the token of the stored account, for example
because someone may have seen it. The old one may work for another 30 seconds.

A token that was used over TLS is never sent in clear text: without --tls the
program refuses to use it. If the server no longer uses TLS, --replace creates a
new account.`,
		ValidArgsFunction: cobra.NoFileCompletions,
		RunE: func(cmd *cobra.Command, args []string) error {
			switch {
			case rotate && replace:
				return usage.Errorf("--rotate keeps the account and --replace gives it up: use one of them")
			case rotate && len(args) > 0:
				return usage.Errorf("--rotate is for the stored account and takes no name")
			case rotate:
				return p.rotate(cmd.Context())
			case len(args) == 0:
				return usage.Errorf("login needs a name")
			}
			return p.login(cmd.Context(), args[0], replace)
		},
	}
	cmd.Flags().BoolVar(&rotate, "rotate", false, "replace the token of the stored account")
	cmd.Flags().BoolVar(&replace, "replace", false, "give up the stored account for a new one; this cannot be undone")
	return cmd
}

// rotate replaces the token of the user's account.
func (p *program) rotate(ctx context.Context) error {
	c, hangUp, err := p.dial()
	if err != nil {
		return err
	}
	defer hangUp()
	player, err := p.known(ctx, c)
	if err != nil {
		return err
	}
	if err := client.RotateStored(ctx, c, p.store); err != nil {
		return err
	}
	return p.printAccount(c, player)
}

// login creates an account, unless the stored one has that name.
func (p *program) login(ctx context.Context, wanted string, replace bool) error {
	c, hangUp, err := p.dial()
	if err != nil {
		return err
	}
	defer hangUp()
	p.warnExposed(c)
	player, err := p.known(ctx, c)
	var missing *missingError
	switch {
	case errors.As(err, &missing):
	case errors.Is(err, client.ErrClearText) && replace:
	case err != nil:
		return err
	case strings.EqualFold(player.GetName(), wanted):
		return p.printAccount(c, player)
	case !replace:
		return errors.New("you are " + client.CleanName(player.GetName()) +
			" on this server; --replace gives that account up forever")
	}
	if replace {
		cred, err := client.Replace(ctx, c, p.store, client.OneName(wanted))
		if err != nil {
			return err
		}
		return p.printAccount(c, account(cred))
	}
	cred, notice, err := client.LogIn(ctx, c, p.store, client.OneName(wanted))
	if err != nil {
		return err
	}
	if notice != "" {
		p.notef("%s", notice)
	}
	return p.printAccount(c, account(cred))
}

func account(cred client.Credential) *pb.Player {
	return &pb.Player{Id: cred.PlayerID, Name: cred.Name, Bot: cred.Bot}
}

func (p *program) whoamiCommand() *cobra.Command {
	return &cobra.Command{
		Use: "whoami", Short: "Show your account on this server",
		RunE: func(cmd *cobra.Command, _ []string) error {
			c, hangUp, err := p.dial()
			if err != nil {
				return err
			}
			defer hangUp()
			player, err := p.known(cmd.Context(), c)
			if err != nil {
				return err
			}
			return p.printAccount(c, player)
		},
	}
}

// printAccount writes the account, and notes where its token is stored.
func (p *program) printAccount(c *client.Client, player *pb.Player) error {
	if p.flags.json {
		return p.printMessage(player)
	}
	p.notef("The token is stored in %s.", p.store.Path())
	return p.printf("%s on %s, id %s\n", client.CleanName(player.GetName()), c.Target(), clean(player.GetId(), 26))
}
