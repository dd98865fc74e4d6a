package cli

import (
	"cmp"
	"context"
	"errors"
	"io"
	"slices"
	"strings"

	"github.com/spf13/cobra"

	"github.com/gridstand/gridstand/client"
	"github.com/gridstand/gridstand/cmd/gridstand/internal/tui/ui"
	"github.com/gridstand/gridstand/cmd/gridstand/internal/tui/watch"
	"github.com/gridstand/gridstand/internal/describe"
	"github.com/gridstand/gridstand/internal/usage"
	pb "github.com/gridstand/gridstand/proto/gridstand/v1"
)

func (p *program) watchCommand() *cobra.Command {
	var from int32
	var wall bool
	cmd := &cobra.Command{
		Use:   "watch [game|@player|link]...",
		Short: "Watch games, a player or a race live",
		Long: `Watch a game live. Without a game it shows the most watched one, or the one with
the highest score if none is watched, and another game when it ends. Up to four
games are shown side by side if the terminal is large enough; --wall chooses the
four best. @ada means the game that the player ada is playing now. A race, given
by its id or link, shows all its boards, to its players too; ` + name + ` join
returns to your own board.

Without a terminal, or with --json or --from, it prints events until the game
ends. With @ada it continues with that player's next game until you interrupt
it. --json prints one WatchResponse per line; with --from 0 this is the
transcript that ` + name + ` verify - reads. For a challenge it prints one
WatchChallengeResponse per line until the ranking is final.`,
		ValidArgsFunction: func(cmd *cobra.Command, args []string, typed string) ([]string, cobra.ShellCompDirective) {
			if strings.HasPrefix(typed, atPlayer) {
				players, directive := p.completePlayers(cmd, nil, typed)
				for i := range players {
					players[i] = atPlayer + players[i]
				}
				return players, directive
			}
			found, directive := p.completeGames(pb.GameStatus_GAME_STATUS_ACTIVE)(cmd, nil, typed)
			return slices.DeleteFunc(found, func(game string) bool {
				id, _, _ := strings.Cut(game, "\t")
				return len(args) >= watch.MaxWall || slices.Contains(args, id)
			}), directive
		},
		RunE: func(cmd *cobra.Command, args []string) error {
			if len(args) > watch.MaxWall {
				return usage.Errorf("watch shows at most %d games", watch.MaxWall)
			}
			if wall {
				return p.watchWall(cmd, args)
			}
			var after *int32
			if cmd.Flags().Changed("from") {
				if from < 0 {
					return usage.Errorf("--from must be a version, 0 or more")
				}
				after = &from
			}
			if after == nil && !p.flags.json && p.terminal(p.out) {
				return p.watchScreen(cmd.Context(), args)
			}
			if len(args) > 1 {
				return usage.Errorf("watching several games needs a terminal; without one, or with --json or --from, name a single game")
			}
			if who := first(args); strings.HasPrefix(who, atPlayer) {
				if after != nil {
					return usage.Errorf("--from is for a single game: name it instead of %s", clean(who, maxNameShown))
				}
				return p.followLines(cmd.Context(), who)
			}
			return p.watchLines(cmd.Context(), first(args), after)
		},
	}
	cmd.Flags().BoolVar(&wall, "wall", false, "watch the four best live games")
	cmd.Flags().Int32Var(&from, "from", 0, "print every event after this `version`, 0 for all")
	return cmd
}

// watchWall shows the best live games side by side. A game that is not live does not take their
// place when one ends.
func (p *program) watchWall(cmd *cobra.Command, args []string) error {
	if len(args) > 0 || cmd.Flags().Changed("from") {
		return usage.Errorf("--wall chooses the games: omit the games and --from")
	}
	if !p.terminal(p.out) || p.flags.json {
		return usage.Errorf("--wall needs a terminal")
	}
	c, disconnect, err := p.dial()
	if err != nil {
		return err
	}
	defer disconnect()
	var ids []string
	for len(ids) < watch.MaxWall {
		g, _, err := watch.PickLive(cmd.Context(), ui.NewServer(c), ids, p.clock())
		if err != nil {
			return err
		}
		if g == nil || slices.Contains(ids, g.GetId()) {
			break
		}
		ids = append(ids, g.GetId())
	}
	_, _ = p.known(cmd.Context(), c) // as watchScreen does
	return p.show(cmd.Context(), c, ui.Route{Watch: ids, TV: len(ids) == 0}, localServer{})
}

