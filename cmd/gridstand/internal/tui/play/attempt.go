package play

import (
	"slices"
	"strings"

	"charm.land/lipgloss/v2"
	"github.com/charmbracelet/x/ansi"

	"github.com/gridstand/gridstand/client"
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

func (m *attempt) Panel(in panelInput) []string {
	t := in.env.Theme
	facts := []ui.Fact{{Label: "SCORE", Value: describe.Comma(in.Score()), Extra: in.Gain()}}
	moves := ui.Fact{Label: "MOVES", Value: describe.Comma(in.Moves())}
	tile := ui.Fact{Label: "TILE", Value: in.BestTile()}
	switch {
	case m.Race():
		facts = append(facts, ui.Fact{Label: "PLACE", Value: describe.Place(m.Standing(in.Game.GetId()).GetRank(), m.Total)})
	case m.Is(pb.ChallengeKind_CHALLENGE_KIND_REMATCH):
		facts = append(facts, m.target(in.Score()))
	default:
		facts = append(facts, tile)
		tile = ui.Fact{}
	}
	about := ui.Lines(false, t.Bold().Render(in.Player()), in.unranked())
	if !in.wide {
		if m.Race() {
			about = m.Rows(m.Lines, in.width, in.height-1)
		}
		return []string{ui.Inline(t, in.width, append(facts, moves, tile)...) + "\n" + about}
	}
	cards := ui.Cards(t, in.width, facts...)
	if !m.Race() {
		return []string{cards, ui.Inline(t, in.width, moves, tile), about}
	}
	const gap = 1
	return []string{cards, m.others(in.width, in.height-lipgloss.Height(cards)-gap)}
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
func (m *attempt) title(in panelInput) (string, lipgloss.Style) {
	t := in.env.Theme
	switch {
	case !m.Race() || !m.Closed():
		return in.Outcome(t, in.env.Me)
	case m.Standing(in.Game.GetId()).GetRank() == 1:
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
func (m *attempt) result(in panelInput) describe.Result {
	r := describe.Result{
		Challenge: m.Challenge, Score: in.Score(), Tiles: in.Twenty48().GetTiles(),
		Rank: in.env.Standing(m.Around.GetStandings()).GetRank(), Total: m.Around.GetTotal(),
		DayStreak: m.Attempt.GetDayStreak(), Link: m.Invite(),
	}
	if m.Race() {
		r.Rank, r.Total = m.Standing(in.Game.GetId()).GetRank(), m.Total
	}
	return r
}

// outcome returns the blocks of the result: the user's place and the facts of the game, the
// standings around the user and, for a race, the other boards if they fit.
func (m *attempt) outcome(in panelInput, facts string) []string {
	t, r := in.env.Theme, m.result(in)
	place := describe.Place(r.Rank, r.Total)
	if place != "" && m.Race() && !m.Closed() {
		place += " so far"
	}
	lines := []string{t.Good().Bold(true).Render(place)}
	if why := in.unranked(); why != "" {
		lines[0] = why
	}
	if m.Is(pb.ChallengeKind_CHALLENGE_KIND_REMATCH) {
		lines = append(lines, describe.Margin(r.Score, m.GetTarget().GetScore(), client.CleanName(m.GetTarget().GetPlayer().GetName())))
	}
	standings := m.Around.GetStandings()
	if m.Race() {
		standings = m.Lines
		if m.Closed() {
			lines = append(lines, t.Dim().Render(ui.Wrap(describe.Tie(m.Lines), in.width)))
		}
	} else {
		lines = append(lines, t.Dim().Render(describe.Percentile(r.Rank, r.Total)))
	}
	lines = append(lines, t.Dim().Render(describe.Streak(r.DayStreak)), facts)
	lines = slices.DeleteFunc(lines, func(line string) bool { return ansi.Strip(line) == "" })
	rows := func(n int) string { return m.Rows(standings, min(in.width, rowsWidth), n) }
	if in.height <= 10 { // in a short panel, lines can be dropped one at a time
		return append(lines, rows(len(standings)))
	}
	blocks := []string{strings.Join(lines, "\n"), rows(len(standings) + gamestate.HeadRows)}
	const head = 6 // number of lines for the title and the score
	if boards, ok := m.Boards(in.width, ui.Room(in.height-head, blocks...)); ok && in.wide {
		blocks = append(blocks, boards)
	}
	return blocks
}

// rowsWidth is the maximum width of the standings.
const rowsWidth = 48
