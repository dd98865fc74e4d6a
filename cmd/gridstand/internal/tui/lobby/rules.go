package lobby

import (
	"math"
	"strings"

	"charm.land/lipgloss/v2"
	"github.com/charmbracelet/x/ansi"

	"github.com/gridstand/gridstand/client"
	"github.com/gridstand/gridstand/cmd/gridstand/internal/tui/board"
	"github.com/gridstand/gridstand/cmd/gridstand/internal/tui/ui"
	"github.com/gridstand/gridstand/internal/describe"
	pb "github.com/gridstand/gridstand/proto/gridstand/v1"
)

// rulesWidth is the maximum width of the text, in columns.
const rulesWidth = 72

// Rules returns the dialog with the rules of a variant.
func Rules(v *pb.Variant) *ui.Text {
	return &ui.Text{Title: client.CleanText(v.GetTitle(), rulesWidth), Text: func(env *ui.Env, width int) string {
		t, width := env.Theme, min(width, rulesWidth)
		blocks := []string{
			t.Bold().Render(ui.Wrap(client.CleanText(v.GetSummary(), 200), width)),
			ui.Wrap(client.CleanText(v.GetRules(), 4000), width),
			example(t, v, width),
		}
		facts := []string{describe.Plural(v.GetSeats(), "seat") + ", and these bots:"}
		for _, bot := range v.GetBots() {
			facts = append(facts, describe.Bot(clean(bot)))
		}
		blocks = append(blocks, t.Dim().Render(ui.Wrap(strings.Join(facts, "\n"), width)))
		return ui.Stack(math.MaxInt, blocks...)
	}}
}

// example draws the board before and after an example move of a variant. It returns "" if
// this program cannot draw that kind of board or width is too small.
func example(t ui.Theme, v *pb.Variant, width int) string {
	switch v.GetKind() {
	case pb.Kind_KIND_TWENTY48:
		return merge(t, width)
	case pb.Kind_KIND_TRIBOLO:
		return jump(t, width)
	default:
		return ""
	}
}

// merge draws a move to the left in which two tiles merge.
func merge(t ui.Theme, width int) string {
	row := func(tiles ...int32) *pb.Twenty48Board {
		return &pb.Twenty48Board{Rows: 1, Columns: int32(len(tiles)), Tiles: tiles}
	}
	before := row(2, 2, 8)
	after := board.Marks{Spawned: 2, Merged: board.MergedBy(before, pb.Direction_DIRECTION_LEFT)}
	return steps(t, width, "← slides all tiles to the left: the two 2s merge, and a new 2 appears.",
		board.Twenty48{Board: before, Marks: board.NoMarks},
		board.Twenty48{Board: row(4, 8, 2), Marks: after})
}

// jump draws a jump of Blue over two cells of Red.
func jump(t ui.Theme, width int) string {
	const (
		none, blue, red, green = pb.CellState_CELL_STATE_EMPTY, pb.CellState_CELL_STATE_BLUE,
			pb.CellState_CELL_STATE_RED, pb.CellState_CELL_STATE_GREEN
	)
	rows := func(cells ...pb.CellState) *pb.TriboloBoard {
		return &pb.TriboloBoard{Rows: 3, Columns: 5, Cells: cells}
	}
	cell := func(x int32) *pb.Cell { return &pb.Cell{X: x, Y: 1} }
	before := rows(
		none, none, green, none, none,
		blue, red, red, none, green,
		none, green, none, none, red)
	after := rows(
		none, none, green, none, none,
		blue, blue, blue, blue, green,
		none, green, none, none, red)
	return steps(t, width, "Blue jumps to 3,1: a line of red cells leads from there to a blue cell. "+
		"The red cells become blue, and so does 3,1.",
		board.Tribolo{Board: before, Cursor: cell(3)},
		board.Tribolo{Board: after, Jump: &pb.TriboloMove{Cell: cell(3), Taken: []*pb.Cell{cell(1), cell(2)}}})
}

// steps draws two boards side by side with a caption below. It returns "" if they do not
// fit.
func steps(t ui.Theme, width int, text string, before, after board.Board) string {
	const height = 5
	arrow := t.Bold().Render(" → ")
	each := (width - ansi.StringWidth(arrow)) / 2
	size, ok := board.LargestSize(before, t, each, height) // after has the same dimensions
	if !ok {
		return ""
	}
	drawn := lipgloss.JoinHorizontal(lipgloss.Center, before.Draw(size, t), arrow, after.Draw(size, t))
	return lipgloss.JoinVertical(lipgloss.Left, drawn, "", t.Dim().Render(ui.Wrap(text, width)))
}
