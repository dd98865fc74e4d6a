package cli

import (
	"context"
	"time"

	"github.com/spf13/cobra"
	"github.com/spf13/pflag"

	"github.com/gridstand/gridstand/client"
	"github.com/gridstand/gridstand/cmd/gridstand/internal/tui/gamestate"
	"github.com/gridstand/gridstand/internal/describe"
	pb "github.com/gridstand/gridstand/proto/gridstand/v1"
)

// completeTimeout limits how long a shell waits for completions. Tests change it.
var completeTimeout = time.Second

// completeVariants completes the name of a variant.
func (p *program) completeVariants(cmd *cobra.Command, args []string, _ string) ([]string, cobra.ShellCompDirective) {
	return p.complete(cmd, args, func(ctx context.Context, c *client.Client) (found []string) {
		reply, _ := c.Games.ListVariants(ctx, &pb.ListVariantsRequest{})
		for _, v := range reply.GetVariants() {
			found = append(found, cobra.CompletionWithDesc(clean(v.GetId(), 24), clean(v.GetSummary(), 100)))
		}
		return found
	})
}

// completeGames returns a function that completes the id of a game with a status.
func (p *program) completeGames(status pb.GameStatus) cobra.CompletionFunc {
	return func(cmd *cobra.Command, args []string, _ string) ([]string, cobra.ShellCompDirective) {
		return p.complete(cmd, args, func(ctx context.Context, c *client.Client) (found []string) {
			reply, _ := c.Games.ListGames(ctx, &pb.ListGamesRequest{Status: status})
			for _, g := range reply.GetGames() {
				found = append(found, cobra.CompletionWithDesc(clean(g.GetId(), 26),
					gamestate.PlayerName(g)+", "+variantOf(g)+", "+describe.Comma(gamestate.HighestScore(g))))
			}
			return found
		})
	}
}

// completeJoinable completes the id of a challenge or of a game that is waiting for
// players.
func (p *program) completeJoinable(cmd *cobra.Command, args []string, typed string) ([]string, cobra.ShellCompDirective) {
	games, directive := p.completeGames(pb.GameStatus_GAME_STATUS_WAITING)(cmd, args, typed)
	challenges, _ := p.completeChallenges(cmd, args, typed)
	return append(games, challenges...), directive
}

// completeChallenges completes the id of a challenge that is not closed, or "daily".
func (p *program) completeChallenges(cmd *cobra.Command, args []string, _ string) ([]string, cobra.ShellCompDirective) {
	return p.complete(cmd, args, func(ctx context.Context, c *client.Client) (found []string) {
		found = append(found, cobra.CompletionWithDesc(dailyWord, "today's game"))
		reply, _ := c.Challenges.ListChallenges(ctx, &pb.ListChallengesRequest{})
		for _, one := range reply.GetChallenges() {
			if one.GetStatus() != pb.ChallengeStatus_CHALLENGE_STATUS_CLOSED {
				found = append(found, cobra.CompletionWithDesc(clean(one.GetId(), 26), titleOf(one)))
			}
		}
		return found
	})
}

// completeRankings completes what has a ranking: a variant, a challenge, or "daily".
func (p *program) completeRankings(cmd *cobra.Command, args []string, typed string) ([]string, cobra.ShellCompDirective) {
	variants, directive := p.completeVariants(cmd, args, typed)
	challenges, _ := p.completeChallenges(cmd, args, typed)
	return append(variants, challenges...), directive
}

// complete connects to the server and calls ask, which returns the completions of an argument
// or a flag. ask ignores errors, because the shell would not show them.
func (p *program) complete(
	cmd *cobra.Command, args []string, ask func(context.Context, *client.Client) []string,
) ([]string, cobra.ShellCompDirective) {
	if len(args) > 0 {
		return nil, cobra.ShellCompDirectiveNoFileComp
	}
	c, err := p.dial()
	if err != nil {
		return nil, cobra.ShellCompDirectiveNoFileComp
	}
	ctx, cancel := context.WithTimeout(cmd.Context(), completeTimeout)
	defer cancel()
	return ask(ctx, c), cobra.ShellCompDirectiveNoFileComp
}

// completeFlag completes a flag as complete completes the first argument.
func completeFlag(cmd *cobra.Command, flag string, complete cobra.CompletionFunc) {
	_ = cmd.RegisterFlagCompletionFunc(flag, func(cmd *cobra.Command, _ []string, typed string) ([]string, cobra.ShellCompDirective) {
		return complete(cmd, nil, typed)
	})
}

// fixedCompletion registers a fixed list of values as the completions of a flag.
func fixedCompletion(cmd *cobra.Command, flag string, values ...string) {
	_ = cmd.RegisterFlagCompletionFunc(flag, cobra.FixedCompletions(values, cobra.ShellCompDirectiveNoFileComp))
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
