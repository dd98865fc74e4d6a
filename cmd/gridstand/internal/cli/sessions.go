package cli

import (
	"context"
	"errors"

	"github.com/spf13/cobra"

	"github.com/gridstand/gridstand/client"
	pb "github.com/gridstand/gridstand/proto/gridstand/v1"
)

func (p *program) linkCommand() *cobra.Command {
	return &cobra.Command{
		Use:   "link",
		Short: "Print a link that continues in a browser",
		Long: `Print a link that opens your account in a browser. It works once, for ten
minutes, unless you print another. The browser can play, watch and rename, but
not change the token or SSH keys. ` + name + ` account lists the browser,
and ` + name + ` account end ends its use of the account.`,
		RunE: p.onAccount(p.printLink),
	}
}

func (p *program) endCommand() *cobra.Command {
	return &cobra.Command{
		Use:   "end <session>",
		Short: "End the use of your account by a browser",
		Long: `End the use of your account by a browser that opened a link, given by its id in
` + name + ` account. Servers may accept it for another 30 seconds.`,
		RunE: p.onAccount(p.endSession),
	}
}

// printLink prints a link that opens a session of the user's account.
func (p *program) printLink(ctx context.Context, c *client.Client, _ *pb.Player, _ []string) error {
	site := p.site(ctx, c)
	if site == "" {
		return errors.New("this server does not tell its web address, so there is no link; its operator can set --public-url")
	}
	response, err := c.Players.CreateSessionLink(ctx, &pb.CreateSessionLinkRequest{})
	if err != nil {
		return err
	}
	if p.terminal(p.out) {
		p.notef("Open this link in a browser within ten minutes. It works once; do not share it.")
	}
	return p.printEither(response, "%s/link#%s\n", site, clean(response.GetCode(), 26))
}

// printSessions prints the browsers that use the user's account, if there are any.
func (p *program) printSessions(ctx context.Context, c *client.Client) error {
	reply, err := c.Players.ListSessions(ctx, &pb.ListSessionsRequest{})
	if err != nil || len(reply.GetSessions()) == 0 {
		return err
	}
	return list[*pb.Session]{
		title:   "\n",
		all:     reply.GetSessions(),
		columns: []string{"SESSION", "OPENED", "BROWSER"},
		row: func(s *pb.Session) []string {
			return []string{clean(s.GetId(), 26), p.ago(s.GetCreateTime()), clean(s.GetComment(), maxKeyComment)}
		},
	}.print(p)
}

// endSession ends the session of the user's account whose id is the argument.
func (p *program) endSession(ctx context.Context, c *client.Client, _ *pb.Player, args []string) error {
	if _, err := c.Players.EndSession(ctx, &pb.EndSessionRequest{SessionId: args[0]}); err != nil {
		return err
	}
	return p.printEither(&pb.Session{Id: args[0]}, "ended %s\n", clean(args[0], 26))
}
