package cli

import (
	"cmp"
	"context"
	"slices"
	"strconv"
	"strings"

	"github.com/spf13/cobra"

	"github.com/gridstand/gridstand/client"
	"github.com/gridstand/gridstand/cmd/gridstand/internal/tui/gamestate"
	"github.com/gridstand/gridstand/internal/convert"
	"github.com/gridstand/gridstand/internal/describe"
	"github.com/gridstand/gridstand/internal/usage"
	pb "github.com/gridstand/gridstand/proto/gridstand/v1"
)

// gamesOptions are the flags and the argument of the games command.
type gamesOptions struct {
	status, variant, player string
	mine                    bool
	limit                   int
}

// statuses are the values of --status, by those of the API.
var statuses = []string{"all", "waiting", "live", "finished"}

// defaultLimit is the default maximum number of rows.
const defaultLimit = 20

func (p *program) gamesCommand() *cobra.Command {
	var o gamesOptions
	cmd := &cobra.Command{
		Use:        "games [@player]",
		SuggestFor: []string{"find", "search", "history"},
		Short:      "List games",
		Long: `List live games, or with --status waiting the games and public races that you
can join with ` + name + ` join. @ada lists the games of the player ada, and --mine
your own, both of any status by default.`,
	}
	flags := cmd.Flags()
	cmd.RunE = p.onReference(func(ctx context.Context, c *client.Client, r reference) error {
		if o.player = r.player; o.player == "" && r != (reference{}) {
			return usage.Errorf("games lists those of a player, such as %sada", atPlayer)
		}
		if (o.mine || o.player != "") && !flags.Changed("status") {
			o.status = "all"
		}
		return p.games(ctx, c, o)
	})
	flags.SortFlags = false
	flags.StringVar(&o.status, "status", "live", "live, waiting, finished or all")
	flags.StringVar(&o.variant, "variant", "", "only games of this `variant`")
	flags.BoolVar(&o.mine, "mine", false, "only your own games, including private ones")
	p.addLimit(flags, &o.limit)
	return cmd
}

// games prints a list of games.
func (p *program) games(ctx context.Context, c *client.Client, o gamesOptions) error {
	status := pb.GameStatus(slices.Index(statuses, o.status))
	switch {
	case status < 0:
		return usage.Errorf("--status must be live, waiting, finished or all, not %q", o.status)
	case o.mine && o.player != "":
		return usage.Errorf("--mine cannot be combined with a player")
	case o.limit < 0:
		return usage.Errorf("--limit must not be negative")
	}
	request := &pb.ListGamesRequest{Variant: o.variant, Status: status}
	if o.variant != "" {
		if _, err := p.variant(ctx, c, o.variant); err != nil {
			return err
		}
	}
	if o.mine {
		if _, err := p.known(ctx, c); err != nil {
			return err
		}
		request.PlayerId = "me"
	}
	if o.player != "" {
		player, err := p.player(ctx, c, o.player)
		if err != nil {
			return err
		}
		request.PlayerId = player.GetId()
	}
	games, more, err := pages(o.limit, func(size int32, token string) ([]*pb.Game, string, error) {
		request.PageSize, request.PageToken = size, token
		reply, err := c.Games.ListGames(ctx, request)
		return reply.GetGames(), reply.GetNextPageToken(), err
	})
	if err != nil {
		return err
	}
	races := list[*pb.Challenge]{
		row: p.raceRow, columns: []string{"RACE", "VARIANT", "TIME", "PLAYERS", "CREATED"},
	}
	if status == pb.GameStatus_GAME_STATUS_WAITING && request.PlayerId == "" {
		if races.all, err = waitingRaces(ctx, c, o.variant); err != nil {
			return err
		}
	}
	empty := ""
	switch {
	case len(races.all) == 0:
		empty = "There are no such games. Start one: " + p.typed("play")
	case len(games) > 0:
		races.title = "\n"
	}
	return cmp.Or(list[*pb.Game]{
		all: games, more: more, row: p.gameRow, empty: empty,
		columns: []string{"GAME", "VARIANT", "SCORE>", "TILE>", "MOVES>", "WATCHING>", "STATUS", "LAST MOVE", "PLAYER"},
	}.print(p), races.print(p))
}

// waitingRaces returns the public races that wait for players, of one variant unless it is empty.
func waitingRaces(ctx context.Context, c *client.Client, variant string) ([]*pb.Challenge, error) {
	request := &pb.ListChallengesRequest{Kind: pb.ChallengeKind_CHALLENGE_KIND_RACE}
	reply, err := c.Challenges.ListChallenges(ctx, request)
	return slices.DeleteFunc(reply.GetChallenges(), func(c *pb.Challenge) bool {
		return c.GetStatus() != pb.ChallengeStatus_CHALLENGE_STATUS_WAITING || variant != "" && c.GetVariant() != variant
	}), err
}

// raceRow returns the cells of a race in a list.
func (p *program) raceRow(c *pb.Challenge) []string {
	names := convert.All(c.GetEntrants(), func(e *pb.Entrant) string { return gamestate.Name(e) })
	return []string{
		clean(c.GetId(), 26), clean(c.GetVariant(), 24), describe.Limit(c.GetLimit().AsDuration()), strings.Join(names, ", "),
		p.ago(c.GetCreateTime()),
	}
}

// gameRow returns the cells of a game in a list.
func (p *program) gameRow(g *pb.Game) []string {
	tile := ""
	if b := g.GetPosition().GetTwenty48(); b != nil {
		tile = strconv.Itoa(int(describe.LargestTile(b)))
	}
	return []string{
		gamestate.ShortID(g.GetId()), variantOf(g), describe.Comma(gamestate.HighestScore(g)), tile, describe.Comma(g.GetPosition().GetMoveCount()),
		describe.Comma(g.GetWatchers()), p.stage(g), p.ago(g.GetUpdateTime()), gamestate.PlayerName(g),
	}
}

const (
	// maxPage is the largest page size that a server accepts.
	maxPage = 200
	// maxEmpty is the number of empty pages in a row after which a list counts as read. A server sends one
	// in place of 2,000 games that have just left the list.
	maxEmpty = 10
)

// pages fetches a list page by page, up to limit rows (0 means no limit), and reports whether there
// are more rows.
func pages[T any](limit int, page func(size int32, token string) ([]T, string, error)) (all []T, more bool, err error) {
	empty := 0
	for token := ""; ; {
		size := maxPage
		if limit > 0 {
			size = min(limit-len(all), maxPage)
		}
		var rows []T
		if rows, token, err = page(int32(size), token); err != nil {
			return nil, false, err
		}
		all = append(all, rows...)
		if empty++; len(rows) > 0 {
			empty = 0
		}
		switch {
		case limit > 0 && len(all) > limit:
			return all[:limit], true, nil
		case token == "" || limit > 0 && len(all) == limit || empty == maxEmpty:
			return all, token != "", nil
		}
	}
}

func (p *program) showCommand() *cobra.Command {
	return &cobra.Command{
		Use: "show <game|challenge>", Short: "Print the state of a game or a challenge",
		RunE: p.onReference(p.showState),
	}
}

// showState prints the state of a game or a challenge.
func (p *program) showState(ctx context.Context, c *client.Client, r reference) error {
	found, g, err := p.challengeOrGame(ctx, c, r)
	switch {
	case err != nil:
		return err
	case found != nil:
		return p.printChallenge(ctx, c, found)
	}
	return p.printGame(g.Game, p.stage(g.Game))
}
