package cli

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"math"
	"slices"
	"strings"
	"time"

	"github.com/spf13/cobra"

	"github.com/gridstand/gridstand/client"
	"github.com/gridstand/gridstand/cmd/gridstand/internal/solver"
	"github.com/gridstand/gridstand/internal/describe"
	"github.com/gridstand/gridstand/internal/usage"
	pb "github.com/gridstand/gridstand/proto/gridstand/v1"
)

// botOptions are the flags of the bot command.
type botOptions struct {
	gameFlags
	games int
	think time.Duration
}

func (p *program) botCommand() *cobra.Command {
	var o botOptions
	cmd := &cobra.Command{
		Use:   "bot <name> [variant]",
		Short: "Let a bot play for you",
		Long: `Let a bot on this machine play games of a variant (` + defaultVariant + ` by default) in
your name. Print the score, best tile and moves per second of each game, and the
mean and spread of the scores. The games do not count for the leaderboard.

Bots of 2048: ` + strings.Join(solver.Names(defaultVariant), ", ") + `.
Bots of Tribolo: ` + strings.Join(solver.Names("tribolo"), ", ") + `.`,
		RunE: p.onServer(func(ctx context.Context, c *client.Client, args []string) error {
			switch {
			case o.games < 1:
				return usage.Errorf("--games must be 1 or more")
			case o.think < 0:
				return usage.Errorf("--think must not be negative")
			}
			return p.bot(ctx, c, args[0], cmp.Or(first(args[1:]), defaultVariant), o)
		}),
	}
	cmd.Flags().IntVar(&o.games, "games", 1, "number of games")
	cmd.Flags().DurationVar(&o.think, "think", 0, "`time` limit of the search for a move (default: the bot's own)")
	o.add(cmd)
	return cmd
}

// botGame is the result of a game played by a bot.
type botGame struct {
	GameID         string  `json:"gameId"`
	Score          int32   `json:"score"`
	BestTile       int32   `json:"bestTile,omitempty"`
	Won            bool    `json:"won"`
	Moves          int     `json:"moves"`
	MovesPerSecond float64 `json:"movesPerSecond"`
}

// bot lets a bot play games for the user.
func (p *program) bot(ctx context.Context, c *client.Client, name, variant string, o botOptions) error {
	v, options, err := p.botsVariant(ctx, c, name, variant, o.gameFlags)
	if err != nil {
		return err
	}
	if err := p.logIn(ctx, c); err != nil {
		return err
	}
	var all []botGame
	for range o.games {
		g, err := c.NewGame(ctx, v.GetId(), options)
		if err != nil {
			return err
		}
		result, err := p.botGame(ctx, c, g, name, o.think)
		if err != nil {
			return err
		}
		if err := p.printBotGame(result); err != nil {
			return err
		}
		all = append(all, result)
	}
	if !p.flags.json {
		return p.printf("%s, %s: %s\n", name, clean(v.GetId(), 24), summary(all))
	}
	return nil
}

// botsVariant returns the variant with the given id and the options for its games, if a bot can
// play them.
func (p *program) botsVariant(ctx context.Context, c *client.Client, bot, id string, o gameFlags) (*pb.Variant, client.GameOptions, error) {
	v, err := p.variant(ctx, c, id)
	if err != nil {
		return nil, client.GameOptions{}, err
	}
	options, err := o.options(v)
	if names := solver.Names(v.GetId()); !slices.Contains(names, bot) {
		err = usage.Errorf("the bots of %s are %s, not %q", clean(v.GetId(), 24), strings.Join(names, ", "), clean(bot, 24))
	}
	mine := func(r *pb.SeatRequest) bool { return r.GetCaller() != nil }
	if err == nil && len(options.Seats) > 0 && !slices.ContainsFunc(options.Seats, mine) {
		err = usage.Errorf("--seats has no seat for the bot: one of them must be me")
	}
	return v, options, err
}

// printBotGame writes the result of a game, in columns.
func (p *program) printBotGame(g botGame) error {
	if p.flags.json {
		return p.printJSON(g)
	}
	tile := ""
	if g.BestTile > 0 {
		tile = describe.Comma(g.BestTile)
	}
	return p.printf("%s %9s points %6s %7s moves %8.1f/s\n", g.GameID, describe.Comma(g.Score), tile,
		describe.Comma(g.Moves), g.MovesPerSecond)
}

// summary describes the results of games.
func summary(all []botGame) string {
	mean, spread, won := 0.0, 0.0, 0
	for _, g := range all {
		mean += float64(g.Score) / float64(len(all))
		if g.Won {
			won++
		}
	}
	for _, g := range all {
		spread += (float64(g.Score) - mean) * (float64(g.Score) - mean)
	}
	spread = math.Sqrt(spread / float64(max(len(all)-1, 1)))
	return fmt.Sprintf("mean %s, spread %s, %d of %d won", describe.Comma(int32(mean)), describe.Comma(int32(spread)), won, len(all))
}

// botGame plays a game to its end.
func (p *program) botGame(ctx context.Context, c *client.Client, g client.Game, name string, think time.Duration) (botGame, error) {
	s, err := solver.New(g.GetVariant(), g.GetRulesRevision(), name, think)
	if err != nil {
		return botGame{}, err
	}
	seat := c.Seat(g)
	result := botGame{GameID: g.GetId()}
	limited := false
	ctx = client.WithOnRetry(ctx, func(_ int, wait time.Duration, err error) {
		if errors.Is(err, client.ErrRateLimited) {
			if limited {
				return // a fast bot reaches the rate limit every second
			}
			limited = true
		}
		p.noteRetry(wait, err)
	})
	turn := int32(-1) // move count when the last move was chosen
	choose := func(ctx context.Context, g client.Game) (client.Move, error) {
		m, err := s.Choose(ctx, g.GetPosition(), g.GetSeats())
		if err != nil {
			return client.Move{}, err
		}
		if count := g.GetPosition().GetMoveCount(); count != turn {
			turn = count
			result.Moves++
		}
		if m.Direction != 0 {
			return client.Slide(pb.Direction(m.Direction)), nil
		}
		return client.Jump(&pb.Cell{X: m.Cell.X, Y: m.Cell.Y}), nil
	}
	start := time.Now()
	g, err = seat.Play(ctx, g, choose)
	if err != nil {
		return botGame{}, err
	}
	result.MovesPerSecond = float64(result.Moves) / max(time.Since(start).Seconds(), 1e-9)
	result.Score, result.BestTile = describe.Score(g.Game, int(seat.Index())), describe.LargestTile(g.GetPosition().GetTwenty48())
	result.Won = slices.Contains(g.GetResult().GetWinners(), seat.Index())
	return result, nil
}
