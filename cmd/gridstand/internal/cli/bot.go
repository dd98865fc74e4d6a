package cli

import (
	"context"
	"errors"
	"slices"
	"strings"
	"time"

	"github.com/spf13/cobra"

	"github.com/gridstand/gridstand/client"
	"github.com/gridstand/gridstand/cmd/gridstand/internal/solver"
	"github.com/gridstand/gridstand/internal/usage"
	pb "github.com/gridstand/gridstand/proto/gridstand/v1"
)

func (p *program) botCommand() *cobra.Command {
	var think time.Duration
	cmd := &cobra.Command{
		Use:   "bot <name> <game>",
		Short: "Let a bot play one of your games to its end",
		Long: `Let a bot on this machine play one of your games to its end, in your seats, and
print the result. The game then does not count for the leaderboard. To let it
play a new one:

    ` + name + ` bot greedy $(` + name + ` new classic)

Bots of 2048: ` + strings.Join(solver.Names(defaultVariant), ", ") + `.
Bots of Tribolo: ` + strings.Join(solver.Names("tribolo"), ", ") + `.`,
		RunE: func(cmd *cobra.Command, args []string) error {
			if think < 0 {
				return usage.Errorf("--think must not be negative")
			}
			return p.onGame(func(ctx context.Context, c *client.Client, g client.Game) error {
				return p.bot(ctx, c, args[0], g, think)
			})(cmd, args[1:])
		},
	}
	cmd.Flags().DurationVar(&think, "think", 0, "`time` limit of the search for a move (default: the bot's own)")
	return cmd
}

// bot lets a bot play one of the user's games to its end.
func (p *program) bot(ctx context.Context, c *client.Client, bot string, g client.Game, think time.Duration) error {
	if names := solver.Names(g.GetVariant()); !slices.Contains(names, bot) {
		return usage.Errorf("the bots of %s are %s, not %q",
			variantOf(g.Game), strings.Join(names, ", "), clean(bot, 24))
	}
	s, err := solver.New(g.GetVariant(), g.GetRulesRevision(), bot, think)
	if err != nil {
		return err
	}
	limited := false
	ctx = client.WithOnRetry(ctx, func(_ int, wait time.Duration, err error) {
		if errors.Is(err, client.ErrRateLimited) {
			if limited {
				return // a fast bot reaches the rate limit every second
			}
			limited = true
		}
		p.noteRetry(wait, err)
	})
	g, err = c.Seat(g).Play(ctx, g, func(ctx context.Context, g client.Game) (client.Move, error) {
		m, err := s.Choose(ctx, g.GetPosition(), g.GetSeats())
		switch {
		case err != nil:
			return client.Move{}, err
		case m.Direction != 0:
			return client.Slide(pb.Direction(m.Direction)), nil
		default:
			return client.Jump(&pb.Cell{X: m.Cell.X, Y: m.Cell.Y}), nil
		}
	})
	if err != nil {
		return err
	}
	return p.printGame(g.Game, p.stage(g.Game))
}
