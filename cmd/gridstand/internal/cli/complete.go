package cli

import (
	"context"
	"time"

	"github.com/spf13/cobra"

	"github.com/gridstand/gridstand/client"
	"github.com/gridstand/gridstand/cmd/gridstand/internal/tui/gamestate"
	"github.com/gridstand/gridstand/internal/describe"
	pb "github.com/gridstand/gridstand/proto/gridstand/v1"
)

// completeTimeout limits how long a shell waits for completions. Tests change it.
var completeTimeout = time.Second

// source returns values that an argument can have. It ignores errors, because the shell
// would not show them.
type source func(context.Context, *client.Client) []string

// variantIDs returns the ids of all variants.
func variantIDs(ctx context.Context, c *client.Client) (found []string) {
	reply, _ := c.Games.ListVariants(ctx, &pb.ListVariantsRequest{})
	for _, v := range reply.GetVariants() {
		found = append(found, cobra.CompletionWithDesc(clean(v.GetId(), 24), clean(v.GetSummary(), 100)))
	}
	return found
}

// gameIDs returns the source of the ids of games with a status.
func gameIDs(status pb.GameStatus) source {
	return func(ctx context.Context, c *client.Client) (found []string) {
		reply, _ := c.Games.ListGames(ctx, &pb.ListGamesRequest{Status: status})
		for _, g := range reply.GetGames() {
			found = append(found, cobra.CompletionWithDesc(clean(g.GetId(), 26),
				gamestate.PlayerName(g)+", "+variantOf(g)+", "+describe.Comma(gamestate.HighestScore(g))))
		}
		return found
	}
}

var (
	liveGames     = gameIDs(pb.GameStatus_GAME_STATUS_ACTIVE)
	waitingGames  = gameIDs(pb.GameStatus_GAME_STATUS_WAITING)
	finishedGames = gameIDs(pb.GameStatus_GAME_STATUS_FINISHED)
)

// challengeIDs returns the ids of the challenges that are not closed, and "daily".
func challengeIDs(ctx context.Context, c *client.Client) []string {
	found := []string{cobra.CompletionWithDesc(dailyWord, "today's game")}
	reply, _ := c.Challenges.ListChallenges(ctx, &pb.ListChallengesRequest{})
	for _, one := range reply.GetChallenges() {
		if one.GetStatus() != pb.ChallengeStatus_CHALLENGE_STATUS_CLOSED {
			found = append(found, cobra.CompletionWithDesc(clean(one.GetId(), 26), titleOf(one)))
		}
	}
	return found
}

// complete completes the first argument with the values of sources.
func (p *program) complete(sources ...source) cobra.CompletionFunc {
	return func(cmd *cobra.Command, args []string, _ string) (found []string, _ cobra.ShellCompDirective) {
		c, err := p.dial()
		if len(args) > 0 || err != nil {
			return nil, cobra.ShellCompDirectiveNoFileComp
		}
		ctx, cancel := context.WithTimeout(cmd.Context(), completeTimeout)
		defer cancel()
		for _, values := range sources {
			found = append(found, values(ctx, c)...)
		}
		return found, cobra.ShellCompDirectiveNoFileComp
	}
}
