package lobby

import (
	"context"
	"math"
	"strings"

	"charm.land/bubbles/v2/viewport"
	tea "charm.land/bubbletea/v2"
	"charm.land/lipgloss/v2"
	"github.com/charmbracelet/x/ansi"

	"github.com/gridstand/gridstand/client"
	"github.com/gridstand/gridstand/cmd/gridstand/internal/tui/board"
	"github.com/gridstand/gridstand/cmd/gridstand/internal/tui/ui"
	"github.com/gridstand/gridstand/internal/describe"
	pb "github.com/gridstand/gridstand/proto/gridstand/v1"
)

// rules is the page with the rules of a variant.
type rules struct {
	*ui.Tasks
	env *ui.Env
	id  string
	// variant is nil until it is loaded.
	variant *pb.Variant
	err     error
	text    viewport.Model
}

// NewRules returns the page with the rules of the variant with the given id.
func NewRules(ctx context.Context, env *ui.Env, variant string) ui.Page {
	return &rules{env: env, Tasks: ui.NewTasks(ctx), id: variant, text: viewport.New()}
}

func (p *rules) Init() tea.Cmd {
	p.err = nil
	return ui.Call(p.Tasks, p.env.Server.Variants, p.loaded)
}

func (p *rules) loaded(variants []*pb.Variant, err error) tea.Cmd {
	p.variant, p.err = variantOf(variants, p.id), err
	if p.variant == nil && p.err == nil {
		p.err = client.ErrVariantNotFound
	}
	return nil
}

func (p *rules) Key(msg tea.KeyPressMsg) tea.Cmd {
	cmd, done := p.Keys().Press(msg)
	if !done {
		p.text, cmd = p.text.Update(msg)
	}
	return cmd
}

// Keys implements ui.Page. The viewport handles those without an action.
func (p *rules) Keys() ui.KeyTable {
	return ui.KeyTable{{
		ui.Listed("↑ ↓", "scroll").Footer(1), ui.Listed("pgup pgdn", "page"),
		ui.On("home", "home", "top", true, func() tea.Cmd { p.text.GotoTop(); return nil }),
		ui.On("end", "end", "bottom", true, func() tea.Cmd { p.text.GotoBottom(); return nil }),
		ui.On("q esc", "q", ui.BackText, true, ui.Run(ui.Back)),
		ui.On("r", "r", "retry", p.err != nil, p.Init).Footer(2),
	}}
}

// rulesWidth is the maximum width of the text, in columns.
const rulesWidth = 72

func (p *rules) View(width, height int) ui.View {
	t := p.env.Theme
	v := ui.View{Title: "Rules", Left: []string{t.Bold().Render("rules")}}
	if p.variant == nil {
		text := t.Dim().Render("Loading …")
		if p.err != nil {
			text = t.Bad().Render(ui.Wrap("! "+ui.Explain(p.err, "Press r to retry."), width))
		}
		v.Body = text
		return v
	}
	const around = 4
	inner := max(min(width-around, rulesWidth), 1)
	content := p.content(inner)
	paneHeight := min(lipgloss.Height(content)+2, height)
	p.text.SetWidth(inner)
	p.text.SetHeight(max(paneHeight-2, 1))
	p.text.SetContent(content)
	frame := ui.Pane{Titles: []string{client.CleanText(p.variant.GetTitle(), rulesWidth)}, Focused: true, Corner: clean(p.variant.GetId())}
	if !p.text.AtBottom() {
		frame.Foot = "↓ more"
	} else if !p.text.AtTop() {
		frame.Foot = "↑ more"
	}
	v.Body = frame.Draw(t, p.text.View(), inner+around, paneHeight)
	return v
}

func (p *rules) content(width int) string {
	t, v := p.env.Theme, p.variant
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
