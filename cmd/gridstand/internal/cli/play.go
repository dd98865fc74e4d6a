package cli

import (
	"context"
	"fmt"

	"github.com/spf13/cobra"

	"github.com/gridstand/gridstand/client"
	"github.com/gridstand/gridstand/cmd/gridstand/internal/tui/ui"
	"github.com/gridstand/gridstand/internal/usage"
	pb "github.com/gridstand/gridstand/proto/gridstand/v1"
)

// defaultVariant is the variant to use if the user names none.
const defaultVariant = "classic"

// playOptions are the flags of the play command.
type playOptions struct {
	gameFlags
	localFlags
}

func (p *program) playCommand() *cobra.Command {
	var o playOptions
	cmd := &cobra.Command{
		Use:        "play [variant|game]",
		SuggestFor: []string{"resume", "continue", "start", "host", "serve", "server", "share"},
		Short:      "Continue your latest game, or play a new one",
		Long: `Continue your latest game that is not over, of a variant if you name one. If you
have none, play a new game, of ` + defaultVariant + ` by default. Leaving a game does not end
it; the key n gives it up for a new one. With a game's id, continue that game.

--seats names the players of a game with several seats: me,open,minimax is a
game against a bot and another player, who takes the open seat with
` + name + ` join. Two seats for me let two people play at one keyboard.

Keys: arrows, WASD or hjkl move; ? shows all keys. In Tribolo they move the
cursor, enter jumps, and t shows the possible jumps.`,
		RunE: func(cmd *cobra.Command, args []string) error {
			return p.play(cmd, args, o)
		},
	}
	if p.over == nil {
		o.localFlags.add(cmd.Flags())
	}
	o.gameFlags.add(cmd)
	return cmd
}

// first returns the first argument, or "" if args is empty.
func first(args []string) string {
	if len(args) == 0 {
		return ""
	}
	return args[0]
}

// play shows a game until the user leaves.
func (p *program) play(cmd *cobra.Command, args []string, o playOptions) error {
	if !p.onScreen() {
		if p.over != nil {
			again := p.over.command + " " + p.over.session.Line
			return fmt.Errorf("play needs a terminal that can move its cursor: %s", again)
		}
		return fmt.Errorf("play needs a terminal that can move its cursor, for which ssh needs -t; "+
			"in scripts use \"%s new\" and \"%s move\"", name, name)
	}
	if err := o.check(p); err != nil {
		return err
	}
	if o.local {
		stop, err := p.startLocal(cmd.Context(), o.localFlags)
		if err != nil {
			return err
		}
		defer func() { p.disconnect(); stop() }()
	}
	return p.onReference(func(ctx context.Context, c *client.Client, r reference) error {
		if err := p.restore(ctx, c); err != nil {
			return err
		}
		start, err := p.whatToPlay(ctx, c, r, o)
		if err != nil {
			return err
		}
		if p.local.others != "" {
			p.noticeShared()
		}
		return p.show(ctx, c, start)
	})(cmd, args)
}

// whatToPlay returns the route to a new game, or to the game to continue.
func (p *program) whatToPlay(ctx context.Context, c *client.Client, r reference, o playOptions) (ui.Route, error) {
	var route ui.Route
	v, err := p.variantOr(ctx, c, r, "a game", func() (err error) {
		if o.set() {
			return usage.Errorf("--seats, --turn-limit and --private are only for new games, and %q is not a variant", clean(r.id, 26))
		}
		route, err = p.gameToPlay(ctx, c, r)
		return err
	})
	if v == nil || err != nil {
		return route, err
	}
	if !o.set() {
		switch id, err := unfinished(ctx, c, r.id); {
		case err != nil:
			return route, err
		case id != "":
			p.warnings = append(p.warnings, "This is your latest game. The key n gives it up and starts a new one.")
			return ui.Route{Play: id}, nil
		}
	}
	options, err := o.options(v)
	return ui.Route{New: &ui.NewGame{Variant: v.GetId(), Options: options}}, err
}

// gameToPlay returns the route to the given game, or an error if the user cannot play it.
func (p *program) gameToPlay(ctx context.Context, c *client.Client, r reference) (ui.Route, error) {
	g, err := p.game(ctx, c, r)
	switch {
	case err != nil:
		return ui.Route{}, err
	case c.Seat(g).Index() < 0 && g.GetStatus() == pb.GameStatus_GAME_STATUS_WAITING:
		return ui.Route{}, fmt.Errorf("you have no seat in that game. Take one: %s", p.typed("join", g.GetId()))
	case c.Seat(g).Index() < 0:
		return ui.Route{}, fmt.Errorf("that is not your game. Watch it: %s", p.typed("watch", g.GetId()))
	case g.GetStatus() == pb.GameStatus_GAME_STATUS_FINISHED:
		return ui.Route{}, fmt.Errorf("that game is over. Replay it: %s, or play another: %s",
			p.typed("watch", g.GetId()), p.typed("play", variantOf(g.Game)))
	default:
		return ui.Route{Play: g.GetId()}, nil
	}
}

// unfinished returns the id of the user's latest game in progress or, if there is none, of the latest that
// waits for players, or "". Attempts at challenges do not count. If variant is set, only games of that variant do.
func unfinished(ctx context.Context, c *client.Client, variant string) (string, error) {
	if c.PlayerID() == "" { // A user without an account has no games.
		return "", nil
	}
	for _, status := range []pb.GameStatus{pb.GameStatus_GAME_STATUS_ACTIVE, pb.GameStatus_GAME_STATUS_WAITING} {
		reply, err := c.Games.ListGames(ctx, &pb.ListGamesRequest{Status: status, Variant: variant, PlayerId: "me"})
		if err != nil {
			return "", err
		}
		for _, g := range reply.GetGames() {
			if g.GetChallengeId() == "" && c.Seat(client.Game{Game: g}).Index() >= 0 {
				return g.GetId(), nil
			}
		}
	}
	return "", nil
}
