package client

import (
	"fmt"

	"github.com/gridstand/gridstand/internal/id"
	pb "github.com/gridstand/gridstand/proto/gridstand/v1"
)

// maxSide is the longest side of any board, so that a hostile server cannot make a
// program allocate memory for a board that it only announces.
const maxSide = 255

// CheckGame returns an ErrBadStream for a message that cannot be a game. Methods of
// this package check the games that they return; check one from a list before
// indexing its slices.
func CheckGame(g *pb.Game) error { return checkGame(g, g.GetId()) }

// CheckEvent returns an ErrBadStream for a message that cannot be an event. Methods of
// this package check the events that they return; check one from elsewhere before
// indexing its slices.
func CheckEvent(e *pb.Event) error { return checkEvent(e, e.GetGameId()) }

// checkedGame returns the game of that id out of a reply, or an ErrBadStream.
func checkedGame(g *pb.Game, gameID string) (Game, error) {
	if err := checkGame(g, gameID); err != nil {
		return Game{}, err
	}
	return Game{Game: g}, nil
}

// checkGame returns an ErrBadStream for a message that cannot be the game of that
// id.
func checkGame(g *pb.Game, gameID string) error {
	switch {
	case g == nil:
		return fmt.Errorf("%w: no game", ErrBadStream)
	case !id.Valid(g.GetId()) || g.GetId() != gameID:
		return fmt.Errorf("%w: another game than asked for", ErrBadStream)
	case g.GetVersion() < 1:
		return fmt.Errorf("%w: a game at version %d", ErrBadStream, g.GetVersion())
	}
	return checkPosition(g.GetPosition(), len(g.GetSeats()))
}

// checkEvent returns an ErrBadStream for a message that cannot be an event of that
// game.
func checkEvent(e *pb.Event, gameID string) error {
	switch {
	case e == nil:
		return fmt.Errorf("%w: no event", ErrBadStream)
	case !id.Valid(e.GetGameId()) || e.GetGameId() != gameID:
		return fmt.Errorf("%w: an event of another game", ErrBadStream)
	case e.GetVersion() < 1:
		return fmt.Errorf("%w: an event with version %d", ErrBadStream, e.GetVersion())
	}
	seats := len(e.GetPosition().GetScores())
	if e.Seat != nil && (e.GetSeat() < 0 || int(e.GetSeat()) >= seats) {
		return fmt.Errorf("%w: an event at seat %d, of %d", ErrBadStream, e.GetSeat(), seats)
	}
	if c := e.GetCreated(); c != nil && len(c.GetSeats()) != seats {
		return fmt.Errorf("%w: a game of %d seats with %d scores", ErrBadStream, len(c.GetSeats()), seats)
	}
	if e.GetJoined() != nil && e.GetJoined().GetSeat() == nil {
		return fmt.Errorf("%w: a player joined no seat", ErrBadStream)
	}
	return checkPosition(e.GetPosition(), seats)
}

// checkPosition returns an ErrBadStream for a position whose slices do not have the
// length that its other fields state.
func checkPosition(p *pb.Position, seats int) error {
	if p == nil {
		return fmt.Errorf("%w: no position", ErrBadStream)
	}
	var rows, columns int32
	var cells int
	switch board := p.GetBoard().(type) {
	case *pb.Position_Twenty48:
		rows, columns, cells = board.Twenty48.GetRows(), board.Twenty48.GetColumns(), len(board.Twenty48.GetTiles())
		for _, tile := range board.Twenty48.GetTiles() {
			if tile < 0 || tile == 1 || tile&(tile-1) != 0 {
				return fmt.Errorf("%w: a tile with %d", ErrBadStream, tile)
			}
		}
	case *pb.Position_Tribolo:
		rows, columns, cells = board.Tribolo.GetRows(), board.Tribolo.GetColumns(), len(board.Tribolo.GetCells())
	default:
		return fmt.Errorf("%w: a board of an unknown kind", ErrBadStream)
	}
	if rows < 1 || columns < 1 || rows > maxSide || columns > maxSide || int(rows)*int(columns) != cells {
		return fmt.Errorf("%w: a board of %d×%d with %d cells", ErrBadStream, rows, columns, cells)
	}
	if !within(p.GetTribolo()) {
		return fmt.Errorf("%w: a move off the board", ErrBadStream)
	}
	if len(p.GetScores()) != seats || seats < 1 {
		return fmt.Errorf("%w: %d scores for %d seats", ErrBadStream, len(p.GetScores()), seats)
	}
	if p.Turn != nil && (p.GetTurn() < 0 || int(p.GetTurn()) >= seats) {
		return fmt.Errorf("%w: seat %d to move, of %d", ErrBadStream, p.GetTurn(), seats)
	}
	return nil
}

// within reports whether every cell that the moves of a board name lies on it.
func within(b *pb.TriboloBoard) bool {
	on := func(c *pb.Cell) bool {
		return c != nil && c.GetX() >= 0 && c.GetY() >= 0 && c.GetX() < b.GetColumns() && c.GetY() < b.GetRows()
	}
	for _, move := range b.GetLegalMoves() {
		if !on(move.GetCell()) {
			return false
		}
		for _, c := range move.GetTaken() {
			if !on(c) {
				return false
			}
		}
	}
	return true
}
