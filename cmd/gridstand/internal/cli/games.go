package cli

import (
	"context"
	"fmt"
	"strconv"

	"github.com/spf13/cobra"
	"google.golang.org/protobuf/proto"

	"github.com/gridstand/gridstand/client"
	"github.com/gridstand/gridstand/cmd/gridstand/internal/tui/board"
	"github.com/gridstand/gridstand/cmd/gridstand/internal/tui/gamestate"
	"github.com/gridstand/gridstand/internal/describe"
	"github.com/gridstand/gridstand/internal/usage"
	pb "github.com/gridstand/gridstand/proto/gridstand/v1"
)

// gamesOptions are the flags of the games command.
type gamesOptions struct {
	status, order, variant, player string
	mine, waiting                  bool
	limit                          int
}

// statuses and orders map the values of --status and --order to those of the API.
var (
	statuses = map[string]pb.GameStatus{
		"live": pb.GameStatus_GAME_STATUS_ACTIVE, "waiting": pb.GameStatus_GAME_STATUS_WAITING,
		"finished": pb.GameStatus_GAME_STATUS_FINISHED, "all": pb.GameStatus_GAME_STATUS_UNSPECIFIED,
	}
	orders = map[string]pb.OrderBy{
		"recent": pb.OrderBy_ORDER_BY_RECENT, "score": pb.OrderBy_ORDER_BY_SCORE, "watchers": pb.OrderBy_ORDER_BY_WATCHERS,
	}
)

// defaultLimit is the default maximum number of rows.
const defaultLimit = 20

func (p *program) gamesCommand() *cobra.Command {
	var o gamesOptions
	cmd := &cobra.Command{
		Use:   "games",
		Short: "List games",
		RunE: func(cmd *cobra.Command, _ []string) error {
			switch {
			case o.waiting && cmd.Flags().Changed("status"):
				return usage.Errorf("--waiting and --status cannot be combined")
			case o.waiting:
				o.status = "waiting"
			case o.mine && o.player != "":
				return usage.Errorf("--mine and --player cannot be combined")
			case (o.mine || o.player != "") && !cmd.Flags().Changed("status"):
				o.status = "all"
			}
			return p.games(cmd.Context(), o)
		},
	}
	flags := cmd.Flags()
	flags.SortFlags = false
	flags.StringVar(&o.status, "status", "live", "live, waiting, finished or all")
	flags.StringVar(&o.order, "order", "recent", "recent, score or watchers; the last two only for live games")
	flags.StringVar(&o.variant, "variant", "", "only games of this `variant`")
	flags.BoolVar(&o.waiting, "waiting", false, "only games that are waiting for players; take a seat with "+name+" join")
	flags.BoolVar(&o.mine, "mine", false, "only your own games, including private ones")
	flags.StringVar(&o.player, "player", "", "only games of the player with this `name`")
	flags.IntVar(&o.limit, "limit", defaultLimit, "maximum number of rows, 0 for all")
	fixedCompletion(cmd, "status", "live", "waiting", "finished", "all")
	fixedCompletion(cmd, "order", "recent", "score", "watchers")
	completeFlag(cmd, "variant", p.completeVariants)
	completeFlag(cmd, "player", p.completePlayers)
	return cmd
}

