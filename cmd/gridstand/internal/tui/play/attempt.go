package play

import (
	"slices"
	"strings"

	"charm.land/lipgloss/v2"
	"github.com/charmbracelet/x/ansi"

	"github.com/gridstand/gridstand/client"
	"github.com/gridstand/gridstand/cmd/gridstand/internal/tui/board"
	"github.com/gridstand/gridstand/cmd/gridstand/internal/tui/gamestate"
	"github.com/gridstand/gridstand/cmd/gridstand/internal/tui/ui"
	"github.com/gridstand/gridstand/internal/describe"
	pb "github.com/gridstand/gridstand/proto/gridstand/v1"
)

// attempt is the mode for an attempt at a challenge. It is like the mode for 2048 but shows
// the challenge's standings instead of the leaderboards.
type attempt struct {
	sliding
	*gamestate.Contest
}

func (m *attempt) Panel(p *page, l board.Layout) []string {
	t := p.env.Theme
	facts := []ui.Fact{{Label: "SCORE", Value: describe.Comma(p.Score()), Extra: p.Gain()}}
	moves := ui.Fact{Label: "MOVES", Value: describe.Comma(p.Moves())}
	tile := ui.Fact{Label: "TILE", Value: p.BestTile()}
	switch {
	case m.Race():
		facts = append(facts, ui.Fact{Label: "PLACE", Value: describe.Place(m.Standing(p.Game.GetId()).GetRank(), m.Total)})
	case m.Is(pb.ChallengeKind_CHALLENGE_KIND_REMATCH):
		facts = append(facts, m.target(p.Score()))
	default:
		facts = append(facts, tile)
		tile = ui.Fact{}
	}
	about := ui.Lines(false, t.Bold().Render(p.Player()), p.unranked(l.PanelWidth))
	if !l.Wide {
		if m.Race() {
			about = m.Rows(m.Lines, l.PanelWidth, l.PanelHeight-1)
		}
		return []string{ui.Inline(t, l.PanelWidth, append(facts, moves, tile)...) + "\n" + about}
	}
	cards := ui.Cards(t, l.PanelWidth, facts...)
	if !m.Race() {
		return []string{cards, ui.Inline(t, l.PanelWidth, moves, tile), about}
	}
	const gap = 1
	return []string{cards, m.others(l.PanelWidth, l.PanelHeight-lipgloss.Height(cards)-gap)}
}

// others draws the other players' boards in a race. If not all of them fit, it draws the
// standings and the leaders' boards.
func (m *attempt) others(width, height int) string {
	if boards, ok := m.Boards(width, height); ok {
		return boards
	}
	rows := m.Rows(m.Lines, width, min(height, len(m.Lines)))
	if boards, ok := m.Leaders(width, height-lipgloss.Height(rows)-1); ok {
		return rows + "\n\n" + boards
	}
	return rows
}

// title says how the attempt ended. Once a race is closed, it says whether the user won.
func (m *attempt) title(p *page) (string, lipgloss.Style) {
	t := p.env.Theme
	switch {
	case !m.Race() || !m.Closed():
		return p.Outcome(t, p.env.Me)
	case m.Standing(p.Game.GetId()).GetRank() == 1:
		return "You win", t.Good().Bold(true)
	default:
		return "The race is over", t.Bad().Bold(true)
	}
}

// target returns the score to beat in a rematch.
func (m *attempt) target(score int32) ui.Fact {
	f := ui.Fact{Label: "TO BEAT", Value: describe.Comma(m.GetTarget().GetScore())}
	if score > m.GetTarget().GetScore() {
		f.Extra = "beaten"
	}
	return f
}

// result returns the user's result in the challenge.
func (m *attempt) result(p *page) describe.Result {
	r := describe.Result{
		Challenge: m.Challenge, Score: p.Score(), Tiles: p.Twenty48().GetTiles(),
		Rank: p.env.Standing(m.Around.GetStandings()).GetRank(), Total: m.Around.GetTotal(),
		DayStreak: m.Attempt.GetDayStreak(), Link: m.Invite(),
	}
	if m.Race() {
		r.Rank, r.Total = m.Standing(p.Game.GetId()).GetRank(), m.Total
	}
	return r
}

// outcome returns the blocks of the result: the user's place and the facts of the game, the
// standings around the user and, for a race, the other boards if they fit.
func (m *attempt) outcome(p *page, l board.Layout, facts string) []string {
	t, r := p.env.Theme, m.result(p)
	place := describe.Place(r.Rank, r.Total)
	if place != "" && m.Race() && !m.Closed() {
		place += " so far"
	}
	lines := []string{t.Good().Bold(true).Render(place)}
	if why := p.unranked(l.PanelWidth); why != "" {
		lines[0] = why
	}
	if m.Is(pb.ChallengeKind_CHALLENGE_KIND_REMATCH) {
		lines = append(lines, describe.Margin(r.Score, m.GetTarget().GetScore(), client.CleanName(m.GetTarget().GetPlayer().GetName())))
	}
	standings := m.Around.GetStandings()
	if m.Race() {
		standings = m.Lines
		if m.Closed() {
			lines = append(lines, t.Dim().Render(ui.Wrap(describe.Tie(m.Lines), l.PanelWidth)))
		}
	} else {
		lines = append(lines, t.Dim().Render(describe.Percentile(r.Rank, r.Total)))
	}
	lines = append(lines, t.Dim().Render(describe.Streak(r.DayStreak)), facts)
	lines = slices.DeleteFunc(lines, func(line string) bool { return ansi.Strip(line) == "" })
	rows := func(n int) string { return m.Rows(standings, min(l.PanelWidth, rowsWidth), n) }
	if l.PanelHeight <= 10 { // in a short panel, lines can be dropped one at a time
		return append(lines, rows(len(standings)))
	}
	blocks := []string{strings.Join(lines, "\n"), rows(len(standings) + gamestate.HeadRows)}
	const head = 6 // number of lines for the title and the score
	if boards, ok := m.Boards(l.PanelWidth, ui.Room(l.PanelHeight-head, blocks...)); ok && l.Wide {
		blocks = append(blocks, boards)
	}
	return blocks
}

// rowsWidth is the maximum width of the standings.
const rowsWidth = 48
