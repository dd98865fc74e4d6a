package client

import (
	"fmt"
	"slices"

	"github.com/gridstand/gridstand/internal/id"
	pb "github.com/gridstand/gridstand/proto/gridstand/v1"
)

// maxSide is the maximum width and height of a board. Without a limit, a hostile server
// could make a program run out of memory just by claiming huge dimensions.
const maxSide = 255

// CheckGame returns an ErrBadStream if g cannot be a valid game. The methods of this
// package check the games that they return; check a game from a list before indexing its
// slices.
func CheckGame(g *pb.Game) error { return checkGame(g, g.GetId()) }

// CheckEvent returns an ErrBadStream if e cannot be a valid event. The methods of this
// package check the events that they return; check an event from elsewhere before
// indexing its slices.
func CheckEvent(e *pb.Event) error { return checkEvent(e, e.GetGameId()) }

// CheckChallenge returns an ErrBadStream if c cannot be a valid challenge. The methods of
// this package check the challenges that they return.
func CheckChallenge(c *pb.Challenge) error { return checkChallenge(c, c.GetId()) }

// checkedGame returns the game from a reply: err if the call failed, or an ErrBadStream if
// it is not the game with the given id.
func checkedGame(g *pb.Game, gameID string, err error) (Game, error) {
	if err == nil {
		err = checkGame(g, gameID)
	}
	if err != nil {
		return Game{}, err
	}
	return Game{Game: g}, nil
}

// checkedChallenge is like checkedGame, but for a challenge.
func checkedChallenge(c *pb.Challenge, challengeID string, err error) (*pb.Challenge, error) {
	if err == nil {
		err = checkChallenge(c, challengeID)
	}
	return c, err
}

// checkGame returns an ErrBadStream if g cannot be the game with the given id.
func checkGame(g *pb.Game, gameID string) error {
	switch {
	case !id.Valid(g.GetId()) || g.GetId() != gameID: // also without a game
		return fmt.Errorf("%w: not the requested game", ErrBadStream)
	case g.GetVersion() < 1:
		return fmt.Errorf("%w: a game at version %d", ErrBadStream, g.GetVersion())
	}
	return checkPosition(g.GetPosition(), len(g.GetSeats()))
}

// checkEvent returns an ErrBadStream if e cannot be an event of the game with the given
// id.
func checkEvent(e *pb.Event, gameID string) error {
	switch {
	case !id.Valid(e.GetGameId()) || e.GetGameId() != gameID: // also without an event
		return fmt.Errorf("%w: an event from another game", ErrBadStream)
	case e.GetVersion() < 1:
		return fmt.Errorf("%w: an event with version %d", ErrBadStream, e.GetVersion())
	}
	seats := len(e.GetPosition().GetScores())
	if e.Seat != nil && (e.GetSeat() < 0 || int(e.GetSeat()) >= seats) {
		return fmt.Errorf("%w: an event for seat %d of %d", ErrBadStream, e.GetSeat(), seats)
	}
	if c := e.GetCreated(); c != nil && len(c.GetSeats()) != seats {
		return fmt.Errorf("%w: a game of %d seats with %d scores", ErrBadStream, len(c.GetSeats()), seats)
	}
	if e.GetJoined() != nil && e.GetJoined().GetSeat() == nil {
		return fmt.Errorf("%w: a player joined without a seat", ErrBadStream)
	}
	return checkPosition(e.GetPosition(), seats)
}

// checkChallenge returns an ErrBadStream if c cannot be the challenge with the given id.
func checkChallenge(c *pb.Challenge, challengeID string) error {
	if !id.Valid(c.GetId()) || c.GetId() != challengeID { // also without a challenge
		return fmt.Errorf("%w: not the requested challenge", ErrBadStream)
	}
	return nil
}

// checkPosition returns an ErrBadStream if the lengths of a position's slices do not
// match its other fields.
func checkPosition(p *pb.Position, seats int) error {
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
		return fmt.Errorf("%w: no board, or an unknown kind of board", ErrBadStream)
	}
	if rows < 1 || columns < 1 || rows > maxSide || columns > maxSide || int(rows)*int(columns) != cells {
		return fmt.Errorf("%w: a board of %d×%d with %d cells", ErrBadStream, rows, columns, cells)
	}
	if strays(p.GetTribolo()) {
		return fmt.Errorf("%w: a move off the board", ErrBadStream)
	}
	if len(p.GetScores()) != seats || seats < 1 {
		return fmt.Errorf("%w: %d scores for %d seats", ErrBadStream, len(p.GetScores()), seats)
	}
	if p.Turn != nil && (p.GetTurn() < 0 || int(p.GetTurn()) >= seats) {
		return fmt.Errorf("%w: seat %d of %d to move", ErrBadStream, p.GetTurn(), seats)
	}
	return nil
}

// strays reports whether a cell in the board's legal moves is off the board.
func strays(b *pb.TriboloBoard) bool {
	off := func(c *pb.Cell) bool {
		return c == nil || c.GetX() < 0 || c.GetY() < 0 || c.GetX() >= b.GetColumns() || c.GetY() >= b.GetRows()
	}
	return slices.ContainsFunc(b.GetLegalMoves(), func(move *pb.TriboloMove) bool {
		return off(move.GetCell()) || slices.ContainsFunc(move.GetTaken(), off)
	})
}
