package board

import (
	"fmt"
	"image"
	"image/color"
	"slices"
	"strings"

	"github.com/gridstand/gridstand/cmd/gridstand/internal/tui/style"
	pb "github.com/gridstand/gridstand/proto/gridstand/v1"
)

// The owners of cells, by seat: letters on the board, names beside it, and what
// their bars are made of where there are no colours.
var (
	OwnerLetters = []string{"B", "R", "G"}
	OwnerNames   = []string{"BLUE", "RED", "GREEN"}
	OwnerBars    = []string{"█", "▓", "▒"}
)

// Jump is a move of Tribolo.
type Jump struct {
	Seat  int
	To    *pb.Cell
	Taken []*pb.Cell
}

// The sizes of cells of Tribolo, the best first. The last has no frame.
var (
	sizeTriboloLarge  = Size{Width: 5, Pitch: 2}
	sizeTriboloMiddle = Size{Width: 3, Pitch: 1}
	sizeTriboloSmall  = Size{Width: 2, Pitch: 1}
	sizeTriboloBare   = Size{Width: 1, Pitch: 1, Bare: true}
)

// Tribolo is a board of Tribolo with what lies over it.
type Tribolo struct {
	Board *pb.TriboloBoard
	// Jump is marked, unless it is nil.
	Jump *Jump
	// Cursor is where the player stands, nil for nowhere.
	Cursor *pb.Cell
	// Hints shows where the seat to move may go.
	Hints bool
	// Lit makes the frame stand out: it is the player's turn.
	Lit bool
}

// Sizes implements Board.
func (p Tribolo) Sizes(t style.Theme) (sizes, tight []Size) {
	sizes = []Size{sizeTriboloLarge, sizeTriboloMiddle, sizeTriboloSmall}
	if !t.Colored() {
		sizes = sizes[1:]
	}
	return sizes, []Size{sizeTriboloSmall, sizeTriboloBare}
}

// Measures of the frame around the cells.
const (
	triboloLeft = 3 // the numbers of the rows, and the frame
	triboloTop  = 1 // the frame, with the columns in it
)

// Measure implements Board.
func (p Tribolo) Measure(c Size) (width, height int) {
	width, height = p.inner(c)
	if c.Bare {
		return width, height
	}
	return width + triboloLeft + 1, height + triboloTop + 1
}

// inner is the size of the cells without the frame.
func (p Tribolo) inner(c Size) (width, height int) {
	width, height = int(p.Board.GetColumns())*c.Width, int(p.Board.GetRows())*c.Pitch
	if c.Width == 2 {
		width++ // a gap on both sides of every letter
	}
	return width, height
}

// Draw paints the cells in their owners' colours, each with its owner's letter:
// small letters in the cells that were just taken, the cell jumped to between
// parentheses, the cursor between brackets.
func (p Tribolo) Draw(c Size, t style.Theme) string {
	width, height := p.Measure(c)
	d := triboloDrawing{Tribolo: p, Canvas: style.NewCanvas(width, height), cell: c, colours: t.Palette(), taken: p.prospect()}
	left, top := triboloLeft, triboloTop
	if c.Bare {
		left, top = 0, 0
	} else {
		p.frame(d.Canvas, c, t)
	}
	w, h := p.inner(c)
	if d.colours != nil && d.colours.Board != nil {
		d.Fill(image.Rect(left, top*2, left+w, (top+h)*2), d.colours.Board)
	}
	columns := int(p.Board.GetColumns())
	for i, state := range p.Board.GetCells() {
		row, column := i/columns, i%columns
		s := spot{
			at: &pb.Cell{X: int32(column), Y: int32(row)}, state: state,
			x: left + column*c.Width, y: top + row*c.Pitch,
		}
		d.mark(s, d.lay(s))
	}
	return d.String()
}

// triboloDrawing is a picture on its way to a canvas.
type triboloDrawing struct {
	Tribolo
	*style.Canvas
	cell    Size
	colours *style.Palette // nil for none
	taken   []*pb.Cell
}

// spot is a cell, and the column and row of the canvas where it begins.
type spot struct {
	at    *pb.Cell
	state pb.CellState
	x, y  int
}

// landed reports whether the last jump went there.
func (d triboloDrawing) landed(s spot) bool { return d.Jump != nil && SameCell(d.Jump.To, s.at) }

// lay draws what lies on a cell, and returns the colour in which it is written.
func (d triboloDrawing) lay(s spot) (ink color.Color) {
	letter := s.x + d.cell.Width/2
	text, bold := "·", false
	switch seat := SeatOf(s.state); {
	case seat >= 0:
		text, bold = OwnerLetters[seat], true
		fresh := d.Jump != nil && containsCell(d.Jump.Taken, s.at)
		if fresh {
			text = strings.ToLower(text)
		}
		if d.colours != nil {
			tone := d.colours.Owners[seat]
			if fresh || d.landed(s) {
				tone = d.colours.Fresh[seat]
			}
			d.Fill(image.Rect(s.x, s.y*2, s.x+d.cell.Width, (s.y+d.cell.Pitch)*2), tone.Ground)
			ink = tone.Ink
		}
	case s.state == pb.CellState_CELL_STATE_WALL:
		text = "▒"
		if d.cell.Width > 2 {
			letter, text = letter-1, "▒▒▒"
		}
		if d.colours != nil {
			ink = d.colours.Dim
		}
		if d.cell.Pitch > 1 {
			d.Write(letter, s.y+1, text, ink, false)
		}
	case d.Hints && MoveTo(d.Board, s.at) != nil:
		text, bold = "•", true
		if d.colours != nil {
			ink = d.colours.Accent
		}
	case d.colours != nil:
		ink = d.colours.Faint
	}
	d.Write(letter, s.y, text, ink, bold)
	return ink
}

