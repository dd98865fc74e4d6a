package cli

import (
	"cmp"
	"context"
	"fmt"
	"strings"

	"github.com/charmbracelet/x/ansi"
	"github.com/spf13/cobra"

	"github.com/gridstand/gridstand/client"
	"github.com/gridstand/gridstand/internal/describe"
	pb "github.com/gridstand/gridstand/proto/gridstand/v1"
)

func (p *program) variantsCommand() *cobra.Command {
	return &cobra.Command{
		Use: "variants [variant]", Short: "List the variants, or print the rules of one",
		SuggestFor: []string{"rules"},
		RunE:       p.onServer(p.variants),
	}
}

// variants lists the variants, or prints the rules of the one that the argument names.
func (p *program) variants(ctx context.Context, c *client.Client, args []string) error {
	if len(args) > 0 {
		v, err := p.variant(ctx, c, args[0])
		if err != nil {
			return err
		}
		return p.printRules(v)
	}
	reply, err := c.Games.ListVariants(ctx, &pb.ListVariantsRequest{})
	if err != nil {
		return err
	}
	return list[*pb.Variant]{
		all:     reply.GetVariants(),
		columns: []string{"VARIANT", "BOARD>", "SEATS>", "DESCRIPTION"},
		row: func(v *pb.Variant) []string {
			size := describe.Comma(v.GetColumns()) + "×" + describe.Comma(v.GetRows())
			return []string{clean(v.GetId(), 24), size, describe.Comma(v.GetSeats()), clean(v.GetSummary(), 200)}
		},
	}.print(p)
}

// maxRulesWidth is the maximum line width of rules, in columns.
const maxRulesWidth = 80

// printRules prints the rules of a variant as wrapped text or, with --json, the variant.
func (p *program) printRules(v *pb.Variant) error {
	title := fmt.Sprintf("%s (%s), %s×%s", clean(v.GetTitle(), 40), clean(v.GetId(), 24),
		describe.Comma(v.GetColumns()), describe.Comma(v.GetRows()))
	if n := v.GetSeats(); n > 1 {
		title += fmt.Sprintf(", %d seats", n)
	}
	rules := cmp.Or(clean(v.GetRules(), maxRules), clean(v.GetSummary(), maxRules))
	return p.printEither(v, "%s\n\n%s\n\nBots: %s\nPlay it: %s\n",
		title, ansi.Wordwrap(rules, p.columns(maxRulesWidth), ""), strings.Join(bots(v), ", "), p.typed("play", clean(v.GetId(), 24)))
}

// maxRules is the maximum length of printed rules, in characters.
const maxRules = 4_000
