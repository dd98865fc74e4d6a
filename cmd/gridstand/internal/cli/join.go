package cli

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"strings"
	"time"

	"github.com/spf13/cobra"

	"github.com/gridstand/gridstand/client"
	"github.com/gridstand/gridstand/cmd/gridstand/internal/tui/ui"
	"github.com/gridstand/gridstand/internal/convert"
	"github.com/gridstand/gridstand/internal/describe"
	"github.com/gridstand/gridstand/internal/usage"
	pb "github.com/gridstand/gridstand/proto/gridstand/v1"
)

// gameFlags are the flags for a new game.
type gameFlags struct {
	private   bool
	seats     []string
	turnLimit time.Duration
}

func (o *gameFlags) add(cmd *cobra.Command) {
	flags := cmd.Flags()
	flags.BoolVar(&o.private, "private", false, "keep a new game out of lists and leaderboards")
	flags.StringSliceVar(&o.seats, "seats", nil, "`players` of a new game in the order of turns: me, open or the name of a bot")
	flags.DurationVar(&o.turnLimit, "turn-limit", 0, "`time` limit for a move in a new game, from 5s to 168h")
}

// set reports whether any of the flags is set.
func (o *gameFlags) set() bool { return o.private || len(o.seats) > 0 || o.turnLimit != 0 }

// options converts the flags to the options for a new game of variant v.
func (o *gameFlags) options(v *pb.Variant) (client.GameOptions, error) {
	options := client.GameOptions{Private: o.private, TurnLimit: o.turnLimit}
	if len(o.seats) == 0 {
		return options, nil
	}
	if len(o.seats) != int(v.GetSeats()) {
		return options, usage.Errorf("%s has %s, but --seats names %d", v.GetId(), describe.Plural(v.GetSeats(), "seat"), len(o.seats))
	}
	for _, who := range o.seats {
		who = strings.ToLower(strings.TrimSpace(who))
		if who != ui.SeatMe && who != ui.SeatOpen && !slices.Contains(v.GetBots(), who) {
			return options, usage.Errorf("--seats must be me, open or a bot of %s (%s), not %q",
				v.GetId(), strings.Join(bots(v), ", "), clean(who, 24))
		}
		options.Seats = append(options.Seats, ui.SeatRequest(who))
	}
	return options, nil
}

// bots returns the names of a variant's bots, safe for a terminal.
func bots(v *pb.Variant) []string {
	return convert.All(v.GetBots(), func(bot string) string { return clean(bot, 24) })
}

func (p *program) joinCommand() *cobra.Command {
	return &cobra.Command{
		Use: "join <link|id>", Short: "Take a seat, enter a race or play a challenge",
		Long: `Take the first open seat in a game that is waiting for players, and play. Or
enter a race, or play a challenge, given by its id or a link. A link also
determines the server, unless --server does.

Without a terminal it takes the seat and prints the game, or it starts or finds
your attempt at a challenge and prints the id of the game. In a race that has
not started it marks you as ready and prints the race.`,
		RunE: p.onReference(p.join),
	}
}

// join takes the first open seat in a game or joins a challenge.
func (p *program) join(ctx context.Context, c *client.Client, r reference) error {
	found, g, err := p.challengeOrGame(ctx, c, r)
	if err != nil {
		return err
	}
	challenge := found.GetChallenge()
	if p.onScreen() {
		route := ui.Route{Join: g.GetId()}
		if challenge != nil {
			route = ui.Route{Enter: challenge.GetId()}
		}
		return p.orWatch(p.showRestored(ctx, c, route), g)
	}
	if err := p.logIn(ctx, c); err != nil {
		return err
	}
	if challenge != nil {
		if err := p.joinChallenge(ctx, c, challenge); !errors.Is(err, client.ErrNotEntered) {
			return err
		}
		return fmt.Errorf("%w, and it has started. Watch it: %s", client.ErrNotEntered, p.typed("watch", challenge.GetId()))
	}
	joined, err := orGiveUp(ctx, p, "join the game", func(ctx context.Context) (client.Game, error) {
		return c.Join(ctx, g.GetId(), nil)
	})
	if err != nil {
		return p.orWatch(err, g)
	}
	return p.printGame(joined.Game, p.stage(joined.Game))
}

// orWatch adds to the error of joining a game without open seats how to watch it.
func (p *program) orWatch(err error, g client.Game) error {
	if errors.Is(err, client.ErrSeatTaken) {
		return fmt.Errorf("%w. Watch the game: %s", client.ErrSeatTaken, p.typed("watch", g.GetId()))
	}
	return err
}
