package cli

import (
	"context"
	"errors"
	"fmt"
	"io"
	"os"
	"strings"

	"github.com/spf13/cobra"

	"github.com/gridstand/gridstand/client"
	"github.com/gridstand/gridstand/internal/usage"
	pb "github.com/gridstand/gridstand/proto/gridstand/v1"
)

func (p *program) accountCommand() *cobra.Command {
	cmd := &cobra.Command{
		Use: "account [@player]",
		SuggestFor: []string{
			"profile", "me", "stats", "rename", "keys", "link", "token", "import", "export", "transfer",
		},
		Short: "Show your account; --help: name, token, keys",
		Long: `Show your account on this server and what you have achieved, or what another
player has: games and best scores, both also of attempts at challenges, ranks of
all time, daily games and races, and the boards of the latest games.

A command that plays creates one, or you create it with
` + name + ` account new. Who has its token, which is stored on this
machine, has the account: ` + name + ` account token prints it, and
` + name + ` account import uses it on another machine.

A token that was used over TLS is never sent in clear text: without --tls the
program refuses to use it.`,
		RunE: func(cmd *cobra.Command, args []string) error {
			if len(args) > 0 {
				return p.onReference(p.printPlayer)(cmd, args)
			}
			return p.onAccount(p.showAccount)(cmd, args)
		},
	}
	rotate := &cobra.Command{
		Use:        "rotate",
		SuggestFor: []string{"revoke", "reset"},
		Short:      "Revoke the token of your account, and make a new one",
		Long: `Replace the token of your account, for example because someone may have seen it.
Browsers that use the account by a link are logged out. The old token may work
for another 30 seconds.`,
		RunE: p.onAccount(p.rotate),
	}
	rename := &cobra.Command{
		Use:   "rename <name>",
		Short: "Change your name: once in 30 days, a guest at any time",
		Long: `Give your account another name. Games, rank and streak stay. Games that have
begun show the old name, which leads to you. A guest can choose a name at any
time; other names can be changed once in 30 days.`,
		RunE: p.onAccount(func(ctx context.Context, c *client.Client, _ *pb.Player, args []string) error {
			player, err := p.renamed(ctx, c, args[0])
			if err != nil {
				return err
			}
			return p.printName(c, player)
		}),
	}
	token := &cobra.Command{
		Use:        "token",
		SuggestFor: []string{"export", "move", "transfer"},
		Short:      "Print the token, to use the account elsewhere",
		RunE:       p.onAccount(p.printToken),
	}
	cmd.AddCommand(rename, p.endCommand())
	if p.over == nil { // Over SSH, there is neither a token nor a file of the user's machine.
		var replace bool
		create, adopt := p.newAccountCommand(&replace), p.importCommand(&replace)
		for _, cmd := range []*cobra.Command{create, adopt} {
			cmd.Flags().BoolVar(&replace, "replace", false, "give up the stored account for another one; this cannot be undone")
		}
		cmd.AddCommand(create, adopt, rotate, token, p.linkCommand(), p.keysCommand())
	}
	return cmd
}

func (p *program) newAccountCommand(replace *bool) *cobra.Command {
	return &cobra.Command{
		Use:   "new <name>",
		Short: "Create an account",
		Long: `Create an account with the given name on this server and store its token on this
machine. A name has 1 to 24 letters a–z, digits, spaces and - _ .`,
		RunE: p.onServer(func(ctx context.Context, c *client.Client, args []string) error {
			return p.createAccount(ctx, c, args[0], *replace)
		}),
	}
}

func (p *program) importCommand(replace *bool) *cobra.Command {
	return &cobra.Command{
		Use:        "import [-]",
		SuggestFor: []string{"login", "use"},
		Short:      "Use an account that you already have",
		Long: `Use an account that you already have, for example in a browser. The command asks
for the account's token or, if standard input is not a terminal, reads it from
the first line. ` + name + ` account token prints the token of the account stored
here.`,
		RunE: p.onServer(func(ctx context.Context, c *client.Client, args []string) error {
			if token := first(args); token != "" && token != "-" {
				return usage.Errorf("a token is no argument: other users of this machine could read it, and your shell " +
					"would keep it in its history. Omit it: the command asks for it, or reads it from standard input")
			}
			return p.adopt(ctx, c, *replace)
		}),
	}
}

// showAccount prints the user's account, what they have achieved, and the browsers that use it; as JSON,
// only what they have achieved, as printPlayer does.
func (p *program) showAccount(ctx context.Context, c *client.Client, player *pb.Player, _ []string) error {
	profile, err := c.Players.GetProfile(ctx, &pb.GetProfileRequest{PlayerId: "me"})
	if err != nil {
		return err
	}
	if p.flags.json {
		return p.printMessage(profile)
	}
	if err := p.printAccount(c, player); err != nil {
		return err
	}
	if len(profile.GetVariants()) == 0 {
		p.notef("No scores yet. Play a game: %s", p.typed("play"))
	}
	if err := p.printProfile(ctx, c, profile); err != nil {
		return err
	}
	return p.printSessions(ctx, c)
}

