package cli

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"slices"
	"strings"
	"time"

	"github.com/spf13/cobra"
	"google.golang.org/protobuf/types/known/durationpb"
	"google.golang.org/protobuf/types/known/timestamppb"

	"github.com/gridstand/gridstand/client"
	"github.com/gridstand/gridstand/cmd/gridstand/internal/tui/gamestate"
	"github.com/gridstand/gridstand/cmd/gridstand/internal/tui/ui"
	"github.com/gridstand/gridstand/internal/usage"
	pb "github.com/gridstand/gridstand/proto/gridstand/v1"
)

func (p *program) raceCommand() *cobra.Command {
	var limit time.Duration
	var bots []string
	var private, now bool
	cmd := &cobra.Command{
		Use:   "race [variant]",
		Short: "Create a challenge for 2 to 8 players at once",
		Long: `Create a race in a variant of 2048 (` + defaultVariant + ` by default): 2 to 8 players
get the same tiles at the same time, and see each other's boards. The highest
score wins. The race starts 3 seconds after all players are ready or its creator
starts it.

With --now you enter a race that waits for players, also one that you are in
already, or a new one of 3 minutes in ` + defaultVariant + `, in which a bot takes part until
another player comes. It starts by itself 15 seconds after two people are in it.

Without a terminal it creates the race and prints its id; then every player,
including the creator, runs ` + name + ` join <race>, which marks them as ready,
and once more when the race has started, which prints the game to play.`,
	}
	flags := cmd.Flags()
	cmd.RunE = p.onReference(func(ctx context.Context, c *client.Client, r reference) error {
		if now {
			if flags.NArg() > 0 || flags.Changed("limit") || private || len(bots) > 0 {
				return usage.Errorf("--now enters any race: it takes no variant and no other flag of race")
			}
			return p.createChallenge(ctx, c, r, ui.NewChallenge{})
		}
		request := &pb.CreateChallengeRequest{
			Kind: pb.ChallengeKind_CHALLENGE_KIND_RACE, Private: private,
			Limit: durationpb.New(limit.Round(time.Second)),
		}
		return p.createChallenge(ctx, c, r, ui.NewChallenge{Request: request, Bots: bots})
	})
	flags.SortFlags = false
	flags.BoolVar(&now, "now", false, "enter a race that waits for players, or create one")
	flags.DurationVar(&limit, "limit", 3*time.Minute, "`time` that the race lasts, from 10s to 1h")
	flags.StringSliceVar(&bots, "bot", nil, "`names` of the server's bots to add")
	flags.BoolVar(&private, "private", false, "keep it out of lists")
	return cmd
}

func (p *program) challengeCommand() *cobra.Command {
	var limit time.Duration
	var private bool
	cmd := &cobra.Command{
		Use:   "challenge [variant|game]",
		Short: "Create a link to new tiles or a finished game's",
		Long: `Create a challenge: everyone with its link can play the same tiles for 7 days.
They are new tiles of a variant of 2048 (` + defaultVariant + ` by default), or those of a
finished game, whose score you then try to beat. Each player has one attempt.
The games of others stay hidden until you have finished yours. Since the tiles
of a finished game are known, the ranking of such a challenge proves nothing.

` + name + ` race and ` + name + ` daily are challenges, too. ` + name + ` join plays a
challenge, and ` + name + ` top shows its ranking.

Without a terminal it prints the id and the link.`,
		RunE: p.onReference(func(ctx context.Context, c *client.Client, r reference) error {
			request := &pb.CreateChallengeRequest{Kind: pb.ChallengeKind_CHALLENGE_KIND_LINK, Private: private}
			if limit != 0 {
				request.Limit = durationpb.New(limit)
			}
			return p.createChallenge(ctx, c, r, ui.NewChallenge{Request: request})
		}),
	}
	cmd.Flags().DurationVar(&limit, "limit", 0, "`time` limit for an attempt, at least 10s (default: none)")
	cmd.Flags().BoolVar(&private, "private", false, "keep it out of lists")
	return cmd
}

