package cli

import (
	"cmp"
	"context"

	"github.com/spf13/cobra"

	"github.com/gridstand/gridstand/client"
)

func (p *program) newCommand() *cobra.Command {
	var o gameFlags
	cmd := &cobra.Command{
		Use: "new [variant]", Short: "Create a game and print its id",
		RunE: p.onServer(func(ctx context.Context, c *client.Client, args []string) error {
			p.warnExposed(c) // even if the check of the variant fails, perhaps for lack of TLS
			v, err := p.variant(ctx, c, cmp.Or(first(args), defaultVariant))
			if err != nil {
				return err
			}
			options, err := o.options(v)
			if err != nil {
				return err
			}
			if err := p.logIn(ctx, c); err != nil { // only now, since it may create an account
				return err
			}
			g, err := orGiveUp(ctx, p, "create the game", func(ctx context.Context) (client.Game, error) {
				return c.NewGame(ctx, v.GetId(), options)
			})
			if err != nil {
				return err
			}
			return p.printEither(g, "%s\n", g.GetId())
		}),
	}
	o.add(cmd)
	return cmd
}
