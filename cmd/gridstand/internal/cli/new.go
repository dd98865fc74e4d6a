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
			g, err := p.newGame(ctx, c, cmp.Or(first(args), defaultVariant), o)
			if err != nil {
				return err
			}
			return p.printEither(g, "%s\n", g.GetId())
		}),
	}
	o.add(cmd)
	return cmd
}

// newGame creates a game of a variant. It creates an account only if the variant and the options are
// valid.
func (p *program) newGame(ctx context.Context, c *client.Client, variant string, o gameFlags) (client.Game, error) {
	p.warnExposed(c) // even if the check of the variant fails, perhaps for lack of TLS
	v, err := p.variant(ctx, c, variant)
	if err != nil {
		return client.Game{}, err
	}
	options, err := p.options(ctx, c, v, o)
	if err != nil {
		return client.Game{}, err
	}
	if err := p.logIn(ctx, c); err != nil {
		return client.Game{}, err
	}
	return orGiveUp(ctx, p, "create the game", func(ctx context.Context) (client.Game, error) { return c.NewGame(ctx, v.GetId(), options) })
}
