package client_test

import (
	"context"
	"errors"
	"testing"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
	"google.golang.org/grpc/codes"
	"google.golang.org/protobuf/proto"

	"github.com/gridstand/gridstand/client"
	waittest "github.com/gridstand/gridstand/internal/testkit/wait"
	pb "github.com/gridstand/gridstand/proto/gridstand/v1"
)

// Ensure that Join is repeated until its outcome is known, and returns a refusal
// immediately.
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
	g, err := c.Join(waittest.Context(t), gameID, nil)
	require.NoError(t, err)
	assert.EqualValues(t, 5, g.GetVersion())
	assert.Equal(t, 3, f.made("join"))
	taken := int32(2)
	_, err = c.Join(waittest.Context(t), gameID, &taken)
	require.ErrorIs(t, err, client.ErrSeatTaken)
	assert.Equal(t, 4, f.made("join"))
}

// Ensure that Undo repeats the same call until its outcome is known.
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
	e, err := seat.Undo(waittest.Context(t), 3, &first)
	require.NoError(t, err)
	assert.EqualValues(t, 4, e.GetVersion())
	assert.Equal(t, 2, f.made("undo"))
	_, err = seat.Undo(waittest.Context(t), 3, nil)
	require.ErrorIs(t, err, client.ErrUndoNotAllowed)
	_, err = seat.Undo(waittest.Context(t), 3, &second)
	require.ErrorIs(t, err, client.ErrBadStream)
}

// Ensure that a bot that plays a seat to the end waits for its turns, chooses again when
// the game has moved on, and takes its seat back from a stand-in.
func TestSeat_Play(t *testing.T) {
	t.Parallel()
	turn := func(seat int32) *pb.Position {
		p := position()
		p.Turn, p.Scores = &seat, []int32{0, 0}
		return p
	}
	at := func(version, seat int32) *pb.Game {
		g := gameAt(version)
		g.Position = turn(seat)
		g.Seats = append(g.Seats, &pb.Seat{Index: 1, Occupant: &pb.Seat_Bot{Bot: "greedy"}})
		return g
	}
	moved := func(version, next int32) *pb.Event {
		e := eventAt(version)
		e.Position = turn(next)
		return e
	}
	lent := at(8, 0)
	lent.Seats[0].StandIn = "greedy"
	end := eventAt(10)
	end.Position, end.Result = turn(1), &pb.Result{Reason: pb.Result_REASON_NO_MOVES}
	end.Position.Turn = nil
	f := &fake{
		move: func(_ int, _ context.Context, r *pb.MoveRequest) (*pb.Event, error) {
			assert.True(t, r.GetByBot())
			if r.GetVersion() == 6 {
				return nil, conflict("8")
			}
			return moved(r.GetVersion()+1, 1), nil
		},
		getGame: func(n int, _ *pb.GetGameRequest) (*pb.Game, error) {
			if n == 1 {
				return lent, nil
			}
			return at(8, 0), nil
		},
		join: func(_ int, r *pb.JoinGameRequest) (*pb.Game, error) {
			assert.Zero(t, r.GetSeat())
			return at(8, 0), nil
		},
		watch: func(_ int, _ *pb.WatchRequest, s watchStream) error {
			return errors.Join(
				s.Send(&pb.WatchResponse{Update: &pb.WatchResponse_Game{Game: at(4, 1)}}),
				s.Send(&pb.WatchResponse{Update: &pb.WatchResponse_Event{Event: moved(5, 1)}}),
				s.Send(&pb.WatchResponse{Update: &pb.WatchResponse_Event{Event: moved(6, 0)}}),
				s.Send(&pb.WatchResponse{Update: &pb.WatchResponse_Event{Event: moved(7, 0)}}),
				s.Send(&pb.WatchResponse{Update: &pb.WatchResponse_Event{Event: moved(8, 0)}}),
				s.Send(&pb.WatchResponse{Update: &pb.WatchResponse_Event{Event: moved(9, 1)}}),
				s.Send(&pb.WatchResponse{Update: &pb.WatchResponse_Event{Event: end}}),
			)
		},
	}
	c := f.client(t)
	known := client.Game{Game: at(3, 0)}
	var chosen []int32
	choose := func(_ context.Context, g client.Game) (client.Move, error) {
		chosen = append(chosen, g.GetVersion())
		return client.Slide(pb.Direction_DIRECTION_UP), nil
	}
	last, err := c.Seat(known).Play(waittest.Context(t), known, choose)
	require.NoError(t, err)
	assert.EqualValues(t, 10, last.GetVersion())
	assert.Equal(t, []int32{3, 6, 8}, chosen)
	assert.Equal(t, 1, f.made("join"))

	tired := errors.New("tired")
	_, err = c.Seat(known).Play(waittest.Context(t), known, func(context.Context, client.Game) (client.Move, error) {
		return client.Move{}, tired
	})
	require.ErrorIs(t, err, tired)
	_, err = c.As("").Seat(known).Play(waittest.Context(t), known, choose)
	require.ErrorIs(t, err, client.ErrNotSeated)
}

