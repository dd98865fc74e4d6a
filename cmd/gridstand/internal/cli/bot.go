package cli

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"io"
	"math"
	"slices"
	"strconv"
	"strings"
	"time"

	"github.com/spf13/cobra"

	"github.com/gridstand/gridstand/client"
	"github.com/gridstand/gridstand/cmd/gridstand/internal/solver"
	"github.com/gridstand/gridstand/cmd/gridstand/internal/tui/board"
	"github.com/gridstand/gridstand/internal/describe"
	"github.com/gridstand/gridstand/internal/usage"
	pb "github.com/gridstand/gridstand/proto/gridstand/v1"
)

// botOptions are the flags of the bot command.
type botOptions struct {
	gameFlags
	games     int
	think     time.Duration
	challenge string
}

func (p *program) botCommand() *cobra.Command {
	var o botOptions
	cmd := &cobra.Command{
		Use:   "bot <name> [variant]",
		Short: "Let a bot play for you",
		Long: `Let a bot on this machine play games of a variant (` + defaultVariant + ` by default) in
your name. Print the score, best tile and moves per second of each game, and the
mean and spread of the scores. The games do not count for the leaderboard.

With --challenge it waits for a challenge to open and plays your attempt; in a
race it first marks you as ready. The attempt then does not count in the
ranking, and you cannot make another one.

Bots of 2048: ` + strings.Join(solver.Names(defaultVariant), ", ") + `.
Bots of Tribolo: ` + strings.Join(solver.Names("tribolo"), ", ") + `.`,
		ValidArgsFunction: func(cmd *cobra.Command, args []string, typed string) ([]string, cobra.ShellCompDirective) {
			if len(args) == 1 {
				return p.completeVariants(cmd, nil, typed)
			}
			names := append(solver.Names(defaultVariant), solver.Names("tribolo")...)
			slices.Sort(names)
			return slices.Compact(names), cobra.ShellCompDirectiveNoFileComp
		},
		RunE: func(cmd *cobra.Command, args []string) error {
			return p.bot(cmd.Context(), args[0], cmp.Or(first(args[1:]), defaultVariant), o)
		},
	}
	cmd.Flags().IntVar(&o.games, "games", 1, "number of games")
	cmd.Flags().DurationVar(&o.think, "think", 0, "`time` limit of the search for a move (default: the bot's own)")
	o.add(cmd)
	p.addChallengeFlag(cmd, &o.challenge)
	return cmd
}

// botGame is the result of a game played by a bot.
type botGame struct {
	GameID         string  `json:"gameId"`
	Score          int32   `json:"score"`
	BestTile       int32   `json:"bestTile,omitempty"`
	Won            bool    `json:"won"`
	Moves          int     `json:"moves"`
	Seconds        float64 `json:"seconds"`
	MovesPerSecond float64 `json:"movesPerSecond"`
}

// botSummary is the combined result of a bot's games.
type botSummary struct {
	Bot      string         `json:"bot"`
	Variant  string         `json:"variant"`
	Games    int            `json:"games"`
	Mean     float64        `json:"mean"`
	Spread   float64        `json:"spread"`
	Lowest   int32          `json:"lowest"`
	Highest  int32          `json:"highest"`
	Won      int            `json:"won"`
	Tiles    map[string]int `json:"bestTiles,omitempty"`
	PerMove  float64        `json:"millisecondsPerMove"`
	AllMoves int            `json:"moves"`
}