// rotate replaces the token of the user's account.
func (p *program) rotate(ctx context.Context, c *client.Client, player *pb.Player, _ []string) error {
	_, err := orGiveUp(ctx, p, "replace the token", func(ctx context.Context) (struct{}, error) {
		return struct{}{}, client.Rotate(ctx, c, p.store)
	})
	if err != nil {
		return err
	}
	p.notef("The old token ends within 30 seconds. Enter the new one on your other computers: %s prints it.",
		p.typed("account", "token"))
	return p.printAccount(c, player)
}

// renamed gives the user's account another name, which is also stored here, and returns the account.
func (p *program) renamed(ctx context.Context, c *client.Client, name string) (*pb.Player, error) {
	if _, err := c.Rename(ctx, name); err != nil {
		return nil, err
	}
	return p.known(ctx, c)
}

// createAccount creates an account, unless the stored account already has that name.
func (p *program) createAccount(ctx context.Context, c *client.Client, wanted string, replace bool) error {
	player, err := p.replaceable(ctx, c, replace)
	switch {
	case err != nil:
		return err
	case strings.EqualFold(player.GetName(), wanted):
		return p.printAccount(c, player)
	case player != nil && !replace:
		return p.keeps(player)
	}
	cred, err := client.Create(ctx, c, p.store, wanted)
	if err != nil {
		return err
	}
	return p.printStored(c, player, cred)
}

// replaceable returns the stored account that another one would replace, or nil if no account
// is stored or the server does not know it. If replace is set, it also returns nil if the
// account's token may not be sent in clear text.
func (p *program) replaceable(ctx context.Context, c *client.Client, replace bool) (*pb.Player, error) {
	if replace {
		p.warnClearText(c)
	}
	p.warnExposed(c)
	player, err := p.known(ctx, c)
	if isMissing(err) || errors.Is(err, client.ErrClearText) && replace {
		return nil, nil
	}
	return player, err
}

// adopt asks the user for a token and stores the account that it belongs to.
func (p *program) adopt(ctx context.Context, c *client.Client, replace bool) error {
	stored, err := p.replaceable(ctx, c, replace)
	if err != nil {
		return err
	}
	token, err := p.readToken(ctx, c)
	if err != nil {
		return err
	}
	playerID, err := client.ParseToken(token)
	if err != nil {
		return err
	}
	if stored != nil && stored.GetId() != playerID && !replace {
		return p.keeps(stored)
	}
	cred, err := client.Adopt(ctx, c, p.store, token)
	if errors.Is(err, client.ErrBadToken) {
		return missingf("%s does not know this token: it may belong to another server, be incomplete, or have been replaced", c.Target())
	}
	if err != nil {
		return err
	}
	return p.printStored(c, stored, cred)
}

// keeps returns the error of a command that would replace the stored account.
func (p *program) keeps(stored *pb.Player) error {
	return fmt.Errorf("you are %s on this server; --replace gives up that account. "+
		"To return to it later, keep its token: %s. To change its name: %s",
		client.CleanName(stored.GetName()), p.typed("account", "token"), p.typed("account", "rename", "<name>"))
}

// readToken asks for a token on the terminal, or reads it from standard input.
func (p *program) readToken(ctx context.Context, c *client.Client) (string, error) {
	var token string
	var err error
	if in, ok := p.in.(*os.File); ok && p.terminal(p.in) {
		token, err = p.askHidden(ctx, in, fmt.Sprintf("Token of your account on %s (it is not shown): ", c.Target()))
	} else {
		token, err = p.readLine(ctx)
	}
	if err == nil && token == "" || errors.Is(err, io.EOF) {
		return "", usage.Errorf("no token was given")
	}
	return token, err
}

// printToken writes the stored account's token, and nothing else, to standard output.
func (p *program) printToken(_ context.Context, c *client.Client, player *pb.Player, _ []string) error {
	cred, _, err := p.store.Load(c.Target())
	if err != nil {
		return err
	}
	if p.terminal(p.out) {
		p.notef("Keep this secret: with this token, anyone can play as %s on %s. "+
			"On your other machine, enter it at the prompt of %s.",
			client.CleanName(player.GetName()), c.Target(), commandFor(p.shared(c, ""), "account", "import"))
	}
	return p.printEither(&pb.CreatePlayerResponse{Player: player, Token: cred.Token}, "%s\n", cred.Token)
}

// printStored prints the account that a command has stored, and says which one it has replaced. before is the account
// that was stored, or nil.
func (p *program) printStored(c *client.Client, before *pb.Player, cred client.Credential) error {
	if before != nil && before.GetId() != cred.PlayerID {
		p.notef("You gave up %s: its token is no longer stored here, and without a copy, this machine cannot return to the account.",
			client.CleanName(before.GetName()))
	}
	return p.printAccount(c, &pb.Player{Id: cred.PlayerID, Name: cred.Name, Bot: cred.Bot})
}

// printAccount prints the account, and where its token is stored.
func (p *program) printAccount(c *client.Client, player *pb.Player) error {
	if p.over == nil && !p.flags.json {
		p.notef("The token is stored in %s.", p.store.Path())
	}
	return p.printName(c, player)
}

// printName prints the name of the account, and its server and id.
func (p *program) printName(c *client.Client, player *pb.Player) error {
	if p.over != nil {
		return p.printEither(player, "%s\n", client.CleanName(player.GetName()))
	}
	return p.printEither(player, "%s on %s, id %s\n", client.CleanName(player.GetName()), c.Target(), clean(player.GetId(), 26))
}
