package cli

import (
	"cmp"
	"context"
	"errors"
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
	ranked, err := ranks(ctx, c, profile)
	if err != nil {
		return err
	}
	reply, err := c.Games.ListGames(ctx, &pb.ListGamesRequest{PlayerId: profile.GetPlayer().GetId(), PageSize: recentGames})
	row, text := "", profileText(profile, ranked)
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

// ranks returns the player's entries in the rankings of all time, by variant. It has none for a variant without a
// ranked game.
func ranks(ctx context.Context, c *client.Client, profile *pb.GetProfileResponse) (map[string]*pb.Entry, error) {
	entries := make(map[string]*pb.Entry)
	for _, v := range profile.GetVariants() {
		request := &pb.GetRankRequest{Variant: v.GetVariant(), PlayerId: profile.GetPlayer().GetId()}
		reply, err := c.Leaderboard.GetRank(ctx, request)
		if err != nil && !errors.Is(err, client.ErrNoScore) {
			return nil, err
		}
		entries[v.GetVariant()] = reply.GetEntry()
	}
	return entries, nil
}

// profileText describes what a player has achieved: a line for each variant, the daily games and the races.
// ranked has the result of ranks.
func profileText(profile *pb.GetProfileResponse, ranked map[string]*pb.Entry) string {
	var text strings.Builder
	line := func(label, value string) { fmt.Fprintf(&text, "%-11s %s\n", label, value) }
	for _, v := range profile.GetVariants() {
		best, wins := "", ""
		if v.GetBestScore() > 0 {
			best = bestText(v.GetBestScore(), ranked[v.GetVariant()])
		}
		if v.GetWins() > 0 {
			wins = describe.Comma(v.GetWins()) + " won"
		}
		line(clean(v.GetVariant(), 24), describe.Phrases(best, describe.Plural(v.GetGames(), "game"), wins))
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

// bestText describes a player's best score and their entry in the ranking, which may be nil. Unlike the best
// score, the ranking leaves out challenges.
func bestText(best int32, ranked *pb.Entry) string {
	score, rank := describe.Comma(ranked.GetScore()), describe.Comma(ranked.GetRank())
	switch {
	case ranked == nil: // The player is hidden, or has played only challenges.
		return fmt.Sprintf("best %s, no rank", describe.Comma(best))
	case ranked.GetScore() < best:
		return fmt.Sprintf("best with challenges %s, rank %s with %s", describe.Comma(best), rank, score)
	default: // The best score may lack games from before an upgrade.
		return fmt.Sprintf("best %s, rank %s", score, rank)
	}
}