// bot lets a bot play games for the user.
func (p *program) bot(ctx context.Context, name, what string, o botOptions) error {
	if o.games < 1 {
		return usage.Errorf("--games must be 1 or more")
	}
	if o.think < 0 {
		return usage.Errorf("--think must not be negative")
	}
	if o.challenge != "" && (o.set() || o.games > 1) {
		return usage.Errorf("--challenge is for one game: omit --games, --seats, --turn-limit and --private")
	}
	r, c, disconnect, err := p.dialFor(o.challenge)
	if err != nil {
		return err
	}
	defer disconnect()
	var challenge *pb.Challenge
	if o.challenge != "" {
		found, err := r.find(ctx, c)
		if err != nil {
			return err
		}
		challenge = found.GetChallenge()
		what = challenge.GetVariant()
	}
	v, err := p.variant(ctx, c, what)
	if err != nil {
		return err
	}
	if names := solver.Names(v.GetId()); !slices.Contains(names, name) {
		return usage.Errorf("the bots of %s are %s, not %q", clean(v.GetId(), 24), strings.Join(names, ", "), clean(name, 24))
	}
	options, err := o.options(v)
	if err != nil {
		return err
	}
	mine := func(r *pb.SeatRequest) bool { return r.GetCaller() != nil }
	if len(options.Seats) > 0 && !slices.ContainsFunc(options.Seats, mine) {
		return usage.Errorf("--seats has no seat for the bot: one of them must be me")
	}
	if err := p.logIn(ctx, c); err != nil {
		return err
	}
	columns := []column{
		{title: "GAME", id: true},
		{title: "SCORE", right: true},
		{title: "TILE", right: true, drop: 1},
		{title: "MOVES", right: true},
		{title: "MOVES/S", right: true},
	}
	var all []botGame
	var rows [][]string
	for n := range o.games {
		g, err := p.botsGame(ctx, c, v, options, challenge)
		var result botGame
		if err == nil {
			result, err = p.botGame(ctx, c, g, name, o.think, func(score int32) {
				p.progress(n, o.games, describe.Comma(score)+" points")
			})
		}
		if err != nil {
			p.progress(0, 0, "")
			return err
		}
		all = append(all, result)
		if p.flags.json {
			if err := p.printJSON(result); err != nil {
				return err
			}
			continue
		}
		tile := ""
		if result.BestTile > 0 {
			tile = strconv.Itoa(int(result.BestTile))
		}
		rows = append(rows, []string{
			result.GameID, describe.Comma(result.Score), tile, describe.Comma(int32(result.Moves)), fmt.Sprintf("%.1f", result.MovesPerSecond),
		})
	}
	p.progress(0, 0, "")
	s := summary(name, v.GetId(), all)
	if p.flags.json {
		return p.printJSON(s)
	}
	if err := p.printTable(columns, rows); err != nil {
		return err
	}
	text := fmt.Sprintf("%s, %s: mean %s, spread %s, from %s to %s, %d of %d won, %.2f ms per move.\n",
		s.Bot, clean(s.Variant, 24), describe.Comma(int32(s.Mean)), describe.Comma(int32(s.Spread)), describe.Comma(s.Lowest), describe.Comma(s.Highest), s.Won, s.Games, s.PerMove)
	return p.printf("%s", text)
}

// summary combines the results of games.
func summary(name, variant string, all []botGame) botSummary {
	s := botSummary{
		Bot: name, Variant: variant, Games: len(all), Lowest: math.MaxInt32, Tiles: map[string]int{},
	}
	seconds := 0.0
	for _, g := range all {
		s.Mean += float64(g.Score) / float64(len(all))
		s.Lowest, s.Highest = min(s.Lowest, g.Score), max(s.Highest, g.Score)
		s.AllMoves += g.Moves
		seconds += g.Seconds
		if g.Won {
			s.Won++
		}
		if g.BestTile > 0 {
			s.Tiles[strconv.Itoa(int(g.BestTile))]++
		}
	}
	for _, g := range all {
		s.Spread += (float64(g.Score) - s.Mean) * (float64(g.Score) - s.Mean)
	}
	s.Spread = math.Sqrt(s.Spread / float64(max(len(all)-1, 1)))
	s.PerMove = 1000 * seconds / float64(max(s.AllMoves, 1))
	return s
}

// progressWidth is the width of the progress bar, in columns.
const progressWidth = 24

// progress draws a progress bar on a terminal. If the total of is 0, it removes the
// bar.
func (p *program) progress(done, of int, what string) {
	if !p.terminal(p.err) || p.flags.json || p.flags.plain {
		return
	}
	if of == 0 {
		fmt.Fprint(p.err, "\r\x1b[K")
		return
	}
	full := done * progressWidth / of
	_, _ = io.WriteString(p.err, p.text("\r%s%s %d/%d  %s\x1b[K", strings.Repeat("█", full), strings.Repeat("░", progressWidth-full), done, of, what))
}

// progressTime is the interval between updates of the bar.
const progressTime = 200 * time.Millisecond

// botGame plays a game to its end.
func (p *program) botGame(
	ctx context.Context, c *client.Client, g client.Game, name string, think time.Duration, tell func(score int32),
) (botGame, error) {
	s, err := solver.New(g.GetVariant(), g.GetRulesRevision(), name, think)
	if err != nil {
		return botGame{}, err
	}
	seat := c.Seat(g)
	result := botGame{GameID: g.GetId()}
	limited := false
	seat.OnRetry = func(_ int, wait time.Duration, err error) {
		if errors.Is(err, client.ErrRateLimited) {
			if limited {
				return // a fast bot reaches the rate limit every second
			}
			limited = true
		}
		p.progress(0, 0, "")
		p.noteRetry(wait, err)
	}
	var told time.Time
	turn := int32(-1) // move count when the last move was chosen
	choose := func(ctx context.Context, g client.Game) (client.Move, error) {
		if now := time.Now(); now.Sub(told) > progressTime {
			told = now
			tell(describe.Score(g.Game, int(seat.Index())))
		}
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
	result.Seconds = time.Since(start).Seconds()
	result.MovesPerSecond = float64(result.Moves) / max(result.Seconds, 1e-9)
	result.Score, result.BestTile = describe.Score(g.Game, int(seat.Index())), board.LargestTile(g.GetPosition().GetTwenty48())
	result.Won = slices.Contains(g.GetResult().GetWinners(), seat.Index())
	return result, nil
}
