package cli

import (
	"context"
	"strconv"
	"strings"

	"github.com/spf13/cobra"

	"github.com/gridstand/gridstand/client"
	"github.com/gridstand/gridstand/internal/usage"
	pb "github.com/gridstand/gridstand/proto/gridstand/v1"
)

// directions by the words for them.
var directions = map[string]pb.Direction{
	"up": pb.Direction_DIRECTION_UP, "down": pb.Direction_DIRECTION_DOWN,
	"left": pb.Direction_DIRECTION_LEFT, "right": pb.Direction_DIRECTION_RIGHT,
}

func (p *program) moveCommand() *cobra.Command {
	var version int32
	var bot bool
	cmd := &cobra.Command{
		Use:   "move <game> <direction>|<x,y>",
		Short: "Make a move, for scripts",
		Long: `Make a move in a game of yours: up, down, left or right, or in Tribolo the column
and the row of a cell, such as 12,4 or c,4. It prints the resulting board. A
program that chooses moves must say so with --bot; the game then does not count for
the leaderboard.`,
		ValidArgsFunction: func(cmd *cobra.Command, args []string, typed string) ([]string, cobra.ShellCompDirective) {
			if len(args) == 1 {
				return []string{"up", "down", "left", "right"}, cobra.ShellCompDirectiveNoFileComp
			}
			return p.completeGames(cmd, args, typed)
		},
		RunE: func(cmd *cobra.Command, args []string) error {
			m, ok := parseMove(args[1])
			if !ok {
				return usage.Errorf("a move must be up, down, left, right or a cell such as 12,4, not %q", args[1])
			}
			if cmd.Flags().Changed("version") && version < 1 {
				return usage.Errorf("--version must be 1 or more")
			}
			return p.move(cmd.Context(), args[0], m, version, bot)
		},
	}
	cmd.Flags().Int32Var(&version, "version", 0, "`version` of the game that the move is for (default: the current one)")
	cmd.Flags().BoolVar(&bot, "bot", false, "a program chose this move")
	return cmd
}

// parseMove parses a direction or a cell.
func parseMove(text string) (client.Move, bool) {
	if d, ok := directions[strings.ToLower(text)]; ok {
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

// coordinate parses a number, or one of the letters that label columns from ten on.
func coordinate(text string) (int32, bool) {
	text = strings.ToLower(strings.TrimSpace(text))
	if len(text) == 1 && text[0] >= 'a' && text[0] <= 'f' {
		return int32(text[0]-'a') + 10, true
	}
	n, err := strconv.ParseInt(text, 10, 16)
	return int32(n), err == nil && n >= 0
}

// move makes a move at a version, 0 for the current one.
func (p *program) move(ctx context.Context, what string, m client.Move, version int32, bot bool) error {
	c, hangUp, g, err := p.ownGame(ctx, what)
	if err != nil {
		return err
	}
	defer hangUp()
	if version == 0 {
		version = g.GetVersion()
	}
	e, err := c.Seat(g).Move(ctx, version, m, bot)
	if err != nil {
		return err
	}
	return p.printEvent(g, e)
}

func (p *program) resignCommand() *cobra.Command {
	return &cobra.Command{
		Use: "resign <game>", Short: "Give up a game of yours, so that its score counts",
		ValidArgsFunction: p.completeGames,
		RunE: func(cmd *cobra.Command, args []string) error {
			ctx := cmd.Context()
			c, hangUp, g, err := p.ownGame(ctx, args[0])
			if err != nil {
				return err
			}
			defer hangUp()
			e, err := c.Resign(ctx, g)
			if err != nil {
				return err
			}
			return p.printEvent(g, e)
		},
	}
}

// ownGame returns the game that the user named, and a client that acts for the user.
// The caller calls hangUp at the end.
func (p *program) ownGame(ctx context.Context, what string) (c *client.Client, hangUp func(), g client.Game, err error) {
	c, hangUp, err = p.dial()
	if err != nil {
		return nil, nil, client.Game{}, err
	}
	if _, err = p.known(ctx, c); err == nil {
		g, err = p.game(ctx, c, what)
	}
	if err != nil {
		hangUp()
		return nil, nil, client.Game{}, err
	}
	return c, hangUp, g, nil
}

// printEvent writes an event of a game as JSON, or the board after it.
func (p *program) printEvent(g client.Game, e *pb.Event) error {
	if p.flags.json {
		return p.printMessage(e)
	}
	g = asOf(g, e.GetVersion()-1)
	return p.printUpdate(&g, client.Update{Event: e})
}
