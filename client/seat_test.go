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

// Ensure that these calls, too, are repeated until their outcome is known, and return a refusal immediately.
func TestRepeated(t *testing.T) {
	t.Parallel()
	answer := func(n int) error {
		return []error{storageAway(), nil, refuse(codes.FailedPrecondition, pb.ReasonGameOver)}[n-1]
	}
	f, seat := &fake{
		join: func(n int, r *pb.JoinGameRequest) (*pb.Game, error) {
			assert.Equal(t, []any{gameID, int32(1)}, []any{r.GetGameId(), r.GetSeat()})
			return gameAt(4), answer(n)
		},
		undo: func(n int, r *pb.UndoRequest) (*pb.Event, error) {
			assert.Equal(t, []any{gameID, int32(3), int32(1)}, []any{r.GetGameId(), r.GetVersion(), r.GetToVersion()})
			return eventAt(4), answer(n)
		},
		createGame: func(n int, r *pb.CreateGameRequest) (*pb.Game, error) {
			assert.Equal(t, []string{challengeID, ""}, []string{r.GetChallengeId(), r.GetRequestId()})
			return gameAt(4), answer(n)
		},
	}, int32(1)
	c, ctx := f.client(t), waittest.Context(t)
	type versioned interface{ GetVersion() int32 }
	for name, call := range map[string]func() (versioned, error){
		"join":       func() (versioned, error) { return c.Join(ctx, gameID, &seat) },
		"undo":       func() (versioned, error) { return c.Seat(knownAt(3)).Undo(ctx, 3, &seat) },
		"createGame": func() (versioned, error) { return c.Attempt(ctx, challengeID) },
	} {
		got, err := call()
		require.NoError(t, err, name)
		assert.EqualValues(t, 4, got.GetVersion(), name)
		_, err = call()
		require.ErrorIs(t, err, client.ErrGameOver, name)
		assert.Equal(t, 3, f.made(name), name)
	}
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
