package cli

import (
	"cmp"
	"context"
	"errors"

	"github.com/spf13/cobra"

	"github.com/gridstand/gridstand/client"
	"github.com/gridstand/gridstand/internal/usage"
	pb "github.com/gridstand/gridstand/proto/gridstand/v1"
)

func (p *program) newCommand() *cobra.Command {
	var o gameFlags
	var challenge string
	var wait bool
	cmd := &cobra.Command{
		Use: "new [variant]", Short: "Create a game and print its id",
		Long: `Create a game and print its id. --challenge starts your only attempt at a
challenge, or finds it. Before a race starts it exits with 3, unless --wait is
set.`,
		ValidArgsFunction: p.completeVariants,
		RunE: func(cmd *cobra.Command, args []string) error {
			switch {
			case challenge != "" && (o.set() || len(args) > 0):
				return usage.Errorf("--challenge determines the game: omit the variant, --seats, --turn-limit and --private")
			case challenge == "" && wait:
				return usage.Errorf("--wait needs --challenge")
			}
			r, c, disconnect, err := p.dialFor(challenge)
			if err != nil {
				return err
			}
			defer disconnect()
			var g client.Game
			if challenge != "" {
				g, err = p.newAttempt(cmd.Context(), r, c, wait)
			} else {
				g, err = p.newGame(cmd.Context(), c, cmp.Or(first(args), defaultVariant), o)
			}
			if err != nil {
				return err
			}
			if p.flags.json {
				return p.printMessage(g)
			}
			return p.printf("%s\n", g.GetId())
		},
	}
	o.add(cmd)
	p.addChallengeFlag(cmd, &challenge)
	cmd.Flags().BoolVar(&wait, "wait", false, "wait for the challenge to open")
	return cmd
}

// addChallengeFlag adds the flag that names a challenge.
func (p *program) addChallengeFlag(cmd *cobra.Command, challenge *string) {
	cmd.Flags().StringVar(challenge, "challenge", "", "play an attempt at a challenge: its `id`, a link, or daily")
	completeFlag(cmd, "challenge", p.completeChallenges)
}

// newAttempt starts or finds the user's attempt at a challenge.
func (p *program) newAttempt(ctx context.Context, r reference, c *client.Client, wait bool) (client.Game, error) {
	found, err := r.find(ctx, c)
	if err != nil {
		return client.Game{}, err
	}
	if err := p.logInUnless(ctx, c, admits(found.GetChallenge())); err != nil {
		return client.Game{}, err
	}
	return p.attempt(ctx, c, found.GetChallenge().GetId(), wait)
}

// newGame creates a game of a variant. It creates an account only if the variant and the options are
// valid.
func (p *program) newGame(ctx context.Context, c *client.Client, variant string, o gameFlags) (client.Game, error) {
	p.warnExposed(c) // even if the check of the variant fails, perhaps for lack of TLS
	v, err := p.variant(ctx, c, variant)
	if err != nil {
		return client.Game{}, err
	}
	options, err := o.options(v)
	if err != nil {
		return client.Game{}, err
	}
	if err := p.logIn(ctx, c); err != nil {
		return client.Game{}, err
	}
	return orGiveUp(ctx, p, "create the game", func(ctx context.Context) (client.Game, error) { return c.NewGame(ctx, v.GetId(), options) })
}

// botsGame returns the game for a bot to play: the user's attempt at challenge, or a new
// game if challenge is nil.
func (p *program) botsGame(
	ctx context.Context, c *client.Client, v *pb.Variant, options client.GameOptions, challenge *pb.Challenge,
) (client.Game, error) {
	if challenge == nil {
		return c.NewGame(ctx, v.GetId(), options)
	}
	if challenge.GetStatus() == pb.ChallengeStatus_CHALLENGE_STATUS_WAITING {
		_, err := c.Challenges.JoinChallenge(ctx, &pb.JoinChallengeRequest{ChallengeId: challenge.GetId(), Ready: true})
		if err != nil && !errors.Is(err, client.ErrChallengeStarted) {
			return client.Game{}, err
		}
	}
	return p.attempt(ctx, c, challenge.GetId(), true)
}