// games prints a list of games.
func (p *program) games(ctx context.Context, o gamesOptions) error {
	request := &pb.ListGamesRequest{Variant: o.variant}
	var ok bool
	if request.Status, ok = statuses[o.status]; !ok {
		return usage.Errorf("--status must be live, waiting, finished or all, not %q", o.status)
	}
	if request.OrderBy, ok = orders[o.order]; !ok {
		return usage.Errorf("--order must be recent, score or watchers, not %q", o.order)
	}
	if o.order != "recent" && (o.status != "live" || o.mine || o.player != "") {
		return usage.Errorf("--order %s only works for the list of all live games", o.order)
	}
	if o.limit < 0 {
		return usage.Errorf("--limit must not be negative")
	}
	c, disconnect, err := p.dial()
	if err != nil {
		return err
	}
	defer disconnect()
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
	whose := "No " + o.status + " games."
	if o.player != "" {
		player, err := p.player(ctx, c, o.player)
		if err != nil {
			return err
		}
		request.PlayerId = player.GetId()
		whose = client.CleanName(player.GetName()) + " has no such games."
	}
	games, more, err := pages(o.limit, func(size int32, token string) ([]*pb.Game, string, error) {
		request.PageSize, request.PageToken = size, token
		reply, err := c.Games.ListGames(ctx, request)
		return reply.GetGames(), reply.GetNextPageToken(), err
	})
	if err != nil {
		return err
	}
	if p.flags.json {
		return printMessages(p, games)
	}
	if len(games) == 0 {
		start := p.typed("play")
		if o.status == "waiting" {
			start += " tribolo --seats me,open,open"
		}
		if o.mine {
			whose = "You have no such games."
		}
		if o.player == "" {
			whose += " Start one: " + start
		}
		p.notef("%s", whose)
		return nil
	}
	if err := p.printGames(games); err != nil {
		return err
	}
	if more {
		p.notef("There are more: --limit %d shows more, --limit 0 shows all.", 2*o.limit)
	}
	return nil
}

// maxPage is the largest page size that a server accepts. maxPages and maxList (in bytes)
// limit a list in case a server never stops sending pages.
const (
	maxPage  = 200
	maxPages = 5_000
	maxList  = 1 << 28
)

var errEndless = fmt.Errorf("the list is too long: more than %d pages or %d MB", maxPages, maxList>>20)

// pages fetches a list page by page, up to limit rows (0 means no limit), and reports
// whether there are more rows.
func pages[T proto.Message](limit int, page func(size int32, token string) ([]T, string, error)) ([]T, bool, error) {
	var all []T
	token, bytes := "", 0
	for range maxPages {
		size := maxPage
		if limit > 0 {
			size = min(limit-len(all), maxPage)
		}
		rows, next, err := page(int32(size), token)
		if err != nil {
			return nil, false, err
		}
		all = append(all, rows...)
		for _, row := range rows {
			bytes += proto.Size(row)
		}
		if bytes > maxList {
			break
		}
		if next == "" || limit > 0 && len(all) >= limit {
			return all, next != "", nil
		}
		token = next
	}
	return nil, false, errEndless
}

// printGames writes games as a table.
func (p *program) printGames(games []*pb.Game) error {
	columns := []column{
		{title: "GAME", id: true},
		{title: "VARIANT", drop: 1},
		{title: "PLAYER", flexible: true},
		{title: "SCORE", right: true},
		{title: "TILE", right: true, drop: 6},
		{title: "MOVES", right: true, drop: 5},
		{title: "WATCHING", right: true, drop: 4},
		{title: "STATUS", drop: 2},
		{title: "LAST MOVE", drop: 3},
	}
	rows := make([][]string, len(games))
	for i, g := range games {
		tile := ""
		if b := g.GetPosition().GetTwenty48(); b != nil {
			tile = strconv.Itoa(int(board.LargestTile(b)))
		}
		rows[i] = []string{
			g.GetId(), variantOf(g), gamestate.PlayerName(g),
			describe.Comma(gamestate.HighestScore(g)),
			tile, describe.Comma(g.GetPosition().GetMoveCount()), describe.Comma(g.GetWatchers()),
			p.stage(g), p.ago(g.GetUpdateTime()),
		}
	}
	return p.printTable(columns, rows)
}

func (p *program) showCommand() *cobra.Command {
	return &cobra.Command{
		Use: "show <game>", Short: "Print the state of a game",
		ValidArgsFunction: p.completeGames(pb.GameStatus_GAME_STATUS_ACTIVE),
		RunE: func(cmd *cobra.Command, args []string) error {
			game, c, disconnect, err := p.dialForGame(args[0])
			if err != nil {
				return err
			}
			defer disconnect()
			g, err := p.game(cmd.Context(), c, game)
			if err != nil {
				return err
			}
			if p.flags.json {
				return p.printMessage(g)
			}
			what := status(g.GetStatus())
			if r := g.GetResult(); r != nil {
				what += ": " + word(r.GetReason().String(), "REASON_")
			}
			return p.printGame(g.Game, what)
		},
	}
}