// Ensure that a bot waits before it tries again if the server refuses its call but has no
// newer game.
func TestSeat_Play_WaitsForProgress(t *testing.T) {
	t.Parallel()
	const calls = 10
	for name, refused := range map[string]error{
		"a stand-in that stays": nil,
		"a version conflict":    conflict("3"),
		"not its turn":          refuse(codes.FailedPrecondition, pb.ReasonNotYourTurn),
		"a game that is over":   refuse(codes.FailedPrecondition, pb.ReasonGameOver),
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			show := func(n int) (*pb.Game, error) {
				g := gameAt(3)
				g.Position.Turn = proto.Int32(0)
				if refused == nil {
					g.Seats[0].StandIn = "greedy"
				}
				if n > calls {
					g.Version, g.Status = 4, pb.GameStatus_GAME_STATUS_FINISHED
				}
				return g, nil
			}
			f := &fake{
				join:    func(n int, _ *pb.JoinGameRequest) (*pb.Game, error) { return show(n) },
				getGame: func(n int, _ *pb.GetGameRequest) (*pb.Game, error) { return show(n) },
				move:    func(int, context.Context, *pb.MoveRequest) (*pb.Event, error) { return nil, refused },
			}
			g, err := show(1)
			require.NoError(t, err)
			known := client.Game{Game: g}
			begin := time.Now()
			last, err := f.client(t).Seat(known).Play(waittest.Context(t), known,
				func(context.Context, client.Game) (client.Move, error) {
					return client.Slide(pb.Direction_DIRECTION_UP), nil
				})
			require.NoError(t, err)
			assert.True(t, last.Over())
			// A lower bound: a slow machine only makes the waits longer.
			assert.GreaterOrEqual(t, time.Since(begin), 60*time.Millisecond, "the waits are too short")
			if refused == nil {
				assert.Zero(t, f.made("getGame"), "Join returns the game, so no getGame is needed")
			}
		})
	}
}

// Ensure that a client rejects an invalid board.
func TestGame(t *testing.T) {
	t.Parallel()
	g := gameAt(3)
	f := &fake{getGame: func(int, *pb.GetGameRequest) (*pb.Game, error) { return g, nil }}
	c := f.client(t)
	_, err := c.Game(waittest.Context(t), gameID)
	require.NoError(t, err)
	require.NoError(t, client.CheckGame(g))
	cells := make([]pb.CellState, 4)
	g.Position.Board = &pb.Position_Tribolo{Tribolo: &pb.TriboloBoard{
		Rows: 2, Columns: 2, Cells: cells, LegalMoves: []*pb.TriboloMove{{Cell: &pb.Cell{X: 2}}},
	}}
	_, err = c.Game(waittest.Context(t), gameID)
	require.ErrorIs(t, err, client.ErrBadStream)
	require.ErrorIs(t, client.CheckGame(g), client.ErrBadStream)
}
