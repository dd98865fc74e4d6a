package tui

import pb "github.com/gridstand/gridstand/proto/gridstand/v1"

// picture is the board of a kind of game, ready to be drawn at some size.
type picture interface {
	// sizes lists the cell sizes in which the board can be drawn, the best
	// first; tight ones are for windows that leave no room for a whole panel.
	sizes(t Theme) (sizes, tight []cellSize)
	// size is the columns and rows that the board takes.
	size(c cellSize) (width, height int)
	// draw draws it.
	draw(c cellSize, t Theme) string
}

// twenty48Picture is a board of 2048.
type twenty48Picture struct {
	board *pb.Twenty48Board
	marks marks
}

func (p twenty48Picture) sizes(t Theme) (sizes, tight []cellSize) {
	sizes = []cellSize{sizeHuge, sizeLarge, sizeMiddle, sizeSmall, sizeFlat}
	if !t.coloured() {
		sizes = []cellSize{sizeHuge, sizeLarge, sizeSmall, sizeFlat} // numbers need a middle row
	}
	return sizes, []cellSize{sizeSmall, sizeFlat, bareSize(p.board)}
}

func (p twenty48Picture) size(c cellSize) (width, height int) { return boardSize(p.board, c) }

func (p twenty48Picture) draw(c cellSize, t Theme) string { return drawBoard(p.board, p.marks, c, t) }

// pictureOf is the board of a position, nil where there is none that this
// program can draw.
func pictureOf(p *pb.Position, m marks, j *jump) picture {
	switch b := p.GetBoard().(type) {
	case *pb.Position_Twenty48:
		return twenty48Picture{b.Twenty48, m}
	case *pb.Position_Tribolo:
		return triboloPicture{board: b.Tribolo, jump: j}
	default:
		return nil
	}
}

// picture is the board of the match, nil while there is none.
func (m *match) picture() picture { return pictureOf(m.game.GetPosition(), m.marks, m.jump) }

// PlainPosition is the board of a position as text without colours, for output
// that is no terminal.
func PlainPosition(p *pb.Position) string {
	switch b := p.GetBoard().(type) {
	case *pb.Position_Twenty48:
		return PlainBoard(b.Twenty48)
	case *pb.Position_Tribolo:
		return PlainTribolo(b.Tribolo)
	default:
		return "a board that this program cannot show"
	}
}
