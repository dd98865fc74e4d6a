package play

import (
	"slices"

	tea "charm.land/bubbletea/v2"
	"charm.land/lipgloss/v2"

	"github.com/gridstand/gridstand/client"
	"github.com/gridstand/gridstand/cmd/gridstand/internal/tui/board"
	"github.com/gridstand/gridstand/cmd/gridstand/internal/tui/gamestate"
	"github.com/gridstand/gridstand/cmd/gridstand/internal/tui/ui"
	"github.com/gridstand/gridstand/internal/describe"
	pb "github.com/gridstand/gridstand/proto/gridstand/v1"
)

// sliding is the mode for 2048.
type sliding struct{}

func (sliding) Keys(p *page) []ui.Key {
	return directionKeys("slide", func(d direction) tea.Cmd {
		return p.push(&Move{Move: client.Slide(d.to), Legal: func(s *gamestate.State) bool {
			return slices.Contains(s.Twenty48().GetLegalMoves(), d.to)
		}})
	})
}

func (sliding) Board(s *gamestate.State, _ bool) board.Board { return s.Board() }

func (sliding) PanelLines() int { return 4 }

func (sliding) Panel(p *page, l board.Layout) []string {
	t, c := p.env.Theme, p.contest
	scores := []ui.Fact{{Label: "SCORE", Value: describe.Comma(p.Score()), Extra: p.Gain()}}
	counts := []ui.Fact{{Label: "MOVES", Value: describe.Comma(p.Moves())}, {Label: "TILE", Value: p.BestTile()}}
	var rank []ui.Fact // for a ranked game
	switch {
	case c == nil:
		scores = append(scores, ui.Fact{Label: "BEST", Value: p.places.best(&p.State, p.seat())})
		if p.Ranked() {
			rank = []ui.Fact{{Label: "RANK", Value: placeText(p.places.day, "today")}}
		}
	case c.Race():
		scores = append(scores, ui.Fact{Label: "PLACE", Value: describe.Place(c.Standing(p.Game.GetId()).GetRank(), c.Total)})
	case c.Is(pb.ChallengeKind_CHALLENGE_KIND_REMATCH):
		scores = append(scores, p.target())
	default:
		scores, counts = append(scores, counts[1]), counts[:1]
	}
	who, unranked := t.Bold().Render(p.Player()), p.unranked()
	switch {
	case l.Wide && p.race():
		const gap = 1
		cards := ui.Cards(t, l.PanelWidth, scores...)
		return []string{cards, p.others(l.PanelWidth, l.PanelHeight-lipgloss.Height(cards)-gap)}
	case l.Wide:
		return []string{
			ui.Cards(t, l.PanelWidth, scores...),
			ui.Lines(false, ui.Inline(t, l.PanelWidth, counts...), ui.Inline(t, l.PanelWidth, rank...)),
			ui.Lines(false, who, unranked),
		}
	case p.race():
		facts := ui.Inline(t, l.PanelWidth, append(scores, counts...)...)
		return []string{facts + "\n" + c.Rows(c.Lines, l.PanelWidth, l.PanelHeight-1)}
	case unranked != "":
		who += "  " + unranked
	}
	return []string{ui.Lines(false, ui.Inline(t, l.PanelWidth, scores...), ui.Inline(t, l.PanelWidth, counts...),
		ui.Inline(t, l.PanelWidth, rank...), who)}
}

func (sliding) Intro() string {
	return "Arrows slide all tiles: two equal ones merge."
}

// unranked returns a note if the game is not ranked, and otherwise "". While the game waits for players, the
// invitation needs the room.
func (p *page) unranked() string {
	if p.Ranked() || gamestate.Waits(p.Game.Game) {
		return ""
	}
	return p.env.Theme.Warn().Render("unranked")
}
