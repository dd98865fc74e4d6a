package cli

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"io"
	"os/user"
	"strings"

	"github.com/gridstand/gridstand/client"
	"github.com/gridstand/gridstand/internal/id"
	"github.com/gridstand/gridstand/internal/usage"
	"github.com/gridstand/gridstand/internal/version"
	pb "github.com/gridstand/gridstand/proto/gridstand/v1"
)

// serverVariable is the environment variable for --server.
const serverVariable = usage.Prefix + "SERVER"

// server returns the server that the user selected.
func (p *program) server() string {
	return cmp.Or(p.flags.server, p.getenv(serverVariable), client.DefaultTarget)
}

// clientConfig is how to reach it.
func (p *program) clientConfig() client.Config {
	return client.Config{
		Target: p.server(), TLS: p.flags.tls, CAFile: p.flags.ca,
		CertFile: p.flags.cert, KeyFile: p.flags.key,
		UserAgent: name + "/" + version.Version,
	}
}

// dial makes a client without an account, which is enough for reading. It sends
// nothing yet. The caller calls hangUp at the end.
func (p *program) dial() (c *client.Client, hangUp func(), err error) {
	if p.over != nil {
		return p.over.client, func() {}, nil // The host closes it.
	}
	c, err = client.Dial(p.clientConfig())
	if err != nil {
		return nil, nil, usage.Wrap(err)
	}
	return c, func() { _ = c.Close() }, nil
}

// warnExposed warns before the stored token goes to another machine in clear text.
func (p *program) warnExposed(c *client.Client) {
	if cred, _, err := p.store.Load(c.Target()); err == nil && cred.TLS {
		return // It will not be sent.
	}
	p.warnClearText(c)
}

// warnClearText warns once before any token goes to another machine in clear text.
func (p *program) warnClearText(c *client.Client) {
	if !c.Exposed() || p.warned {
		return
	}
	p.warned = true
	p.notef("Warning: the connection to %s is not encrypted; others on the network can read your token. "+
		"If the server uses TLS, add --tls, or --ca if it has its own certificate authority.", c.Target())
}

// logIn makes the client act for the user's account, and creates it if there is none.
func (p *program) logIn(ctx context.Context, c *client.Client) error {
	p.warnExposed(c)
	names := client.NumberedName(loginName(p))
	switch {
	case p.flags.name != "":
		names = client.OneName(p.flags.name)
	case p.terminal(p.in) && !p.flags.json:
		names = p.askName
	}
	cred, notice, err := client.LogIn(ctx, c, p.store, names)
	if err != nil {
		return err
	}
	if notice != "" && !p.fresh {
		p.notef("%s", notice)
	} else if p.flags.name != "" && p.flags.name != cred.Name {
		p.notef("You are %s on this server; --name is only for a new account.", cred.Name)
	}
	return nil
}

// loginName returns the user's name on this machine.
func loginName(p *program) string {
	if name := cmp.Or(p.getenv("USER"), p.getenv("LOGNAME"), p.getenv("USERNAME")); name != "" {
		return name
	}
	if u, err := user.Current(); err == nil {
		return u.Username
	}
	return ""
}

// askName asks for a name on the terminal. It implements client.NameSource.
func (p *program) askName(ctx context.Context, _ int, refused error) (string, error) {
	if refused != nil {
		p.notef("%s", refused)
	}
	suggestion := client.FitName(loginName(p))
	fmt.Fprintf(p.err, "Your name on %s [%s]: ", p.server(), suggestion)
	text, err := p.readLine(ctx)
	switch {
	case err == nil:
		return cmp.Or(text, suggestion), nil
	case errors.Is(err, io.EOF):
		err = errors.New("no name was given")
	}
	fmt.Fprintln(p.err)
	return "", err
}

// known makes the client act for the account that is stored for its server. It returns
// an error if there is none, or if the server does not know it.
func (p *program) known(ctx context.Context, c *client.Client) (*pb.Player, error) {
	if p.over != nil {
		return p.over.known(ctx)
	}
	cred, found, err := p.store.Load(c.Target())
	if err != nil {
		return nil, err
	}
	if !found || cred.Token == "" {
		return nil, missingf("you have no account on %s yet. Create one: %s login <name>", c.Target(), name)
	}
	p.warnExposed(c)
	player, err := client.Restore(ctx, c, p.store)
	if err == nil && player == nil {
		return nil, missingf("%s no longer knows your account %s. Create a new one: %s login <name>",
			c.Target(), client.CleanName(cred.Name), name)
	}
	return player, err
}

// resolve returns the id of a game from the id, or the beginning of one, that the user
// gave. It also searches the user's own games.
func (p *program) resolve(ctx context.Context, c *client.Client, text string) (string, error) {
	if whole := strings.ToLower(strings.TrimSpace(text)); id.Valid(whole) {
		return whole, nil
	}
	if c.PlayerID() == "" {
		var missing *missingError
		if _, err := p.known(ctx, c); err == nil {
			defer c.SetToken("")
		} else if !errors.As(err, &missing) {
			return "", err
		}
	}
	return c.Resolve(ctx, text)
}

// game returns the game that the user means, as it is now.
func (p *program) game(ctx context.Context, c *client.Client, text string) (client.Game, error) {
	whole, err := p.resolve(ctx, c, text)
	if err != nil {
		return client.Game{}, err
	}
	return c.Game(ctx, whole)
}

// player returns the player with a name, which may have an @ before it.
func (p *program) player(ctx context.Context, c *client.Client, text string) (*pb.Player, error) {
	called := strings.TrimSpace(strings.TrimPrefix(text, atPlayer))
	if called == "" {
		return nil, usage.Errorf("a player is given by name, such as %sada", atPlayer)
	}
	player, err := c.PlayerByName(ctx, called)
	switch {
	case errors.Is(err, client.ErrPlayerNotFound):
		return nil, missingf("there is no player %q. Names are in the lists of %s and %s", clean(called, maxNameShown),
			cmp.Or(p.typed("games", "--status", "all"), p.typed("games")), p.typed("top"))
	case errors.Is(err, client.ErrInvalid):
		return nil, fmt.Errorf("the server at %s is too old to find players by name", c.Target())
	}
	return player, err
}

// atPlayer begins an argument that names a player instead of a game.
const atPlayer = "@"

// maxNameShown is how much of a name that is not known is repeated.
const maxNameShown = 40

// variant returns the variant of that id.
func (p *program) variant(ctx context.Context, c *client.Client, text string) (*pb.Variant, error) {
	reply, err := c.Games.ListVariants(ctx, &pb.ListVariantsRequest{})
	if err != nil {
		return nil, err
	}
	for _, v := range reply.GetVariants() {
		if v.GetId() == text {
			return v, nil
		}
	}
	return nil, missingf("there is no variant %q; %s lists them", text, p.typed("variants"))
}
