package cli

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"slices"
	"strings"

	"github.com/charmbracelet/x/ansi"
	"github.com/spf13/cobra"

	"github.com/gridstand/gridstand/client"
	"github.com/gridstand/gridstand/internal/describe"
	"github.com/gridstand/gridstand/internal/usage"
	pb "github.com/gridstand/gridstand/proto/gridstand/v1"
)

// windows maps the values of --window to those of the API.
var windows = map[string]pb.Window{
	"day": pb.Window_WINDOW_DAY, "week": pb.Window_WINDOW_WEEK, "all": pb.Window_WINDOW_ALL_TIME,
}

// neighbors is the number of players that --me shows above and below the user.
const neighbors = 3

func (p *program) topCommand() *cobra.Command {
	var window string
	var me bool
	var limit int
	cmd := &cobra.Command{
		Use:   "top [variant]",
		Short: "Show the leaderboard of a variant",
		Long: `Show the leaderboard of a variant (` + defaultVariant + ` by default). Days and weeks
are in UTC.`,
		ValidArgsFunction: p.completeVariants,
		RunE: func(cmd *cobra.Command, args []string) error {
			w, ok := windows[window]
			if !ok {
				return usage.Errorf("--window must be day, week or all, not %q", window)
			}
			if limit < 0 {
				return usage.Errorf("--limit must not be negative")
			}
			what := cmp.Or(first(args), defaultVariant)
			return p.top(cmd.Context(), what, w, me, limit)
		},
	}
	flags := cmd.Flags()
	flags.SortFlags = false
	flags.StringVar(&window, "window", "all", "day, week or all")
	flags.BoolVar(&me, "me", false, "only your own rank and the ranks around it")
	flags.IntVar(&limit, "limit", defaultLimit, "maximum number of rows, 0 for all")
	fixedCompletion(cmd, "window", "day", "week", "all")
	return cmd
}

// top shows a leaderboard.
func (p *program) top(ctx context.Context, what string, window pb.Window, me bool, limit int) error {
	c, disconnect, err := p.dial()
	if err != nil {
		return err
	}
	defer disconnect()
	v, err := p.variant(ctx, c, what)
	if err != nil {
		return err
	}
	if me {
		return p.topAround(ctx, c, v, window)
	}
	total := int32(0)
	entries, more, err := pages(limit, func(size int32, token string) ([]*pb.Entry, string, error) {
		reply, err := c.Leaderboard.ListScores(ctx, &pb.ListScoresRequest{
			Variant: v.GetId(), Window: window, PageSize: size, PageToken: token,
		})
		total = reply.GetTotal()
		return reply.GetEntries(), reply.GetNextPageToken(), err
	})
	if err != nil {
		return err
	}
	if p.flags.json {
		return printMessages(p, entries)
	}
	if len(entries) == 0 {
		p.notef("There are no scores on this board yet. Be the first: %s", p.typed("play", clean(v.GetId(), 24)))
		return nil
	}
	if err := p.printEntries(entries, ""); err != nil {
		return err
	}
	if more {
		p.notef("%s of %s: --limit %d shows more, --limit 0 shows all.", describe.Comma(int32(len(entries))), describe.Comma(total), 2*limit)
	}
	return nil
}

// topAround shows the user's rank and the ranks around it.
func (p *program) topAround(ctx context.Context, c *client.Client, v *pb.Variant, window pb.Window) error {
	player, err := p.known(ctx, c)
	if err != nil {
		return err
	}
	reply, err := c.Leaderboard.GetRank(ctx, &pb.GetRankRequest{
		Variant: v.GetId(), Window: window, PlayerId: "me", Neighbors: neighbors,
	})
	if errors.Is(err, client.ErrNoScore) {
		return missingf("you are not on this board yet. Play: %s", p.typed("play", clean(v.GetId(), 24)))
	}
	if err != nil {
		return err
	}
	entries := append(reply.GetNeighbors(), reply.GetEntry()) // The neighbors do not include the entry.
	slices.SortStableFunc(entries, func(a, b *pb.Entry) int { return cmp.Compare(a.GetRank(), b.GetRank()) })
	if p.flags.json {
		return printMessages(p, entries)
	}
	return p.printEntries(entries, player.GetId())
}

