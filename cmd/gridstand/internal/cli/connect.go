package cli

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"io"
	"os/user"
	"strings"

	"google.golang.org/grpc"

	"github.com/gridstand/gridstand/client"
	"github.com/gridstand/gridstand/cmd/gridstand/internal/tui/ui"
	"github.com/gridstand/gridstand/internal/id"
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
func (p *program) usesTLS() bool { return p.flags.tls || p.flags.ca != "" || p.flags.cert != "" }

// clientConfig returns the client's configuration for the server.
func (p *program) clientConfig() client.Config {
	return client.Config{
		Target: p.server(), TLS: p.flags.tls, CAFile: p.flags.ca,
		CertFile: p.flags.cert, KeyFile: p.flags.key,
		UserAgent: name + "/" + version.Version, DialOptions: dialOptions,
	}
}

// dialOptions are additional options of connections. Only tests set them.
var dialOptions []grpc.DialOption

// dial returns a client that connects on its first call. Except over SSH, the client is not
// logged in, since reading requires no account. The caller must call disconnect.
func (p *program) dial() (c *client.Client, disconnect func(), err error) {
	if p.over != nil {
		return p.over.client, func() {}, nil // The host closes the client.
	}
	c, err = client.Dial(p.clientConfig())
	if err != nil {
		return nil, nil, usage.Wrap(err)
	}
	return c, func() { _ = c.Close() }, nil
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
	p.warnExposed(c)
	_, found, _ := p.store.Load(c.Target())
	unasked := false
	var cred client.Credential
	var notice string
	var err error
	switch {
	case p.flags.name != "":
		cred, notice, err = client.LogInAs(ctx, c, p.store, p.flags.name)
	case p.terminal(p.in) && !p.flags.json:
		cred, notice, err = client.LogIn(ctx, c, p.store, p.askName)
	default:
		unasked = !found
		cred, notice, err = client.LogIn(ctx, c, p.store, client.NumberedName(loginName(p)))
	}
	if err != nil {
		return err
	}
	if notice != "" && !p.fresh {
		p.notef("%s", notice)
	} else if unasked && !p.fresh {
		p.notef("You are %s. The name is permanent; to choose your own: %s", client.CleanName(cred.Name), p.typed("login", "<name>", "--replace"))
	} else if p.flags.name != "" && p.flags.name != cred.Name {
		p.notef("You already have the account %s on this server; --name is only for a new account.", cred.Name)
	}
	return nil
}

// logInUnless is like logIn, but does not create an account if refused is not nil: it then
// returns refused, the reason for which a new account could not do what the user wants.
func (p *program) logInUnless(ctx context.Context, c *client.Client, refused error) error {
	if refused == nil {
		return p.logIn(ctx, c)
	}
	_, err := p.known(ctx, c)
	var missing *missingError
	if errors.As(err, &missing) {
		return refused
	}
	return err
}

// loginName returns the user's login name on this machine.
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
func (p *program) askName(ctx context.Context, attempt int, refused error) (string, error) {
	if refused != nil {
		p.notef("%s", refused)
	}
	n := 1
	if errors.Is(refused, client.ErrNameTaken) {
		n = attempt
	}
	suggestion := ui.SuggestName(loginName(p), n)
	fmt.Fprintf(p.err, "Your permanent name on %s [%s]: ", p.server(), suggestion)
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

// known logs the client in to the account stored for its server. It returns an error if no
// account is stored or the server does not know it.
func (p *program) known(ctx context.Context, c *client.Client) (*pb.Player, error) {
	if p.over != nil {
		return p.over.known(ctx)
	}
	cred, found, err := p.store.Load(c.Target())
	if err != nil {
		return nil, err
	}
	if !found || cred.Token == "" {
		return nil, missingf("you have no account on %s yet. Create one: %s", c.Target(), p.typed("login", "<name>"))
	}
	p.warnExposed(c)
	player, err := client.Restore(ctx, c, p.store)
	if err == nil && player == nil {
		return nil, missingf("%s no longer knows your account %s. Create a new account: %s",
			c.Target(), client.CleanName(cred.Name), p.typed("login", "<name>"))
	}
	return player, err
}

// resolve returns the full id for a game id, or for a prefix of one, that the user entered.
// It also searches the user's own games.
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
	whole, err := c.Resolve(ctx, text)
	if errors.Is(err, client.ErrGameNotFound) {
		if found := dailyAttempt(ctx, c, strings.ToLower(strings.TrimSpace(text))); found != "" {
			return found, nil
		}
	}
	return whole, err
}

