package client_test

import (
	"errors"
	"io"
	"math"
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

// Ensure that events that could make a program fail are found. TestWatch shows that a Watch ends at one.
func TestCheckEvent(t *testing.T) {
	t.Parallel()
	board := func(edit func(b *pb.Twenty48Board)) func(*pb.Event) {
		return func(e *pb.Event) { edit(e.GetPosition().GetTwenty48()) }
	}
	for name, edit := range map[string]func(e *pb.Event){
		"no game":                func(e *pb.Event) { e.GameId = "" },
		"no position":            func(e *pb.Event) { e.Position = nil },
		"no board":               func(e *pb.Event) { e.Position.Board = nil },
		"an empty board":         func(e *pb.Event) { e.Position.Board = &pb.Position_Twenty48{} },
		"no scores":              func(e *pb.Event) { e.Position.Scores = nil },
		"a turn too high":        func(e *pb.Event) { e.Position.Turn = proto.Int32(1) },
		"a negative turn":        func(e *pb.Event) { e.Position.Turn = proto.Int32(-1) },
		"a seat too high":        func(e *pb.Event) { e.Seat = proto.Int32(1) },
		"a negative seat":        func(e *pb.Event) { e.Seat = proto.Int32(-1) },
		"joining without a seat": func(e *pb.Event) { e.Action = &pb.Event_Joined{Joined: &pb.Joined{}} },
		"too many seats": func(e *pb.Event) {
			e.Action = &pb.Event_Created{Created: &pb.Created{Seats: []*pb.Seat{{}, {}}}}
		},
		"version 0":       func(e *pb.Event) { e.Version = 0 },
		"lowest version":  func(e *pb.Event) { e.Version = math.MinInt32 },
		"too few tiles":   board(func(b *pb.Twenty48Board) { b.Tiles = b.GetTiles()[:3] }),
		"huge sides":      board(func(b *pb.Twenty48Board) { b.Rows, b.Columns = 1<<16, 1<<16 }),
		"a negative side": board(func(b *pb.Twenty48Board) { b.Rows, b.Columns = -2, -2 }),
		"a tile of 3":     board(func(b *pb.Twenty48Board) { b.Tiles[0] = 3 }),
		"a negative tile": board(func(b *pb.Twenty48Board) { b.Tiles[0] = math.MinInt32 }),
	} {
		e := eventAt(4)
		require.NoError(t, client.CheckEvent(e))
		edit(e)
		assert.ErrorIs(t, client.CheckEvent(e), client.ErrBadStream, name)
	}
	assert.ErrorIs(t, client.CheckEvent(nil), client.ErrBadStream)
}

func TestWatch_HonorsRetryHint(t *testing.T) {
	t.Parallel()
	f := &fake{}
	f.watch = func(int, *pb.WatchRequest, watchStream) error {
		return refuse(codes.Unavailable, pb.ReasonServerUnavailable, retryInfo(3*time.Second))
	}
	w := f.client(t).Watch(waittest.Context(t), client.WatchOptions{GameID: gameID})
	defer w.Close()
	u, err := w.Next()
	require.NoError(t, err)
	assert.Equal(t, client.Reconnecting, u.Connection.State)
	assert.GreaterOrEqual(t, u.Connection.Delay, 3*time.Second)
	assert.Less(t, u.Connection.Delay, 4*time.Second)
	assert.ErrorIs(t, u.Connection.Err, client.ErrServerUnavailable)
}

// Ensure that a Watch leaves a stream that is silent for longer than a working one can be. Only the
// silent stream gets a short limit, so that a busy machine cannot make another one seem silent.
func TestWatch_SilentStream(t *testing.T) {
	t.Parallel()
	f := &fake{}
	f.watch = func(n int, _ *pb.WatchRequest, s watchStream) error {
		if n == 1 {
			return errors.Join(whole(3)(f, s), hang(f, s))
		}
		return last(4)(f, s)
	}
	c := f.client(t)
	w := c.Watch(waittest.Context(t), client.WatchOptions{GameID: gameID})
	defer w.Close()
	for _, want := range []string{"live", "game 3", "reconnecting 1", "live", "event 4"} {
		c.SetIdleTimeout(waittest.Patience)
		if want == "reconnecting 1" {
			c.SetIdleTimeout(time.Millisecond)
		}
		u, err := w.Next()
		require.NoError(t, err)
		assert.Equal(t, want, describe(u))
	}
	_, err := w.Next()
	assert.ErrorIs(t, err, io.EOF)
}
