package cli

import (
	"cmp"
	"context"
	"slices"
	"strings"

	"github.com/spf13/cobra"

	"github.com/gridstand/gridstand/client"
	"github.com/gridstand/gridstand/cmd/gridstand/internal/tui/gamestate"
	"github.com/gridstand/gridstand/cmd/gridstand/internal/tui/ui"
	"github.com/gridstand/gridstand/cmd/gridstand/internal/tui/watch"
	"github.com/gridstand/gridstand/internal/convert"
	"github.com/gridstand/gridstand/internal/describe"
	"github.com/gridstand/gridstand/internal/usage"
	pb "github.com/gridstand/gridstand/proto/gridstand/v1"
)

func (p *program) watchCommand() *cobra.Command {
	var from int32
	var wall bool
	cmd := &cobra.Command{
		Use:        "watch [game|@player|link]...",
		SuggestFor: []string{"replay", "spectate", "follow"},
		Short:      "Watch games, a player or a race live",
		Long: `Watch a game live. Without a game, or with the link to a server, it shows the
most watched one, or the one with the highest score if none is watched, and
another game when it ends. Up to four games are shown side by side if the
terminal is large enough; --wall chooses the four best, and others when these
end. @ada means the game that the player ada is playing now, and then that
player's next games. A race, given by its id or link, shows all its boards, to
its players too; ` + name + ` join returns to your own board.

Without a terminal, or with --json or --from, it prints events until the game
ends. --json prints one WatchResponse per line; with --from 0 this is the
transcript that ` + name + ` verify - reads. For a challenge it prints one
WatchChallengeResponse per line until the ranking is final.`,
		RunE: func(cmd *cobra.Command, args []string) error {
			var after *int32
			if cmd.Flags().Changed("from") {
				after = &from
			}
			lines := after != nil || p.flags.json || !p.terminal(p.out)
			switch {
			case from < 0:
				return usage.Errorf("--from must be a version, 0 or more")
			case len(args) > watch.MaxWall:
				return usage.Errorf("watch shows at most %d games", watch.MaxWall)
			case wall && len(args) > 0:
				return usage.Errorf("--wall chooses the games: name none")
			case lines && (wall || len(args) > 1):
				return usage.Errorf("watching several games needs a terminal; without one, or with --json or --from, name a single game")
			case lines:
				return p.onReference(func(ctx context.Context, c *client.Client, r reference) error {
					return p.watchLines(ctx, c, r, len(args) == 0, after)
				})(cmd, args)
			default:
				return p.watchScreen(cmd.Context(), args, wall)
			}
		},
	}
	cmd.Flags().BoolVar(&wall, "wall", false, "watch the four best live games")
	if p.over == nil { // The events of a long game would keep an SSH host busy.
		cmd.Flags().Int32Var(&from, "from", 0, "print every event after this `version`, 0 for all")
	}
	return cmd
}

// watchScreen shows the named games, a player's games or a challenge until the user leaves. If what
// is empty, it shows the best live games if wall is set, and TV if not.
func (p *program) watchScreen(ctx context.Context, what []string, wall bool) error {
	references := make([]reference, len(what))
	for i, text := range what {
		var err error
		if references[i], err = p.refer(text); err != nil {
			return err
		}
	}
	references = slices.DeleteFunc(references, reference.isServer)
	c, err := p.dial()
	if err != nil {
		return err
	}
	// Log in if the user has an account, because a watcher may want to play afterwards.
	_, _ = p.known(ctx, c)
	route, err := p.whatToWatch(ctx, c, references)
	if err != nil {
		return err
	}
	route.Wall, route.TV = wall, !wall && len(route.Watch) == 0
	return p.show(ctx, c, route)
}

// whatToWatch returns the route to what the user named.
func (p *program) whatToWatch(ctx context.Context, c *client.Client, named []reference) (ui.Route, error) {
	if len(named) == 1 && named[0].player != "" {
		player, err := p.player(ctx, c, named[0].player)
		return ui.Route{Follow: player}, err
	}
	var route ui.Route
	for _, r := range named {
		found, g, err := p.challengeOrGame(ctx, c, r)
		challenge := found.GetChallenge()
		switch {
		case err != nil:
			return route, err
		case challenge != nil && len(named) > 1:
			return route, usage.Errorf("%s is a challenge: watch it alone", challenge.GetId())
		case challenge != nil:
			return ui.Route{Challenge: challenge.GetId()}, nil
		case !slices.Contains(route.Watch, g.GetId()):
			route.Watch = append(route.Watch, g.GetId())
		}
	}
	return route, nil
}

// bestGame returns the id of the best live game.
func (p *program) bestGame(ctx context.Context, c *client.Client) (string, error) {
	games, err := watch.LiveGames(ctx, ui.NewServer(c), nil, p.clock())
	if err == nil && len(games) == 0 {
		err = missingf("no game is live. Start one: %s", p.typed("play"))
	}
	if err != nil {
		return "", err
	}
	return games[0].GetId(), nil
}

// watchLines prints the updates of a game or a challenge, or of the best live game if best is set.
func (p *program) watchLines(ctx context.Context, c *client.Client, r reference, best bool, after *int32) error {
	if best || r.isServer() {
		id, err := p.bestGame(ctx, c)
		if err != nil {
			return err
		}
		r = reference{id: id, game: true}
	}
	found, g, err := p.challengeOrGame(ctx, c, r)
	challenge := found.GetChallenge()
	switch {
	case err != nil:
		return err
	case challenge != nil && after != nil:
		return usage.Errorf("--from is for games, but %s is a challenge", challenge.GetId())
	case challenge != nil:
		return p.watchChallengeLines(ctx, c, challenge.GetId())
	}
	if after != nil && *after > g.GetVersion() {
		return missingf("the game is only at version %s", describe.Comma(g.GetVersion()))
	}
	if after != nil {
		g = asOf(g, *after)
	}
	w := c.Watch(ctx, client.WatchOptions{GameID: g.GetId(), AfterVersion: after, EveryEvent: after != nil})
	defer w.Close()
	return each(w, func(u client.Update) error {
		if u.Connection.State == client.Reconnecting {
			p.noteRetry(u.Connection.Delay, u.Connection.Err)
		}
		return p.printUpdate(&g, u)
	})
}

// watchChallengeLines prints a challenge each time it changes, until its standings are final.
func (p *program) watchChallengeLines(ctx context.Context, c *client.Client, challengeID string) error {
	w := c.WatchChallenge(ctx, client.ChallengeWatchOptions{ChallengeID: challengeID})
	defer w.Close()
	return each(w, func(u client.ChallengeUpdate) error {
		s := u.Snapshot
		if s == nil { // the connection was lost or restored
			return nil
		}
		return p.printEither(s, "%s: %s\n", describe.ChallengeStage(s.GetChallenge(), s.GetNow().AsTime()), standingsLine(s.GetStandings()))
	})
}

// standingsLine returns the standings in one line.
func standingsLine(standings []*pb.Standing) string {
	result := func(s *pb.Standing) string { return gamestate.Name(s) + " " + describe.Comma(s.GetScore()) }
	return cmp.Or(strings.Join(convert.All(standings, result), ", "), "no results yet")
}