// dailyAttempt returns the id of the only attempt at today's or yesterday's daily game
// whose id begins with prefix, or "". It searches the first page of each game's standings,
// because the games that Resolve searches do not always include finished attempts.
func dailyAttempt(ctx context.Context, c *client.Client, prefix string) string {
	found := ""
	date := ""
	for range 2 {
		reply, err := getChallenge(ctx, c, &pb.GetChallengeRequest{Daily: &pb.DailyRequest{Date: date}})
		if err != nil {
			break // There may have been no daily game yesterday.
		}
		date = dayBefore(reply)
		page, err := c.Challenges.ListStandings(ctx, &pb.ListStandingsRequest{
			ChallengeId: reply.GetChallenge().GetId(), PageSize: maxPage,
		})
		if err != nil {
			break
		}
		for _, s := range page.GetStandings() {
			switch one := s.GetGameId(); {
			case !id.Valid(one) || !strings.HasPrefix(one, prefix) || one == found:
			case found != "":
				return ""
			default:
				found = one
			}
		}
	}
	return found
}

// game returns the current state of the game given by the user.
func (p *program) game(ctx context.Context, c *client.Client, text string) (client.Game, error) {
	whole, err := p.resolve(ctx, c, text)
	if err != nil {
		return client.Game{}, err
	}
	return asPlayer(ctx, p, c, func() (client.Game, error) { return c.Game(ctx, whole) })
}

// asPlayer calls read. If that fails because the game is a hidden attempt, it logs in to
// the user's account and calls read again.
func asPlayer[T any](ctx context.Context, p *program, c *client.Client, read func() (T, error)) (T, error) {
	found, err := read()
	if errors.Is(err, client.ErrChallengeOpen) && c.PlayerID() == "" {
		if _, missing := p.known(ctx, c); missing == nil {
			return read()
		}
	}
	return found, err
}

// player returns the player with the given name, which may be prefixed with @.
func (p *program) player(ctx context.Context, c *client.Client, text string) (*pb.Player, error) {
	called := strings.TrimSpace(strings.TrimPrefix(text, atPlayer))
	if called == "" {
		return nil, usage.Errorf("give the name of a player, such as %sada", atPlayer)
	}
	player, err := c.PlayerByName(ctx, called)
	switch {
	case errors.Is(err, client.ErrPlayerNotFound):
		return nil, missingf("there is no player %q. To see names, run %s or %s", clean(called, maxNameShown),
			cmp.Or(p.typed("games", "--status", "all"), p.typed("games")), p.typed("top"))
	case errors.Is(err, client.ErrInvalid):
		return nil, fmt.Errorf("the server at %s is too old to find players by name", c.Target())
	}
	return player, err
}

// atPlayer is the prefix of an argument that names a player instead of a game.
const atPlayer = "@"

// maxNameShown is the maximum length of an unknown name in messages.
const maxNameShown = 40

// variant returns the variant with the given id.
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
	return nil, &missingError{&variantError{
		id: clean(text, 26), list: p.typed("variants"), meant: didYouMean(reply.GetVariants(), text),
	}}
}

// variantError is the error for a variant that does not exist.
type variantError struct {
	// id is the variant, safe for a terminal. list is the command that lists all variants.
	id, list string
	// meant suggests a variant that id resembles, as the end of a message; it may be empty.
	meant string
}

func (e *variantError) Error() string {
	return fmt.Sprintf("there is no variant %q; %s lists them%s", e.id, e.list, e.meant)
}

// didYouMean returns the sentence that suggests the variant that id resembles, or "".
func didYouMean(variants []*pb.Variant, id string) string {
	var names []string
	for _, v := range variants {
		names = append(names, v.GetId())
	}
	if meant := usage.Similar(names, id); meant != "" {
		return ". Did you mean " + clean(meant, 26) + "?"
	}
	return ""
}
