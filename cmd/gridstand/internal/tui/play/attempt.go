package play

import (
	"slices"
	"strings"

	"charm.land/lipgloss/v2"
	"github.com/charmbracelet/x/ansi"

	"github.com/gridstand/gridstand/client"
	"github.com/gridstand/gridstand/cmd/gridstand/internal/tui/board"
	"github.com/gridstand/gridstand/cmd/gridstand/internal/tui/ui"
	"github.com/gridstand/gridstand/internal/describe"
	pb "github.com/gridstand/gridstand/proto/gridstand/v1"
)

// race reports whether the game is an attempt at a race.
func (p *page) race() bool { return p.contest != nil && p.contest.Race() }

// others draws the other players' boards in a race or, if not all of them fit, the standings.
func (p *page) others(width, height int) string {
	c := p.contest
	if boards, ok := c.Boards(width, height); ok {
		return boards
	}
	return c.Rows(c.Lines, width, height)
}

// title says how the game ended. Once a race is closed, it says whether the user won, which takes points.
func (p *page) title() (string, lipgloss.Style) {
	t := p.env.Theme
	switch {
	case !p.race() || !p.contest.Closed():
		return p.Outcome(t, p.env.Me)
	case p.contest.Leads(p.Game.GetId()):
		return "You win", t.Good().Bold(true)
	default:
		return "The race is over", t.Bad().Bold(true)
	}
}

// target returns the score to beat in a rematch.
func (p *page) target() ui.Fact {
	score := p.contest.GetTarget().GetScore()
	f := ui.Fact{Label: "TO BEAT", Value: describe.Comma(score)}
	if p.Score() > score {
		f.Extra = "beaten"
	}
	return f
}

// attempt returns the user's result in the challenge.
func (p *page) attempt() describe.Result {
	c := p.contest
	return describe.Result{
		Challenge: c.Challenge, Score: p.Score(), Tiles: p.Twenty48().GetTiles(),
		Rank: c.Standing(p.Game.GetId()).GetRank(), Total: c.Total,
		DayStreak: c.Attempt.GetDayStreak(), Link: c.Invitation().Text(),
	}
}

// outcome returns the result of an attempt for the last height rows of a panel: lines with the user's place
// and the facts of the game, and blocks with the standings around the user and, for a race, the other boards
// if they fit.
func (p *page) outcome(l board.Layout, height int, facts string) (lines, blocks []string) {
	t, c, r := p.env.Theme, p.contest, p.attempt()
	place := describe.Place(r.Rank, r.Total)
	if place != "" && c.Race() && !c.Closed() {
		place += " so far"
	}
	lines = []string{t.Good().Bold(true).Render(place)}
	if unranked := p.unranked(); unranked != "" {
		lines[0] = unranked
	}
	if c.Is(pb.ChallengeKind_CHALLENGE_KIND_REMATCH) {
		lines = append(lines, describe.Margin(r.Score, c.GetTarget().GetScore(), client.CleanName(c.GetTarget().GetPlayer().GetName())))
	}
	switch {
	case !c.Race():
		lines = append(lines, t.Dim().Render(describe.Percentile(r.Rank, r.Total)))
	case c.Closed():
		lines = append(lines, t.Dim().Render(ui.Wrap(describe.Tie(c.Lines, r.Score), l.PanelWidth)))
	}
	lines = append(lines, t.Dim().Render(describe.Streak(r.DayStreak)), facts)
	lines = slices.DeleteFunc(lines, func(line string) bool { return ansi.Strip(line) == "" })
	text := strings.Join(lines, "\n")
	blocks = []string{c.Rows(c.Lines, min(l.PanelWidth, rowsWidth), height-lipgloss.Height(text))}
	if boards, ok := c.Boards(l.PanelWidth, ui.Room(height-1, text, blocks[0])); ok && l.Wide {
		blocks = append(blocks, boards)
	}
	return lines, blocks
}

const (
	rowsWidth = 48 // maximum width of the standings
	leastRows = 3  // lines of the standings that a low panel shows rather than the score in large letters
)
