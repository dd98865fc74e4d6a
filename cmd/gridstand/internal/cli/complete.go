package cli

import (
	"context"
	"slices"
	"strings"
	"time"

	"github.com/spf13/cobra"
	"github.com/spf13/pflag"

	"github.com/gridstand/gridstand/client"
	"github.com/gridstand/gridstand/cmd/gridstand/internal/solver"
	"github.com/gridstand/gridstand/cmd/gridstand/internal/tui/gamestate"
	pb "github.com/gridstand/gridstand/proto/gridstand/v1"
)

// completeTimeout is how long a shell waits at most. Tests change it.
var completeTimeout = time.Second

// completeVariants completes the name of a variant.
func (p *program) completeVariants(cmd *cobra.Command, args []string, _ string) ([]string, cobra.ShellCompDirective) {
	var found []string
	p.complete(cmd, args, func(ctx context.Context, c *client.Client) error {
		reply, err := c.Games.ListVariants(ctx, &pb.ListVariantsRequest{})
		for _, v := range reply.GetVariants() {
			found = append(found, cobra.CompletionWithDesc(clean(v.GetId(), 24), clean(v.GetSummary(), 100)))
		}
		return err
	})
	return found, cobra.ShellCompDirectiveNoFileComp
}

// completeGames completes the id of a live game.
func (p *program) completeGames(cmd *cobra.Command, args []string, _ string) ([]string, cobra.ShellCompDirective) {
	return p.completeGamesAt(cmd, args, pb.GameStatus_GAME_STATUS_ACTIVE)
}

// completeWaiting completes the id of a game that waits for players.
func (p *program) completeWaiting(cmd *cobra.Command, args []string, _ string) ([]string, cobra.ShellCompDirective) {
	return p.completeGamesAt(cmd, args, pb.GameStatus_GAME_STATUS_WAITING)
}

func (p *program) completeGamesAt(cmd *cobra.Command, args []string, at pb.GameStatus) ([]string, cobra.ShellCompDirective) {
	var found []string
	p.complete(cmd, args, func(ctx context.Context, c *client.Client) error {
		reply, err := c.Games.ListGames(ctx, &pb.ListGamesRequest{Status: at})
		for _, g := range reply.GetGames() {
			found = append(found, cobra.CompletionWithDesc(clean(g.GetId(), 26),
				gamestate.PlayerName(g)+", "+variantOf(g)+", "+comma(gamestate.HighestScore(g))))
		}
		return err
	})
	return found, cobra.ShellCompDirectiveNoFileComp
}

// completePlayers completes the name of a player of a live game.
func (p *program) completePlayers(cmd *cobra.Command, args []string, _ string) ([]string, cobra.ShellCompDirective) {
	var found []string
	p.complete(cmd, args, func(ctx context.Context, c *client.Client) error {
		reply, err := c.Games.ListGames(ctx, &pb.ListGamesRequest{Status: pb.GameStatus_GAME_STATUS_ACTIVE})
		for _, g := range reply.GetGames() {
			for _, seat := range g.GetSeats() {
				if seat.GetPlayer() == nil {
					continue
				}
				if called := client.CleanName(seat.GetPlayer().GetName()); !slices.Contains(found, called) {
					found = append(found, called)
				}
			}
		}
		return err
	})
	return found, cobra.ShellCompDirectiveNoFileComp
}

// complete asks the server for the values of an argument or flag. Errors are not
// shown to the shell.
func (p *program) complete(cmd *cobra.Command, args []string, ask func(context.Context, *client.Client) error) {
	if len(args) > 0 {
		return
	}
	c, hangUp, err := p.dial()
	if err != nil {
		return
	}
	defer hangUp()
	ctx, cancel := context.WithTimeout(cmd.Context(), completeTimeout)
	defer cancel()
	_ = ask(ctx, c)
}

// fixedCompletion completes a flag by a list.
func fixedCompletion(cmd *cobra.Command, flag string, values ...string) {
	_ = cmd.RegisterFlagCompletionFunc(flag, cobra.FixedCompletions(values, cobra.ShellCompDirectiveNoFileComp))
}

// completeSeats completes the last of the seats with the players that are possible in
// the variant before it.
func completeSeats(_ *cobra.Command, args []string, typed string) ([]string, cobra.ShellCompDirective) {
	variant := defaultVariant
	if len(args) > 0 {
		variant = args[len(args)-1]
	}
	before := typed[:strings.LastIndexByte(typed, ',')+1]
	var found []string
	for _, who := range append([]string{"me", "open"}, solver.Names(variant)...) {
		found = append(found, before+who)
	}
	return found, cobra.ShellCompDirectiveNoFileComp | cobra.ShellCompDirectiveNoSpace
}

// completeNoFiles keeps shells from completing file names for the flags of a command,
// and of every command below it, except for flags that are files.
func completeNoFiles(cmd *cobra.Command) {
	cmd.LocalFlags().VisitAll(func(f *pflag.Flag) {
		if kind, _ := pflag.UnquoteUsage(f); kind != "file" {
			_ = cmd.RegisterFlagCompletionFunc(f.Name, cobra.NoFileCompletions) // It fails for those that have one.
		}
	})
	for _, below := range cmd.Commands() {
		completeNoFiles(below)
	}
}
