package cli

import (
	"cmp"
	"context"
	"strconv"
	"strings"

	"github.com/spf13/cobra"

	"github.com/gridstand/gridstand/client"
	"github.com/gridstand/gridstand/internal/usage"
	pb "github.com/gridstand/gridstand/proto/gridstand/v1"
)

func (p *program) moveCommand() *cobra.Command {
	var version int32
	var bot bool
	cmd := &cobra.Command{
		Use:   "move <game> <direction>|<x,y>",
		Short: "Make a move",
		Long: `Make a move in one of your games: up, down, left or right, or in Tribolo the
column and the row of a cell, such as 12,4 or c,4. It prints the resulting
board. If a program chooses the moves, you must pass --bot; the game then does
not count for the leaderboard.`,
		RunE: func(cmd *cobra.Command, args []string) error {
			m, ok := parseMove(args[1])
			if !ok {
				return usage.Errorf("a move must be up, down, left, right or a cell such as 12,4, not %q", args[1])
			}
			if cmd.Flags().Changed("version") && version < 1 {
				return usage.Errorf("--version must be 1 or more")
			}
			return p.act("make the move", func(ctx context.Context, c *client.Client, g client.Game) (*pb.Event, error) {
				return c.Seat(g).Move(ctx, cmp.Or(version, g.GetVersion()), m, bot)
			})(cmd, args)
		},
	}
	cmd.Flags().Int32Var(&version, "version", 0, "`version` of the game that the move is for (default: the current one)")
	cmd.Flags().BoolVar(&bot, "bot", false, "declare that a program chose this move")
	return cmd
}

// parseMove parses a direction or a cell.
func parseMove(text string) (client.Move, bool) {
	if d := pb.Direction(pb.Direction_value["DIRECTION_"+strings.ToUpper(text)]); d != pb.Direction_DIRECTION_UNSPECIFIED {
		return client.Slide(d), true
	}
	x, y, ok := strings.Cut(text, ",")
	if !ok {
		return client.Move{}, false
	}
	column, okX := coordinate(x)
	row, okY := coordinate(y)
	return client.Jump(&pb.Cell{X: column, Y: row}), okX && okY
}

// coordinate parses a number, or a letter that labels column 10 or higher.
func coordinate(text string) (int32, bool) {
	text = strings.ToLower(strings.TrimSpace(text))
	if len(text) == 1 && text[0] >= 'a' && text[0] <= 'f' {
		return int32(text[0]-'a') + 10, true
	}
	n, err := strconv.ParseInt(text, 10, 16)
	return int32(n), err == nil && n >= 0
}

func (p *program) resignCommand() *cobra.Command {
	return &cobra.Command{
		Use: "resign <game>", Short: "Give up a game, so that its score counts",
		RunE: p.act("resign the game", func(ctx context.Context, c *client.Client, g client.Game) (*pb.Event, error) {
			return c.Resign(ctx, g)
		}),
	}
}

// onGame is like onReference, for a command that acts in the user's game.
func (p *program) onGame(run func(ctx context.Context, c *client.Client, g client.Game) error) runner {
	return p.onReference(func(ctx context.Context, c *client.Client, r reference) error {
		if _, err := p.known(ctx, c); err != nil {
			return err
		}
		g, err := p.game(ctx, c, r)
		if err != nil {
			return err
		}
		return run(ctx, c, g)
	})
}

// act returns the action of a command that acts in the user's game. It runs do, and prints the resulting board
// or, with --json, the event. what says what do does, as in orGiveUp.
func (p *program) act(what string, do func(context.Context, *client.Client, client.Game) (*pb.Event, error)) runner {
	return p.onGame(func(ctx context.Context, c *client.Client, g client.Game) error {
		e, err := orGiveUp(ctx, p, what, func(ctx context.Context) (*pb.Event, error) { return do(ctx, c, g) })
		switch {
		case err != nil:
			return err
		case p.flags.json:
			return p.printMessage(e)
		}
		g = asOf(g, e.GetVersion()-1)
		return p.printUpdate(&g, client.Update{Event: e})
	})
}
