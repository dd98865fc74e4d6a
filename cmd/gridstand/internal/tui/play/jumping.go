package play

import (
	"fmt"
	"strings"

	tea "charm.land/bubbletea/v2"

	"github.com/gridstand/gridstand/client"
	"github.com/gridstand/gridstand/cmd/gridstand/internal/tui/board"
	"github.com/gridstand/gridstand/cmd/gridstand/internal/tui/gamestate"
	"github.com/gridstand/gridstand/cmd/gridstand/internal/tui/ui"
	"github.com/gridstand/gridstand/internal/describe"
	pb "github.com/gridstand/gridstand/proto/gridstand/v1"
)

// jumping is the mode for Tribolo. The player moves a cursor and jumps to it.
type jumping struct {
	cursor  *pb.Cell
	targets bool // whether legal targets are shown
}

// steps are the cursor's steps in each direction.
var steps = map[pb.Direction]struct{ x, y int32 }{
	pb.Direction_DIRECTION_UP: {y: -1}, pb.Direction_DIRECTION_DOWN: {y: 1},
	pb.Direction_DIRECTION_LEFT: {x: -1}, pb.Direction_DIRECTION_RIGHT: {x: 1},
}

func newJumping(b *pb.TriboloBoard) *jumping {
	return &jumping{cursor: &pb.Cell{X: b.GetColumns() / 2, Y: b.GetRows() / 2}}
}

func (m *jumping) Keys() []ui.Key {
	return append(arrowKeys("cursor"), ui.Listed("enter space click", "jump").FooterAs(2, "enter", "jump"),
		ui.Listed("t", "show where jumps lead").FooterAs(3, "t", "targets"))
}

func (m *jumping) Key(p *playing, msg tea.KeyPressMsg) tea.Cmd {
	columns, rows := p.Tribolo().GetColumns(), p.Tribolo().GetRows()
	step := steps[arrows[msg.String()]]
	m.cursor = &pb.Cell{X: (m.cursor.GetX() + step.x + columns) % columns, Y: (m.cursor.GetY() + step.y + rows) % rows}
	switch msg.String() {
	case "t":
		m.targets = !m.targets
	case "enter", "space":
		return m.jump(p)
	}
	return nil
}

func (m *jumping) Click(p *playing, c board.Size, x, y int) tea.Cmd {
	at, ok := board.Tribolo{Board: p.Tribolo()}.CellAt(c, x, y)
	if !ok {
		return nil
	}
	m.cursor = at
	return m.jump(p)
}

// jump jumps to the cursor, or explains why that is illegal.
func (m *jumping) jump(p *playing) tea.Cmd {
	to := m.cursor
	legal := func(s *gamestate.State) bool { return board.MoveTo(s.Tribolo(), to) != nil }
	if !legal(&p.State) {
		p.notice = m.noJump(&p.State)
		return nil
	}
	return p.push(&Move{Move: client.Jump(to), Legal: legal})
}

// noJump explains why no jump leads to the cursor.
func (m *jumping) noJump(s *gamestate.State) string {
	name := describe.Cell(m.cursor)
	if i := m.cursor.GetY()*s.Tribolo().GetColumns() + m.cursor.GetX(); s.Tribolo().GetCells()[i] != pb.CellState_CELL_STATE_EMPTY {
		return "No jump to " + name + ": a jump goes to an empty cell."
	}
	return "No jump to " + name + ": it needs a line of one opponent's cells from there to yours."
}

func (m *jumping) Board(s *gamestate.State, mine bool) board.Board {
	b := board.Tribolo{Board: s.Tribolo(), Jump: s.Jump, Hints: m.targets, Lit: mine}
	if !s.Over() {
		b.Cursor = m.cursor
	}
	return b
}

func (m *jumping) PanelLines() int { return 7 }

func (m *jumping) Panel(in panelInput) []string {
	turn := ui.Lines(false, in.TurnText(in.env.Theme, in.mine()), m.hint(in))
	if in.wide {
		return []string{in.SeatBlocks(in.env.Theme, in.width, in.env.Me, in.height > 18), turn, in.unranked()}
	}
	lines := []string{in.SeatLines(in.env.Theme, in.width, in.env.Me), turn, in.unranked()}
	if in.height < m.PanelLines() && in.mine() {
		lines[0], lines[1] = turn, lines[0]
	}
	return []string{ui.Lines(false, lines...)}
}

// hint describes the effect of a jump to the cursor, if targets are shown.
func (m *jumping) hint(in panelInput) string {
	if !m.targets || in.Over() || in.Turn() < 0 {
		return ""
	}
	jump := board.MoveTo(in.Tribolo(), m.cursor)
	if jump == nil {
		return in.env.Theme.Dim().Render(ui.Wrap(m.noJump(&in.State), in.width))
	}
	return in.env.Theme.Accent().Render(describe.Cell(m.cursor)+" takes ") + in.env.Theme.Bold().Render(takes(in.Tribolo(), jump))
}

// takes returns the number of cells that a move takes, in total and by owner, such as
// "5: 3 R, 2 G".
func takes(b *pb.TriboloBoard, m *pb.TriboloMove) string {
	count := make([]int, len(board.OwnerLetters))
	for _, c := range m.GetTaken() {
		if seat := board.SeatOf(b.GetCells()[c.GetY()*b.GetColumns()+c.GetX()]); seat >= 0 {
			count[seat]++
		}
	}
	var parts []string
	for seat, n := range count {
		if n > 0 {
			parts = append(parts, fmt.Sprintf("%d %s", n, board.OwnerLetters[seat]))
		}
	}
	return fmt.Sprintf("%d: %s", len(m.GetTaken()), strings.Join(parts, ", "))
}

func (m *jumping) Facts(in panelInput) string {
	return in.Standings(in.env.Theme, in.width, in.env.Me)
}

func (m *jumping) Intro(*gamestate.State) string {
	return "Arrows move the cursor, Enter jumps there.\nCells that you jump over become yours.\nt shows where jumps lead, r the rules."
}
