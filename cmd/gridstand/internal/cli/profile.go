package cli

import (
	"cmp"
	"context"
	"fmt"
	"strings"

	"charm.land/lipgloss/v2"

	"github.com/gridstand/gridstand/client"
	"github.com/gridstand/gridstand/cmd/gridstand/internal/tui/board"
	"github.com/gridstand/gridstand/cmd/gridstand/internal/tui/gamestate"
	"github.com/gridstand/gridstand/cmd/gridstand/internal/tui/ui"
	"github.com/gridstand/gridstand/internal/describe"
	"github.com/gridstand/gridstand/internal/usage"
	pb "github.com/gridstand/gridstand/proto/gridstand/v1"
)

// racesColumns is the width of the text about races.
const racesColumns = 60

// Most recent games that a profile shows beside each other, and the maximum width of them.
const (
	recentGames   = 3
	recentColumns = 80
)

// printPlayer prints what a player has achieved, given by "@" and their name or by the link of their page.
func (p *program) printPlayer(ctx context.Context, c *client.Client, r reference) error {
	if r.player == "" {
		return usage.Errorf("a player is needed: @ and their name, or the link of their page")
	}
	player, err := p.player(ctx, c, r.player)
	if err != nil {
		return err
	}
	profile, err := c.Players.GetProfile(ctx, &pb.GetProfileRequest{PlayerId: player.GetId()})
	if err != nil {
		return err
	}
	if err := p.printEither(profile, "%s\n", client.CleanName(player.GetName())); err != nil || p.flags.json {
		return err
	}
	return p.printProfile(ctx, c, profile)
}

// printProfile prints what a player has achieved, and the boards of their latest games beside each other,
// as many as fit, at least one.
func (p *program) printProfile(ctx context.Context, c *client.Client, profile *pb.GetProfileResponse) error {
	reply, err := c.Games.ListGames(ctx, &pb.ListGamesRequest{PlayerId: profile.GetPlayer().GetId(), PageSize: recentGames})
	row, text := "", profileText(profile)
	for _, g := range reply.GetGames() {
		caption := fmt.Sprintf("%s %s\n%s, %s", variantOf(g), gamestate.ShortID(g.GetId()),
			commas(g.GetPosition().GetScores(), " : "), p.stage(g))
		wider := lipgloss.JoinHorizontal(lipgloss.Top, row, caption+"\n"+board.Plain(g.GetPosition()), "   ")
		if row != "" && lipgloss.Width(wider) > p.columns(recentColumns) {
			break
		}
		row = wider
	}
	if row != "" {
		text += "\n"
	}
	for line := range strings.Lines(row) {
		text += strings.TrimRight(line, " \n") + "\n"
	}
	return cmp.Or(p.printf("%s", text), err)
}

// profileText describes what a player has achieved: a line for each variant, the daily games and the
// races.
func profileText(profile *pb.GetProfileResponse) string {
	var text strings.Builder
	line := func(label, value string) { fmt.Fprintf(&text, "%-11s %s\n", label, value) }
	for _, v := range profile.GetVariants() {
		best, wins := "", ""
		if v.GetBestScore() > 0 {
			best = "best " + describe.Comma(v.GetBestScore())
		}
		if v.GetWins() > 0 {
			wins = describe.Comma(v.GetWins()) + " won"
		}
		line(clean(v.GetVariant(), 24), describe.Phrases(best, describe.Plural(v.GetGames(), "game"), wins))
	}
	if len(profile.GetVariants()) > 0 {
		line("", "Rankings leave out races and daily games.")
	}
	if d := profile.GetDaily(); d.GetLongestStreak() > 0 {
		line(dailyWord, fmt.Sprintf("streak %s, longest %s", describe.Plural(d.GetStreak(), "day"),
			describe.Plural(d.GetLongestStreak(), "day")))
	}
	if r := profile.GetRaces(); r.GetTotal() > 0 {
		results := []string{fmt.Sprintf("won %s of %s", describe.Comma(r.GetWon()), describe.Comma(r.GetTotal()))}
		for _, rival := range r.GetRivals() {
			results = append(results, fmt.Sprintf("%d–%d against %s", rival.GetWon(), rival.GetLost(),
				client.CleanName(rival.GetPlayer().GetName())))
		}
		label := "last races" // A profile keeps 50.
		for row := range strings.SplitSeq(ui.Wrap(describe.Phrases(results...), racesColumns), "\n") {
			line(label, row)
			label = ""
		}
	}
	return text.String()
}
