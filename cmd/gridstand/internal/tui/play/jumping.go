package play

import (
	"cmp"
	"slices"
	"strconv"
	"strings"

	tea "charm.land/bubbletea/v2"

	"github.com/gridstand/gridstand/client"
	"github.com/gridstand/gridstand/cmd/gridstand/internal/tui/board"
	"github.com/gridstand/gridstand/cmd/gridstand/internal/tui/gamestate"
	"github.com/gridstand/gridstand/cmd/gridstand/internal/tui/ui"
	"github.com/gridstand/gridstand/internal/convert"
	"github.com/gridstand/gridstand/internal/describe"
	pb "github.com/gridstand/gridstand/proto/gridstand/v1"
)

// jumping is the mode for Tribolo. The player moves a cursor and jumps to it.
type jumping struct {
	cursor  *pb.Cell // nil before the player moves it
	targets bool     // whether legal targets are shown
}

// at returns the cursor. Until the player moves it, it is on the legal target closest to the center.
func (m *jumping) at(b *pb.TriboloBoard) *pb.Cell {
	if m.cursor != nil {
		return m.cursor
	}
	center := &pb.Cell{X: b.GetColumns() / 2, Y: b.GetRows() / 2}
	away := func(c *pb.Cell) int32 {
		x, y := c.GetX()-center.GetX(), c.GetY()-center.GetY()
		return x*x + y*y
	}
	targets := targetsOf(b)
	if len(targets) == 0 {
		return center
	}
	return slices.MinFunc(targets, func(a, b *pb.Cell) int { return cmp.Compare(away(a), away(b)) })
}

// targetsOf returns the cells to which a jump is legal, row by row.
func targetsOf(b *pb.TriboloBoard) []*pb.Cell {
	cells := convert.All(b.GetLegalMoves(), (*pb.TriboloMove).GetCell)
	slices.SortFunc(cells, byRow)
	return cells
}

// byRow orders cells row by row.
func byRow(a, b *pb.Cell) int {
	return cmp.Or(cmp.Compare(a.GetY(), b.GetY()), cmp.Compare(a.GetX(), b.GetX()))
}

// target moves the cursor to the next legal target, or to the previous one if step is -1.
func (m *jumping) target(b *pb.TriboloBoard, step int) {
	targets, n := targetsOf(b), len(b.GetLegalMoves())
	if n == 0 {
		return
	}
	i, found := slices.BinarySearchFunc(targets, m.at(b), byRow)
	if step > 0 && !found {
		step = 0 // i is the next one
	}
	m.cursor = targets[(i+step+n)%n]
}

func (m *jumping) Keys(p *page) []ui.Key {
	b := p.Tribolo()
	targets := func(step int) func() tea.Cmd { return func() tea.Cmd { m.target(b, step); return nil } }
	jump, hints := func() tea.Cmd { return m.jump(p) }, func() tea.Cmd { m.targets = !m.targets; return nil }
	if gamestate.Waits(p.Game.Game) {
		return []ui.Key{ui.Unlisted("enter space", jump)} // says why it has no effect
	}
	return append(directionKeys("cursor", func(d direction) tea.Cmd { m.move(b, d); return nil }),
		ui.On("enter space", "enter space", "jump, as a click does", true, jump).FooterAs(2, "enter", "jump"),
		ui.On("tab", "tab", "next target", true, targets(1)).FooterAs(3, "tab", "next"),
		ui.On("shift+tab", "shift-tab", "previous target", true, targets(-1)),
		ui.On("t", "t", "show where jumps lead", true, hints).FooterAs(4, "t", "targets"))
}

// move moves the cursor by one cell. At an edge, it goes to the opposite one.
func (m *jumping) move(b *pb.TriboloBoard, d direction) {
	columns, rows, at := b.GetColumns(), b.GetRows(), m.at(b)
	m.cursor = &pb.Cell{X: (at.GetX() + d.X + columns) % columns, Y: (at.GetY() + d.Y + rows) % rows}
}

func (m *jumping) Click(p *page, c board.Size, x, y int) tea.Cmd {
	at, ok := board.Tribolo{Board: p.Tribolo()}.CellAt(c, x, y)
	if !ok {
		return nil
	}
	m.cursor = at
	return m.jump(p)
}

// jump jumps to the cursor, or explains why that is illegal.
func (m *jumping) jump(p *page) tea.Cmd {
	if gamestate.Waits(p.Game.Game) {
		return p.Refuse("The game starts when all seats are taken.")
	}
	to := m.at(p.Tribolo())
	m.cursor = to
	legal := func(s *gamestate.State) bool { return board.MoveTo(s.Tribolo(), to) != nil }
	if !legal(&p.State) {
		return p.Refuse(m.noJump(&p.State))
	}
	return p.push(&Move{Move: client.Jump(to), Legal: legal})
}

// noJump explains why no jump leads to the cursor.
func (m *jumping) noJump(s *gamestate.State) string {
	at := m.at(s.Tribolo())
	name := describe.Cell(at)
	if i := at.GetY()*s.Tribolo().GetColumns() + at.GetX(); s.Tribolo().GetCells()[i] != pb.CellState_CELL_STATE_EMPTY {
		return "No jump to " + name + ": a jump goes to an empty cell."
	}
	return "No jump to " + name + ": it needs a line of one opponent's cells from there to yours."
}

func (m *jumping) Board(s *gamestate.State, mine bool) board.Board {
	b := board.Tribolo{Board: s.Tribolo(), Jump: s.Jump, Hints: m.targets, Lit: mine}
	if s.Turn() >= 0 {
		b.Cursor = m.at(s.Tribolo())
	}
	return b
}

func (m *jumping) PanelLines() int { return 7 }

func (m *jumping) Panel(p *page, l board.Layout) []string {
	turn, hint := p.TurnText(p.env.Theme, p.mine()), m.hint(p, l.PanelWidth)
	if l.Wide {
		seats := p.SeatBlocks(p.env.Theme, l, p.env.Me, l.PanelHeight > 18)
		return []string{seats, ui.Lines(false, turn, hint), p.unranked()}
	}
	whose, places, _ := strings.Cut(turn, "\n")
	seats := p.SeatLines(p.env.Theme, l.PanelWidth, p.env.Me, false)
	return []string{ui.Lines(false, whose, hint, seats, places, p.unranked())}
}

// hint describes the effect of a jump to the cursor on the user's turn, if targets are shown.
func (m *jumping) hint(p *page, width int) string {
	if !m.targets || !p.mine() {
		return ""
	}
	at := m.at(p.Tribolo())
	jump := board.MoveTo(p.Tribolo(), at)
	if jump == nil {
		return p.env.Theme.Dim().Render(ui.Wrap(m.noJump(&p.State), width))
	}
	return p.env.Theme.Accent().Render(describe.Cell(at)+" takes ") + p.env.Theme.Bold().Render(strconv.Itoa(len(jump.GetTaken())))
}

func (m *jumping) Intro() string {
	return "Enter jumps: the cells on the way become yours."
}
