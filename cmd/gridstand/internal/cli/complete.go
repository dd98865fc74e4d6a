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
	"github.com/gridstand/gridstand/internal/describe"
	pb "github.com/gridstand/gridstand/proto/gridstand/v1"
)

// completeTimeout limits how long a shell waits for completions. Tests change it.
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

// completeWaiting completes the id of a game that is waiting for players.
func (p *program) completeWaiting(cmd *cobra.Command, args []string, _ string) ([]string, cobra.ShellCompDirective) {
	return p.completeGamesAt(cmd, args, pb.GameStatus_GAME_STATUS_WAITING)
}

// completeFinished completes the id of a finished game.
func (p *program) completeFinished(cmd *cobra.Command, args []string, _ string) ([]string, cobra.ShellCompDirective) {
	return p.completeGamesAt(cmd, args, pb.GameStatus_GAME_STATUS_FINISHED)
}

// completeJoinable completes the id of a challenge or of a game that is waiting for
// players.
func (p *program) completeJoinable(cmd *cobra.Command, args []string, typed string) ([]string, cobra.ShellCompDirective) {
	games, directive := p.completeWaiting(cmd, args, typed)
	challenges, _ := p.completeChallenges(cmd, args, typed)
	return append(games, challenges...), directive
}

// completeChallenges completes the id of a challenge that is not closed, or "daily".
func (p *program) completeChallenges(cmd *cobra.Command, args []string, _ string) ([]string, cobra.ShellCompDirective) {
	var found []string
	p.complete(cmd, args, func(ctx context.Context, c *client.Client) error {
		found = append(found, cobra.CompletionWithDesc(dailyWord, "today's game"))
		reply, err := c.Challenges.ListChallenges(ctx, &pb.ListChallengesRequest{})
		for _, one := range reply.GetChallenges() {
			if one.GetStatus() != pb.ChallengeStatus_CHALLENGE_STATUS_CLOSED {
				found = append(found, cobra.CompletionWithDesc(clean(one.GetId(), 26), titleOf(one)))
			}
		}
		return err
	})
	return found, cobra.ShellCompDirectiveNoFileComp
}

// completeBots completes the name of a bot that plays 2048.
func (p *program) completeBots(*cobra.Command, []string, string) ([]string, cobra.ShellCompDirective) {
	return solver.Names(defaultVariant), cobra.ShellCompDirectiveNoFileComp
}

func (p *program) completeGamesAt(cmd *cobra.Command, args []string, at pb.GameStatus) ([]string, cobra.ShellCompDirective) {
	var found []string
	p.complete(cmd, args, func(ctx context.Context, c *client.Client) error {
		reply, err := c.Games.ListGames(ctx, &pb.ListGamesRequest{Status: at})
		for _, g := range reply.GetGames() {
			found = append(found, cobra.CompletionWithDesc(clean(g.GetId(), 26),
				gamestate.PlayerName(g)+", "+variantOf(g)+", "+describe.Comma(gamestate.HighestScore(g))))
		}
		return err
	})
	return found, cobra.ShellCompDirectiveNoFileComp
}

// completePlayers completes the name of a player in a live game.
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

// complete connects to the server and calls ask to fetch the completions of an argument or
// flag. It ignores errors, because the shell would not show them.
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

// fixedCompletion registers a fixed list of values as the completions of a flag.
func fixedCompletion(cmd *cobra.Command, flag string, values ...string) {
	_ = cmd.RegisterFlagCompletionFunc(flag, cobra.FixedCompletions(values, cobra.ShellCompDirectiveNoFileComp))
}

// completeSeats completes the last seat in --seats with the occupants that the variant
// allows. The variant is the last argument, or the default variant if there are no
// arguments.
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

// completeNoFiles prevents shells from completing file names for the flags of a command
// and its subcommands, except flags that take files.
func completeNoFiles(cmd *cobra.Command) {
	cmd.LocalFlags().VisitAll(func(f *pflag.Flag) {
		if kind, _ := pflag.UnquoteUsage(f); kind != "file" {
			_ = cmd.RegisterFlagCompletionFunc(f.Name, cobra.NoFileCompletions) // fails if the flag already has a completion, which is kept
		}
	})
	for _, below := range cmd.Commands() {
		completeNoFiles(below)
	}
}
