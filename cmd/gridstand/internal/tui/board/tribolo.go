package board

import (
	"cmp"
	"fmt"
	"image"
	"image/color"
	"slices"
	"strings"

	"charm.land/lipgloss/v2"

	"github.com/gridstand/gridstand/cmd/gridstand/internal/tui/ui"
	"github.com/gridstand/gridstand/internal/describe"
	"github.com/gridstand/gridstand/internal/palette"
	pb "github.com/gridstand/gridstand/proto/gridstand/v1"
)

// Tribolo's cell sizes, best first. Cells more than one row high have a gap above and to the
// left; apart from the gap, they are square. Bare and mini sizes have no frame.
var (
	triboloSizes = []Size{{Width: 8, Pitch: 4}, {Width: 6, Pitch: 3}, {Width: 4, Pitch: 2}, {Width: 3, Pitch: 1}, {Width: 2, Pitch: 1}}
	triboloTight = []Size{{Width: 2, Pitch: 1}, {Width: 3, Pitch: 1, Bare: true}, {Width: 1, Pitch: 1, Bare: true}}
	triboloMini  = []Size{{Width: 2, Pitch: 1, Mini: true}, {Width: 1, Pitch: 1, Mini: true}} // after the tight ones
)

// Tribolo is a Tribolo board with its highlights.
type Tribolo struct {
	Board *pb.TriboloBoard
	// Jump is the move to highlight, or nil.
	Jump *pb.TriboloMove
	// Cursor is the cell with the player's cursor, or nil.
	Cursor *pb.Cell
	// Hints shows the legal moves of the seat to move.
	Hints bool
	// Lit makes the frame stand out. It is set on the player's turn.
	Lit bool
}

// Sizes implements Board.
func (p Tribolo) Sizes(t ui.Theme) (sizes, tight []Size) {
	if !t.Board().Colored() {
		return triboloSizes[2:], triboloTight // even a large cell shows only a letter
	}
	return triboloSizes, slices.Concat(triboloTight, triboloMini)
}

// Size of the frame to the left of the cells and above them.
const (
	triboloLeft = 3 // row numbers and frame
	triboloTop  = 1 // frame, which contains the column names
)

// Measure implements Board.
func (p Tribolo) Measure(c Size) (width, height int) {
	width, height = p.inner(c)
	switch {
	case c.Mini:
		return int(p.Board.GetColumns()) * c.Width, (int(p.Board.GetRows())*c.Pitch + 1) / 2
	case c.Bare:
		return width, height
	}
	return width + triboloLeft + 1, height + triboloTop + 1
}

// inner returns the size of the board without the frame.
func (p Tribolo) inner(c Size) (width, height int) {
	width, height = int(p.Board.GetColumns())*c.Width, int(p.Board.GetRows())*c.Pitch
	if c.Width == 2 || c.Pitch > 1 {
		width++ // the last column also has a gap to its right
	}
	return width, height
}

// Draw paints each cell in its owner's color, with the owner's letter. Cells that were just
// taken have a lowercase letter. The target of the last jump is in parentheses. The cursor
// is in brackets or framed.
func (p Tribolo) Draw(c Size, t ui.Theme) string {
	if c.Mini {
		return p.drawMini(c, t)
	}
	t = t.Board()
	width, height := p.Measure(c)
	d := triboloDrawing{Tribolo: p, Canvas: ui.NewCanvas(width, height), theme: t, cell: c, colors: t.Colors()}
	if p.Hints {
		d.taken = MoveTo(p.Board, p.Cursor).GetTaken()
	}
	if !c.Bare {
		d.left, d.top = triboloLeft, triboloTop
		p.frame(d.Canvas, c, t)
	}
	w, h := p.inner(c)
	if d.colors.Board != nil {
		d.Fill(image.Rect(d.left, d.top*2, d.left+w, (d.top+h)*2), d.colors.Board)
	}
	for i := range p.Board.GetCells() {
		d.draw(i, false)
	}
	if p.Cursor != nil {
		d.draw(int(p.Cursor.GetY()*p.Board.GetColumns()+p.Cursor.GetX()), true)
	}
	return d.Render()
}

// triboloDrawing is a board that is being drawn.
type triboloDrawing struct {
	Tribolo
	*ui.Canvas
	theme     ui.Theme
	cell      Size
	colors    *palette.Palette
	left, top int        // position of the first cell
	taken     []*pb.Cell // cells that a jump to the cursor would take
}

