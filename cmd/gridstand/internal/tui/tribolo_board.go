package tui

import (
	"fmt"
	"image"
	"image/color"
	"slices"
	"strings"

	pb "github.com/gridstand/gridstand/proto/gridstand/v1"
)

// The owners of cells, by seat: letters on the board, names beside it, and what
// their bars are made of where there are no colours.
var (
	ownerLetters = []string{"B", "R", "G"}
	ownerNames   = []string{"BLUE", "RED", "GREEN"}
	ownerBars    = []string{"█", "▓", "▒"}
)

// jump is a move of Tribolo.
type jump struct {
	seat  int
	to    *pb.Cell
	taken []*pb.Cell
}

// The sizes of cells of Tribolo, the best first. The last has no frame.
var (
	sizeTriboloLarge  = cellSize{width: 5, pitch: 2}
	sizeTriboloMiddle = cellSize{width: 3, pitch: 1}
	sizeTriboloSmall  = cellSize{width: 2, pitch: 1}
	sizeTriboloBare   = cellSize{width: 1, pitch: 1, bare: true}
)

// triboloPicture is a board of Tribolo with what lies over it.
type triboloPicture struct {
	board *pb.TriboloBoard
	// jump is marked, unless it is nil.
	jump *jump
	// cursor is where the player stands, nil for nowhere.
	cursor *pb.Cell
	// hints shows where the seat to move may go.
	hints bool
	// lit makes the frame stand out: it is the player's turn.
	lit bool
}

func (p triboloPicture) sizes(t Theme) (sizes, tight []cellSize) {
	sizes = []cellSize{sizeTriboloLarge, sizeTriboloMiddle, sizeTriboloSmall}
	if !t.coloured() {
		sizes = sizes[1:]
	}
	return sizes, []cellSize{sizeTriboloSmall, sizeTriboloBare}
}

// Measures of the frame around the cells.
const (
	triboloLeft = 3 // the numbers of the rows, and the frame
	triboloTop  = 1 // the frame, with the columns in it
)

func (p triboloPicture) size(c cellSize) (width, height int) {
	width, height = p.inner(c)
	if c.bare {
		return width, height
	}
	return width + triboloLeft + 1, height + triboloTop + 1
}

// inner is the size of the cells without the frame.
func (p triboloPicture) inner(c cellSize) (width, height int) {
	width, height = int(p.board.GetColumns())*c.width, int(p.board.GetRows())*c.pitch
	if c.width == 2 {
		width++ // a gap on both sides of every letter
	}
	return width, height
}

// draw paints the cells in their owners' colours, each with its owner's letter:
// small letters in the cells that were just taken, the cell jumped to between
// parentheses, the cursor between brackets.
func (p triboloPicture) draw(c cellSize, t Theme) string {
	width, height := p.size(c)
	d := triboloDrawing{triboloPicture: p, canvas: newCanvas(width, height), cell: c, colours: t.palette(), taken: p.prospect()}
	left, top := triboloLeft, triboloTop
	if c.bare {
		left, top = 0, 0
	} else {
		p.frame(d.canvas, c, t)
	}
	w, h := p.inner(c)
	if d.colours != nil && d.colours.board != nil {
		d.fill(image.Rect(left, top*2, left+w, (top+h)*2), d.colours.board)
	}
	columns := int(p.board.GetColumns())
	for i, state := range p.board.GetCells() {
		row, column := i/columns, i%columns
		s := spot{
			at: &pb.Cell{X: int32(column), Y: int32(row)}, state: state,
			x: left + column*c.width, y: top + row*c.pitch,
		}
		d.mark(s, d.lay(s))
	}
	return d.String()
}

// triboloDrawing is a picture on its way to a canvas.
type triboloDrawing struct {
	triboloPicture
	*canvas
	cell    cellSize
	colours *palette // nil for none
	taken   []*pb.Cell
}

// spot is a cell, and the column and row of the canvas where it begins.
type spot struct {
	at    *pb.Cell
	state pb.CellState
	x, y  int
}

// landed reports whether the last jump went there.
func (d triboloDrawing) landed(s spot) bool { return d.jump != nil && sameCell(d.jump.to, s.at) }

// lay draws what lies on a cell, and returns the colour in which it is written.
func (d triboloDrawing) lay(s spot) (ink color.Color) {
	letter := s.x + d.cell.width/2
	text, bold := "·", false
	switch seat := seatOf(s.state); {
	case seat >= 0:
		text, bold = ownerLetters[seat], true
		fresh := d.jump != nil && containsCell(d.jump.taken, s.at)
		if fresh {
			text = strings.ToLower(text)
		}
		if d.colours != nil {
			tone := d.colours.owners[seat]
			if fresh || d.landed(s) {
				tone = d.colours.fresh[seat]
			}
			d.fill(image.Rect(s.x, s.y*2, s.x+d.cell.width, (s.y+d.cell.pitch)*2), tone.ground)
			ink = tone.ink
		}
	case s.state == pb.CellState_CELL_STATE_WALL:
		text = "▒"
		if d.cell.width > 2 {
			letter, text = letter-1, "▒▒▒"
		}
		if d.colours != nil {
			ink = d.colours.dim
		}
		if d.cell.pitch > 1 {
			d.write(letter, s.y+1, text, ink, false)
		}
	case d.hints && moveTo(d.board, s.at) != nil:
		text, bold = "•", true
		if d.colours != nil {
			ink = d.colours.accent
		}
	case d.colours != nil:
		ink = d.colours.faint
	}
	d.write(letter, s.y, text, ink, bold)
	return ink
}