// printEntries writes entries of a leaderboard as a table and marks the line of a player.
func (p *program) printEntries(entries []*pb.Entry, marked string) error {
	columns := []column{
		{title: "RANK", right: true},
		{title: "PLAYER", flexible: true},
		{title: "SCORE", right: true},
		{title: "GAME", id: true, drop: 2},
		{title: "WHEN", drop: 1},
	}
	rows := make([][]string, len(entries))
	for i, e := range entries {
		player := client.CleanName(e.GetPlayer().GetName())
		if marked != "" && e.GetPlayer().GetId() == marked {
			player += " ◂ you"
		}
		rows[i] = []string{
			describe.Comma(e.GetRank()), player, describe.Comma(e.GetScore()), e.GetGameId(), p.ago(e.GetTime()),
		}
	}
	return p.printTable(columns, rows)
}

func (p *program) variantsCommand() *cobra.Command {
	return &cobra.Command{
		Use: "variants [variant]", Short: "List the variants, or print the rules of one",
		SuggestFor:        []string{"rules"},
		ValidArgsFunction: p.completeVariants,
		RunE:              func(cmd *cobra.Command, args []string) error { return p.variants(cmd.Context(), first(args)) },
	}
}

// variants lists the variants, or prints the rules of one.
func (p *program) variants(ctx context.Context, what string) error {
	c, disconnect, err := p.dial()
	if err != nil {
		return err
	}
	defer disconnect()
	if what != "" {
		v, err := p.variant(ctx, c, what)
		if err != nil {
			return err
		}
		return p.printRules(v)
	}
	reply, err := c.Games.ListVariants(ctx, &pb.ListVariantsRequest{})
	if err != nil {
		return err
	}
	if p.flags.json {
		return printMessages(p, reply.GetVariants())
	}
	columns := []column{
		{title: "VARIANT"},
		{title: "BOARD", right: true, drop: 1},
		{title: "SEATS", right: true, drop: 3},
		{title: "DESCRIPTION", flexible: true},
		{title: "BOTS", drop: 2},
	}
	var rows [][]string
	for _, v := range reply.GetVariants() {
		rows = append(rows, []string{
			clean(v.GetId(), 24), describe.Comma(v.GetColumns()) + "×" + describe.Comma(v.GetRows()), describe.Comma(v.GetSeats()), clean(v.GetSummary(), 200),
			strings.Join(bots(v), ", "),
		})
	}
	return p.printTable(columns, rows)
}

// maxRulesWidth is the maximum line width of rules, in columns.
const maxRulesWidth = 80

// printRules prints the rules of a variant as wrapped text or, with --json, the variant.
func (p *program) printRules(v *pb.Variant) error {
	if p.flags.json {
		return p.printMessage(v)
	}
	width := maxRulesWidth
	if p.terminal(p.out) && p.width() > 0 {
		width = min(width, p.width())
	}
	title := fmt.Sprintf("%s (%s), %s×%s", clean(v.GetTitle(), 40), clean(v.GetId(), 24), describe.Comma(v.GetColumns()), describe.Comma(v.GetRows()))
	if n := v.GetSeats(); n > 1 {
		title += fmt.Sprintf(", %d seats", n)
	}
	rules := cmp.Or(clean(v.GetRules(), maxRules), clean(v.GetSummary(), maxRules))
	return p.printf("%s\n\n%s\n\nPlay it: %s\n", title, ansi.Wordwrap(rules, width, ""), p.typed("play", clean(v.GetId(), 24)))
}

// maxRules is the maximum length of printed rules, in characters.
const maxRules = 4_000