// createChallenge creates a challenge with new tiles of a variant (the default one if r is empty) or,
// unless it is a race, with those of a finished game; or it enters a race with others. On a terminal it opens the challenge's page;
// otherwise it prints the challenge.
func (p *program) createChallenge(ctx context.Context, c *client.Client, r reference, n ui.NewChallenge) error {
	if n.Request != nil {
		if err := p.setTiles(ctx, c, r, n); err != nil {
			return err
		}
	}
	if p.onScreen() {
		return p.showRestored(ctx, c, ui.Route{NewChallenge: &n})
	}
	if err := p.logIn(ctx, c); err != nil {
		return err
	}
	challenge, err := orGiveUp(ctx, p, "create the challenge", func(ctx context.Context) (*pb.Challenge, error) {
		return ui.NewServer(c).NewChallenge(ctx, n)
	})
	if err != nil {
		return err
	}
	lines := strings.TrimSpace(challenge.GetId() + "\n" + p.link(ctx, c, challenge.GetId()))
	return p.printEither(challenge, "%s\n", lines)
}

// setTiles sets the variant or the game from which a new challenge takes its tiles.
func (p *program) setTiles(ctx context.Context, c *client.Client, r reference, n ui.NewChallenge) (err error) {
	ofGame := func() error {
		g, err := p.game(ctx, c, r)
		if err == nil && g.GetPosition().GetTwenty48() == nil {
			return usage.Errorf("a challenge needs a game of 2048")
		}
		n.Request.Kind, n.Request.GameId = pb.ChallengeKind_CHALLENGE_KIND_REMATCH, g.GetId()
		return err
	}
	const invite = "to race somebody, send them the link of the race"
	var v *pb.Variant
	race := n.Request.GetKind() == pb.ChallengeKind_CHALLENGE_KIND_RACE
	switch {
	case race && !r.isVariant():
		return usage.Errorf("a race needs a variant; " + invite)
	case race:
		if v, err = p.variant(ctx, c, cmp.Or(r.id, defaultVariant)); isMissing(err) {
			err = fmt.Errorf("%w; %s", err, invite)
		}
	default:
		v, err = p.variantOr(ctx, c, r, "a game", ofGame)
	}
	n.Request.Variant = v.GetId()
	if v != nil && v.GetKind() != pb.Kind_KIND_TWENTY48 {
		err = usage.Errorf("a challenge needs a variant of 2048, such as %s", defaultVariant)
	}
	if most := gamestate.MaxEntrants - 1; err == nil && len(n.Bots) > most {
		err = usage.Errorf("a race has room for you and %d bots, but --bot names %d", most, len(n.Bots))
	}
	for _, bot := range n.Bots {
		if err == nil && !slices.Contains(v.GetBots(), bot) {
			err = usage.Errorf("--bot must name bots of %s (%s), not %q", clean(v.GetId(), 24), strings.Join(bots(v), ", "), clean(bot, 24))
		}
	}
	return err
}

// onScreen reports whether the command opens the terminal program.
func (p *program) onScreen() bool {
	return p.terminal(p.in) && p.terminal(p.out) && p.getenv("TERM") != "dumb" && !p.flags.json
}

// joinChallenge starts or continues the user's attempt at a challenge and prints the game. In a race
// that has not started, it marks the user as ready and prints the race instead.
func (p *program) joinChallenge(ctx context.Context, c *client.Client, challenge *pb.Challenge) error {
	if challenge.GetStatus() == pb.ChallengeStatus_CHALLENGE_STATUS_WAITING {
		reply, err := c.Challenges.JoinChallenge(ctx, &pb.JoinChallengeRequest{ChallengeId: challenge.GetId(), Ready: true})
		if err == nil {
			return p.printChallenge(ctx, c, &pb.GetChallengeResponse{Challenge: reply.GetChallenge(), Now: timestamppb.New(p.clock())})
		}
		if !errors.Is(err, client.ErrChallengeStarted) {
			return err
		}
	}
	g, err := orGiveUp(ctx, p, "start the attempt", func(ctx context.Context) (client.Game, error) {
		return c.Attempt(ctx, challenge.GetId())
	})
	if err != nil {
		return err
	}
	return p.printEither(g, "%s\n", g.GetId())
}