// mark draws what stands around the letter of a cell, which is written in ink.
func (d triboloDrawing) mark(s spot, ink color.Color) {
	before, behind := "", ""
	switch {
	case SameCell(d.Cursor, s.at):
		before, behind = "[", "]"
		switch {
		case d.colours == nil:
			ink = style.Foreground
		case SeatOf(s.state) < 0:
			ink = d.colours.Accent
		}
		if d.cell.Width == 1 {
			d.Write(s.x, s.y, "+", ink, true)
		}
	case containsCell(d.taken, s.at):
		before, behind = "›", "‹"
	case d.landed(s):
		before, behind = "(", ")"
	}
	if d.cell.Width > 1 {
		letter := s.x + d.cell.Width/2
		d.Write(letter-1, s.y, before, ink, true)
		d.Write(letter+1, s.y, behind, ink, true)
	}
}

// frame draws the frame, in which the columns and rows are numbered.
func (p Tribolo) frame(pic *style.Canvas, c Size, t style.Theme) {
	width, height := p.inner(c)
	corners, across, down := []string{"╭", "╮", "╰", "╯"}, "─", "│"
	var ink, label color.Color
	if colours := t.Palette(); colours != nil {
		ink, label = colours.Faint, colours.Dim
	}
	if p.Lit {
		corners, across, down = []string{"┏", "┓", "┗", "┛"}, "━", "┃"
		if colours := t.Palette(); colours != nil {
			ink = colours.Accent
		}
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
		pic.Write(triboloLeft+x*c.Width+c.Width/2, 0, column(int32(x)), label, false)
	}
	for y := range int(p.Board.GetRows()) {
		pic.Write(0, triboloTop+y*c.Pitch, fmt.Sprintf("%2d", y), label, false)
	}
}

// CellAt is the cell at a column and a row of the drawn board.
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

// prospect are the cells that a jump to the cursor would take, as far as they
// are shown.
func (p Tribolo) prospect() []*pb.Cell {
	if !p.Hints || p.Cursor == nil {
		return nil
	}
	return MoveTo(p.Board, p.Cursor).GetTaken()
}

// MoveTo is the legal move to a cell, nil where there is none.
func MoveTo(b *pb.TriboloBoard, to *pb.Cell) *pb.TriboloMove {
	for _, m := range b.GetLegalMoves() {
		if SameCell(m.GetCell(), to) {
			return m
		}
	}
	return nil
}

// SeatOf is the seat that owns a cell, -1 for none.
func SeatOf(s pb.CellState) int {
	switch s {
	case pb.CellState_CELL_STATE_BLUE:
		return 0
	case pb.CellState_CELL_STATE_RED:
		return 1
	case pb.CellState_CELL_STATE_GREEN:
		return 2
	default:
		return -1
	}
}

// SameCell reports whether two cells are the same.
func SameCell(a, b *pb.Cell) bool {
	return a != nil && b != nil && a.GetX() == b.GetX() && a.GetY() == b.GetY()
}

func containsCell(cells []*pb.Cell, c *pb.Cell) bool {
	return slices.ContainsFunc(cells, func(o *pb.Cell) bool { return SameCell(o, c) })
}

// column is a column as the board numbers it: 0–9, then letters.
func column(x int32) string {
	const digits = "0123456789abcdefghijklmnopqrstuvwxyz"
	if x < 0 || int(x) >= len(digits) {
		return "?"
	}
	return digits[x : x+1]
}

// CellName is a cell as the board numbers it: "c,4" is column 12, row 4.
func CellName(c *pb.Cell) string { return fmt.Sprintf("%s,%d", column(c.GetX()), c.GetY()) }

// plainTribolo is a board as lines of letters, with # for walls and dots for
// empty cells, numbered, for output that is no terminal.
func plainTribolo(b *pb.TriboloBoard) string {
	head := "  "
	for x := range b.GetColumns() {
		head += " " + column(x)
	}
	lines := []string{head}
	for y := range int(b.GetRows()) {
		line := fmt.Sprintf("%2d", y)
		for x := range int(b.GetColumns()) {
			text := "."
			state := b.GetCells()[y*int(b.GetColumns())+x]
			if seat := SeatOf(state); seat >= 0 {
				text = OwnerLetters[seat]
			} else if state == pb.CellState_CELL_STATE_WALL {
				text = "#"
			}
			line += " " + text
		}
		lines = append(lines, line)
	}
	return strings.Join(lines, "\n")
}
