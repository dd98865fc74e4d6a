package play

import (
	"slices"

	tea "charm.land/bubbletea/v2"

	"github.com/gridstand/gridstand/client"
	"github.com/gridstand/gridstand/cmd/gridstand/internal/tui/board"
	"github.com/gridstand/gridstand/cmd/gridstand/internal/tui/gamestate"
	"github.com/gridstand/gridstand/cmd/gridstand/internal/tui/ui"
	"github.com/gridstand/gridstand/cmd/gridstand/internal/tui/widget"
	"github.com/gridstand/gridstand/internal/describe"
	pb "github.com/gridstand/gridstand/proto/gridstand/v1"
)

// queueLimit is the maximum number of 2048 moves queued behind the one in flight.
const queueLimit = 64

// sliding is the mode for 2048.
type sliding struct{}

func (m *sliding) Keys() ([]string, []ui.Key) { return []string{"↑↓←→=slide"}, arrowKeys }

func (m *sliding) Key(_ *gamestate.State, msg tea.KeyPressMsg) Act {
	d := arrows[msg.String()]
	if d == pb.Direction_DIRECTION_UNSPECIFIED {
		return Act{}
	}
	return Act{Move: &Move{Move: client.Slide(d), Legal: func(s *gamestate.State) bool {
		return slices.Contains(s.Twenty48().GetLegalMoves(), d)
	}}}
}

func (m *sliding) Click(*gamestate.State, board.Size, int, int) Act { return Act{} }

func (m *sliding) Board(s *gamestate.State, _ bool) board.Board { return s.Board() }

func (m *sliding) PanelLines() int { return 4 }

func (m *sliding) Panel(l look) []string {
	t := l.env.Theme
	scores := []widget.Fact{
		{Label: "SCORE", Value: describe.Comma(l.Score()), Extra: l.Gain()},
		{Label: "BEST", Value: l.places.best(&l.State, l.seat())},
	}
	moves := widget.Fact{Label: "MOVES", Value: describe.Comma(l.Moves())}
	tile := widget.Fact{Label: "TILE", Value: l.BestTile()}
	rank := widget.Fact{Label: "RANK", Value: placeText(l.places.day, "today")}
	if l.wide {
		return []string{
			widget.Cards(t, l.width, scores...),
			widget.Columns(t, l.width, moves, tile) + "\n" + widget.Columns(t, l.width*2, rank),
			widget.Lines(false, t.Bold().Render(l.Player()), l.unranked()),
		}
	}
	who := t.Bold().Render(l.Player())
	if why := l.unranked(); why != "" {
		who += "  " + why
	}
	return []string{
		widget.Inline(t, l.width, scores...) + "\n" + widget.Inline(t, l.width, moves, tile) +
			"\n" + widget.Inline(t, l.width, rank) + "\n" + who,
	}
}

func (m *sliding) Result(l look) (title, facts string) {
	return l.Ending(), l.env.Theme.Dim().Render("best " + l.Progress())
}

// cellsFor2048 is the smallest number of cells on which a 2048 can be made: before the last
// merges, ten cells hold a 1024, a 512, and so on down to an 8, and two 4s.
const cellsFor2048 = 10

func (m *sliding) Intro(s *gamestate.State) [3][]string {
	aim := []string{"Build a 2048; r shows the rules.", "r shows the rules."}
	if len(s.Twenty48().GetTiles()) < cellsFor2048 {
		aim[0] = "Score points; r shows the rules."
	}
	return [3][]string{
		{"Arrow keys slide all tiles at once.", "Arrows slide all tiles."},
		{"Two equal tiles that meet become one.", "Equal tiles merge."},
		aim,
	}
}

func (m *sliding) Ahead() int { return queueLimit }

func (m *sliding) Solvers() []string { return []string{"greedy", "rote", "montecarlo", "expectimax"} }

// unranked returns a note that says why the game is not ranked, or "" if it is ranked.
func (l look) unranked() string {
	if why := l.Unranked(); why != "" {
		return l.env.Theme.Warn().Render(widget.Wrap("unranked: "+why, l.width))
	}
	return ""
}