// draw draws cell i, with or without the cursor.
func (d triboloDrawing) draw(i int, cursor bool) {
	columns := int(d.Board.GetColumns())
	at := &pb.Cell{X: int32(i % columns), Y: int32(i / columns)}
	x, y := d.left+i%columns*d.cell.Width, d.top+i/columns*d.cell.Pitch
	whole := image.Rect(x, y*2, x+d.cell.Width, (y+d.cell.Pitch)*2)
	area, letter := whole, x+d.cell.Width/2
	if d.cell.Pitch > 1 {
		area.Min = area.Min.Add(image.Pt(1, 1))
	}
	face := d.face(i, at)
	switch {
	case cursor && d.theme.Colored() && d.cell.Pitch > 1:
		whole.Max = whole.Max.Add(image.Pt(1, 1))
		d.Fill(whole, d.colors.Tile(2048).Ground)
		if face.Ground == nil {
			face.Ground = d.colors.Board
		}
	case cursor && d.theme.Colored():
		face.Tone, face.before, face.behind = d.colors.Tile(2048), "[", "]"
		area.Max.X = max(area.Max.X, letter+2)
		if d.cell.Width == 1 {
			area.Max.X = x + 1
		}
	case cursor && d.cell.Width == 1:
		face.text = "+"
	case cursor:
		face.before, face.behind = "[", "]"
	}
	if face.Ground != nil || cursor && d.theme.Colored() {
		d.Fill(area, face.Ground)
	}
	if d.cell.Width == 1 {
		face.before, face.behind = "", ""
	}
	row := y + d.cell.Pitch/2
	if face.before == "" && d.cell.Width == 3 && SeatOf(d.Board.GetCells()[i]) >= 0 && d.theme.Colored() {
		d.Write(x, row, "▏", cmp.Or[color.Color](d.colors.Board, lipgloss.Black), false) // separates adjacent cells of one owner
	}
	d.Write(letter-1, row, face.before, face.Ink, true)
	d.Write(letter, row, face.text, face.Ink, face.bold)
	d.Write(letter+1, row, face.behind, face.Ink, true)
}

// face is a cell's contents: its colors, its letter, and the marks around the letter.
type face struct {
	palette.Tone
	text           string
	bold           bool
	before, behind string
}

// face returns a cell's contents.
func (d triboloDrawing) face(i int, at *pb.Cell) face {
	var f face
	state := d.Board.GetCells()[i]
	landed := SameCell(d.Jump.GetCell(), at)
	fresh := containsCell(d.Jump.GetTaken(), at)
	colors := d.colors
	switch seat := SeatOf(state); {
	case seat >= 0 && (fresh || landed):
		f.Tone, f.text, f.bold = colors.Fresh[seat], OwnerLetters[seat], true
		if fresh {
			f.text = strings.ToLower(f.text)
		}
	case seat >= 0:
		f.Tone, f.text, f.bold = colors.Owners[seat], OwnerLetters[seat], true
		if d.cell.Pitch == 1 && at.GetY()%2 == 1 {
			f.Ground = shade(f.Ground, -0.08)
		}
	case state == pb.CellState_CELL_STATE_WALL && d.cell.Pitch > 1 && d.theme.Colored():
		f.Ground = colors.Faint
	case state == pb.CellState_CELL_STATE_WALL:
		f.text, f.Ink = "▒", colors.Dim
		if d.cell.Width > 2 {
			f.before, f.behind = "▒", "▒"
		}
	case d.Hints && MoveTo(d.Board, at) != nil:
		f.text, f.bold, f.Ground, f.Ink = "•", true, d.empty(), colors.Accent
	case d.empty() != nil:
		f.Ground = d.empty()
	default:
		f.text, f.Ink = "·", colors.Faint
		if d.theme.Light {
			f.Ink = colors.Dim
		}
	}
	switch {
	case containsCell(d.taken, at):
		f.before, f.behind = "›", "‹"
	case landed:
		f.before, f.behind = "(", ")"
	}
	return f
}

// empty returns the color of empty cells, or nil if they have no color of their own.
func (d triboloDrawing) empty() color.Color {
	if d.cell.Pitch == 1 || d.colors.Empty == d.colors.Faint {
		return nil
	}
	return d.colors.Empty
}

// frame draws the frame and the labels of the columns and rows.
func (p Tribolo) frame(pic *ui.Canvas, c Size, t ui.Theme) {
	width, height := p.inner(c)
	corners, across, down := []string{"╭", "╮", "╰", "╯"}, "─", "│"
	ink, label := t.Colors().Faint, t.Colors().Dim
	if p.Lit {
		corners, across, down, ink = []string{"┏", "┓", "┗", "┛"}, "━", "┃", t.Colors().Accent
	}
	right, bottom := triboloLeft+width, triboloTop+height
	line := strings.Repeat(across, width)
	pic.Write(triboloLeft-1, 0, corners[0]+line+corners[1], ink, p.Lit)
	pic.Write(triboloLeft-1, bottom, corners[2]+line+corners[3], ink, p.Lit)
	for y := range height {
		pic.Write(triboloLeft-1, triboloTop+y, down, ink, p.Lit)
		pic.Write(right, triboloTop+y, down, ink, p.Lit)
	}
	for x := range int(p.Board.GetColumns()) {
		pic.Write(triboloLeft+x*c.Width+c.Width/2, 0, describe.Column(int32(x)), label, false)
	}
	for y := range int(p.Board.GetRows()) {
		pic.Write(0, triboloTop+y*c.Pitch+c.Pitch/2, fmt.Sprintf("%2d", y), label, false)
	}
}

// CellAt returns the cell at a column and row of the drawn board.
func (p Tribolo) CellAt(c Size, x, y int) (*pb.Cell, bool) {
	if !c.Bare {
		x, y = x-triboloLeft, y-triboloTop
	}
	if x < 0 || y < 0 {
		return nil, false
	}
	at := &pb.Cell{X: int32(x / c.Width), Y: int32(y / c.Pitch)}
	return at, at.GetX() < p.Board.GetColumns() && at.GetY() < p.Board.GetRows()
}
