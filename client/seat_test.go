package client_test

import (
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
	"google.golang.org/grpc/codes"

	"github.com/gridstand/gridstand/client"
	pb "github.com/gridstand/gridstand/proto/gridstand/v1"
)

// TestJoin goes on where it is not known whether the seat was taken, and
// reports a refusal at once.
func TestJoin(t *testing.T) {
	t.Parallel()
	f := &fake{join: func(n int, r *pb.JoinGameRequest) (*pb.Game, error) {
		assert.Equal(t, gameID, r.GetGameId())
		switch {
		case r.Seat != nil && r.GetSeat() == 2:
			return nil, refuse(codes.FailedPrecondition, pb.ReasonSeatTaken)
		case n < 3:
			return nil, storageAway()
		}
		return gameAt(5), nil
	}}
	c := f.client(t)
	g, err := c.Join(within(t), gameID, nil)
	require.NoError(t, err)
	assert.EqualValues(t, 5, g.GetVersion())
	assert.Equal(t, 3, f.made("join"))
	taken := int32(2)
	_, err = c.Join(within(t), gameID, &taken)
	require.ErrorIs(t, err, client.ErrSeatTaken)
	assert.Equal(t, 4, f.made("join"))
}

// TestUndo makes the same call until its outcome is known.
func TestUndo(t *testing.T) {
	t.Parallel()
	f := &fake{undo: func(n int, r *pb.UndoRequest) (*pb.Event, error) {
		if n == 1 {
			return nil, storageAway()
		}
		assert.EqualValues(t, 3, r.GetVersion())
		if r.ToVersion == nil {
			return nil, refuse(codes.FailedPrecondition, pb.ReasonUndoNotAllowed)
		}
		return eventAt(3 + r.GetToVersion()), nil
	}}
	seat := f.client(t).Seat(knownAt(3))
	first, second := int32(1), int32(2)
	e, err := seat.Undo(within(t), 3, &first)
	require.NoError(t, err)
	assert.EqualValues(t, 4, e.GetVersion())
	assert.Equal(t, 2, f.made("undo"))
	_, err = seat.Undo(within(t), 3, nil)
	require.ErrorIs(t, err, client.ErrUndoNotAllowed)
	_, err = seat.Undo(within(t), 3, &second)
	require.ErrorIs(t, err, client.ErrBadStream)
}

// TestGame does not believe a board that is none.
func TestGame(t *testing.T) {
	t.Parallel()
	g := gameAt(3)
	f := &fake{getGame: func(int, *pb.GetGameRequest) (*pb.Game, error) { return g, nil }}
	c := f.client(t)
	_, err := c.Game(within(t), gameID)
	require.NoError(t, err)
	require.NoError(t, client.CheckGame(g))
	cells := make([]pb.CellState, 4)
	g.Position.Board = &pb.Position_Tribolo{Tribolo: &pb.TriboloBoard{
		Rows: 2, Columns: 2, Cells: cells, LegalMoves: []*pb.TriboloMove{{Cell: &pb.Cell{X: 2}}},
	}}
	_, err = c.Game(within(t), gameID)
	require.ErrorIs(t, err, client.ErrBadStream)
	require.ErrorIs(t, client.CheckGame(g), client.ErrBadStream)
}