// watchScreen shows the named games, a player's games or a challenge until the user leaves.
// If what is empty, it shows TV.
func (p *program) watchScreen(ctx context.Context, what []string) error {
	var only reference // the only argument, unless it names a player
	if len(what) == 1 && !strings.HasPrefix(what[0], atPlayer) {
		var err error
		if only, err = p.refer(what[0]); err != nil {
			return err
		}
	}
	if len(what) > 1 {
		var err error
		if what, err = p.referToGames(what); err != nil {
			return err
		}
	}
	c, disconnect, err := p.dial()
	if err != nil {
		return err
	}
	defer disconnect()
	// Log in if the user has an account, because a watcher may want to play afterwards.
	_, _ = p.known(ctx, c)
	if len(what) == 1 && strings.HasPrefix(what[0], atPlayer) {
		player, err := p.player(ctx, c, what[0])
		if err != nil {
			return err
		}
		return p.show(ctx, c, ui.Route{Follow: player.GetName()}, localServer{})
	}
	if only != (reference{}) {
		challenge, gameID, err := p.challengeOrGame(ctx, c, only)
		if err != nil {
			return err
		}
		if challenge != nil {
			return p.show(ctx, c, ui.Route{Challenge: challenge.GetId()}, localServer{})
		}
		what = []string{gameID}
	}
	var ids []string
	for _, text := range what {
		g, err := p.gameToWatch(ctx, c, text)
		if err != nil {
			return err
		}
		if !slices.Contains(ids, g.GetId()) {
			ids = append(ids, g.GetId())
		}
	}
	if len(ids) == 0 {
		if _, err := c.Games.GetServerInfo(ctx, &pb.GetServerInfoRequest{}); err != nil {
			return err // rather than show an empty screen
		}
	}
	return p.show(ctx, c, ui.Route{Watch: ids, TV: len(ids) == 0}, localServer{})
}

// watchLines prints the updates of a game or a challenge.
func (p *program) watchLines(ctx context.Context, what string, after *int32) error {
	r, c, disconnect, err := p.dialFor(what)
	if err != nil {
		return err
	}
	defer disconnect()
	var g client.Game
	if what == "" {
		g.Game, _, err = watch.PickLive(ctx, ui.NewServer(c), nil, p.clock())
		if err == nil && g.Game == nil {
			err = missingf("no game is live. Start one: %s play", name)
		}
	} else {
		var challenge *pb.Challenge
		var gameID string
		challenge, gameID, err = p.challengeOrGame(ctx, c, r)
		if challenge != nil {
			if after != nil {
				return usage.Errorf("--from is for games, but %s is a challenge", challenge.GetId())
			}
			return p.watchChallengeLines(ctx, c, challenge.GetId())
		}
		if err == nil {
			g, err = asPlayer(ctx, p, c, func() (client.Game, error) { return c.Game(ctx, gameID) })
		}
	}
	if err != nil {
		return err
	}
	if after != nil && *after > g.GetVersion() {
		return missingf("the game is only at version %s", describe.Comma(g.GetVersion()))
	}
	if after != nil {
		g = asOf(g, *after)
	}
	w := c.Watch(ctx, client.WatchOptions{GameID: g.GetId(), AfterVersion: after, EveryEvent: after != nil})
	defer w.Close()
	return p.printUpdates(&g, w)
}

// watchChallengeLines prints a challenge each time it changes, until its standings are final.
func (p *program) watchChallengeLines(ctx context.Context, c *client.Client, challengeID string) error {
	w := c.WatchChallenge(ctx, client.ChallengeWatchOptions{ChallengeID: challengeID})
	defer w.Close()
	for {
		u, err := w.Next()
		switch {
		case errors.Is(err, io.EOF):
			return nil
		case err != nil:
			return err
		case u.Snapshot == nil: // the connection was lost or restored
		case p.flags.json:
			err = p.printMessage(u.Snapshot)
		default:
			err = p.printf("%s: %s\n", describe.ChallengeStage(u.Snapshot.GetChallenge(), u.Snapshot.GetNow().AsTime()),
				standingsLine(u.Snapshot.GetStandings()))
		}
		if err != nil {
			return err
		}
	}
}

// standingsLine returns the standings in one line.
func standingsLine(standings []*pb.Standing) string {
	var all []string
	for _, s := range standings {
		all = append(all, entrantName(s)+" "+describe.Comma(s.GetScore()))
	}
	return cmp.Or(strings.Join(all, ", "), "no results yet")
}