// mark draws what stands around the letter of a cell, which is written in ink.
func (d triboloDrawing) mark(s spot, ink color.Color) {
	before, behind := "", ""
	switch {
	case sameCell(d.cursor, s.at):
		before, behind = "[", "]"
		switch {
		case d.colours == nil:
			ink = foreground
		case seatOf(s.state) < 0:
			ink = d.colours.accent
		}
		if d.cell.width == 1 {
			d.write(s.x, s.y, "+", ink, true)
		}
	case containsCell(d.taken, s.at):
		before, behind = "›", "‹"
	case d.landed(s):
		before, behind = "(", ")"
	}
	if d.cell.width > 1 {
		letter := s.x + d.cell.width/2
		d.write(letter-1, s.y, before, ink, true)
		d.write(letter+1, s.y, behind, ink, true)
	}
}

// frame draws the frame, in which the columns and rows are numbered.
func (p triboloPicture) frame(pic *canvas, c cellSize, t Theme) {
	width, height := p.inner(c)
	corners, across, down := []string{"╭", "╮", "╰", "╯"}, "─", "│"
	var ink, label color.Color
	if colours := t.palette(); colours != nil {
		ink, label = colours.faint, colours.dim
	}
	if p.lit {
		corners, across, down = []string{"┏", "┓", "┗", "┛"}, "━", "┃"
		if colours := t.palette(); colours != nil {
			ink = colours.accent
		}
	}
	right, bottom := triboloLeft+width, triboloTop+height
	line := strings.Repeat(across, width)
	pic.write(triboloLeft-1, 0, corners[0]+line+corners[1], ink, p.lit)
	pic.write(triboloLeft-1, bottom, corners[2]+line+corners[3], ink, p.lit)
	for y := range height {
		pic.write(triboloLeft-1, triboloTop+y, down, ink, p.lit)
		pic.write(right, triboloTop+y, down, ink, p.lit)
	}
	for x := range int(p.board.GetColumns()) {
		pic.write(triboloLeft+x*c.width+c.width/2, 0, column(int32(x)), label, false)
	}
	for y := range int(p.board.GetRows()) {
		pic.write(0, triboloTop+y*c.pitch, fmt.Sprintf("%2d", y), label, false)
	}
}

// cellAt is the cell at a column and a row of the drawn board.
func (p triboloPicture) cellAt(c cellSize, x, y int) (*pb.Cell, bool) {
	if !c.bare {
		x, y = x-triboloLeft, y-triboloTop
	}
	if x < 0 || y < 0 {
		return nil, false
	}
	at := &pb.Cell{X: int32(x / c.width), Y: int32(y / c.pitch)}
	return at, at.GetX() < p.board.GetColumns() && at.GetY() < p.board.GetRows()
}

// prospect are the cells that a jump to the cursor would take, as far as they
// are shown.
func (p triboloPicture) prospect() []*pb.Cell {
	if !p.hints || p.cursor == nil {
		return nil
	}
	return moveTo(p.board, p.cursor).GetTaken()
}

// moveTo is the legal move to a cell, nil where there is none.
func moveTo(b *pb.TriboloBoard, to *pb.Cell) *pb.TriboloMove {
	for _, m := range b.GetLegalMoves() {
		if sameCell(m.GetCell(), to) {
			return m
		}
	}
	return nil
}

// seatOf is the seat that owns a cell, -1 for none.
func seatOf(s pb.CellState) int {
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

func sameCell(a, b *pb.Cell) bool {
	return a != nil && b != nil && a.GetX() == b.GetX() && a.GetY() == b.GetY()
}

func containsCell(cells []*pb.Cell, c *pb.Cell) bool {
	return slices.ContainsFunc(cells, func(o *pb.Cell) bool { return sameCell(o, c) })
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

// PlainTribolo is a board as lines of letters, with # for walls and dots for
// empty cells, numbered, for output that is no terminal.
func PlainTribolo(b *pb.TriboloBoard) string {
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
			if seat := seatOf(state); seat >= 0 {
				text = ownerLetters[seat]
			} else if state == pb.CellState_CELL_STATE_WALL {
				text = "#"
			}
			line += " " + text
		}
		lines = append(lines, line)
	}
	return strings.Join(lines, "\n")
}
