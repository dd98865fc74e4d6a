package play

import (
	"slices"

	tea "charm.land/bubbletea/v2"

	"github.com/gridstand/gridstand/client"
	"github.com/gridstand/gridstand/cmd/gridstand/internal/tui/board"
	"github.com/gridstand/gridstand/cmd/gridstand/internal/tui/gamestate"
	"github.com/gridstand/gridstand/cmd/gridstand/internal/tui/ui"
	"github.com/gridstand/gridstand/internal/describe"
	pb "github.com/gridstand/gridstand/proto/gridstand/v1"
)

// sliding is the mode for 2048.
type sliding struct{}

func (sliding) Keys() []ui.Key { return arrowKeys("slide") }

func (sliding) Key(p *playing, msg tea.KeyPressMsg) tea.Cmd {
	d := arrows[msg.String()]
	if d == pb.Direction_DIRECTION_UNSPECIFIED {
		return nil
	}
	return p.push(&Move{Move: client.Slide(d), Legal: func(s *gamestate.State) bool {
		return slices.Contains(s.Twenty48().GetLegalMoves(), d)
	}})
}

func (sliding) Board(s *gamestate.State, _ bool) board.Board { return s.Board() }

func (sliding) PanelLines() int { return 4 }

func (sliding) Panel(in panelInput) []string {
	t := in.env.Theme
	scores := []ui.Fact{
		{Label: "SCORE", Value: describe.Comma(in.Score()), Extra: in.Gain()},
		{Label: "BEST", Value: in.places.best(&in.State, in.seat())},
	}
	moves := ui.Fact{Label: "MOVES", Value: describe.Comma(in.Moves())}
	tile := ui.Fact{Label: "TILE", Value: in.BestTile()}
	var rank []ui.Fact // for a ranked game
	if in.Unranked() == "" {
		rank = []ui.Fact{{Label: "RANK", Value: placeText(in.places.day, "today")}}
	}
	if in.wide {
		return []string{
			ui.Cards(t, in.width, scores...),
			ui.Lines(false, ui.Inline(t, in.width, moves, tile), ui.Inline(t, in.width, rank...)),
			ui.Lines(false, t.Bold().Render(in.Player()), in.unranked()),
		}
	}
	who := t.Bold().Render(in.Player())
	if why := in.unranked(); why != "" {
		who += "  " + why
	}
	return []string{
		ui.Lines(false, ui.Inline(t, in.width, scores...), ui.Inline(t, in.width, moves, tile),
			ui.Inline(t, in.width, rank...), who),
	}
}

func (sliding) Facts(in panelInput) string {
	return in.env.Theme.Dim().Render("best " + describe.Standing(in.Game.Game))
}

func (sliding) Intro(*gamestate.State) string {
	return "Arrow keys slide all tiles at once.\nTwo equal tiles that meet become one.\nr shows the rules."
}

// unranked returns a note that says why the game is not ranked, or "" if it is ranked.
func (in panelInput) unranked() string {
	if why := in.Unranked(); why != "" {
		return in.env.Theme.Warn().Render(ui.Wrap("unranked: "+why, in.width))
	}
	return ""
}
