package client_test

import (
	"context"
	"errors"
	"io"
	"testing"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
	"google.golang.org/grpc/codes"
	"google.golang.org/grpc/status"
	"google.golang.org/protobuf/proto"

	"github.com/gridstand/gridstand/client"
	waittest "github.com/gridstand/gridstand/internal/testkit/wait"
	pb "github.com/gridstand/gridstand/proto/gridstand/v1"
)

var (
	away = fail(refuse(codes.Unavailable, pb.ReasonServerUnavailable))
	full = fail(refuse(codes.ResourceExhausted, pb.ReasonRateLimited, retryInfo(time.Millisecond)))
)

func TestWatch(t *testing.T) {
	t.Parallel()
	for name, tc := range map[string]struct {
		opts    client.WatchOptions
		streams [][]act  // the server's steps for the first, second, … stream
		asked   []*int32 // after_version of each request, or nil if absent; one without it unless set
		want    []string
		err     error // nil means io.EOF
		gap     *client.SequenceError
	}{
		"a game from its current version": {
			streams: [][]act{{whole(3), audience(2), event(4), last(5)}},
			want:    []string{"live", "game 3", "audience 2 [0 0 0 0 0 2]", "event 4", "event 5"},
		},
		"a complete transcript": {
			opts:    client.WatchOptions{AfterVersion: proto.Int32(0), EveryEvent: true},
			streams: [][]act{{event(1), event(2), last(3)}},
			asked:   after(0),
			want:    []string{"live", "event 1", "event 2", "event 3"},
		},
		"a preview": {
			opts:    client.WatchOptions{Preview: true},
			streams: [][]act{{away}, {finished(4)}},
			asked:   after(-1, -1),
			want:    []string{"reconnecting 1", "live", "game 4"},
		},
		"all events are known": {
			opts:    client.WatchOptions{AfterVersion: proto.Int32(7)},
			streams: [][]act{{}},
			asked:   after(7),
			want:    []string{"live"},
		},
		"live before the first message": {
			streams: [][]act{{header, away}, {header, finished(1)}},
			asked:   after(-1, -1),
			want:    []string{"live", "reconnecting 1", "live", "game 1"},
		},
		"a slow caller": {
			streams: [][]act{{whole(3), event(4), whole(10), event(11), finished(20)}},
			want:    []string{"live", "game 3", "event 4", "game 10 skipped 6", "event 11", "game 20 skipped 9"},
		},
		"resumes when the server stops": {
			streams: [][]act{{whole(3), event(4), away}, {event(5), full}, {last(6)}},
			asked:   after(-1, 4, 5),
			want: []string{
				"live", "game 3", "event 4", "reconnecting 1", "live", "event 5", "reconnecting 1", "live", "event 6",
			},
		},
		"resumes when the connection breaks": {
			streams: [][]act{{whole(3), cut}, {event(4), cut}, {last(5)}},
			asked:   after(-1, 3, 4),
			want: []string{
				"live", "game 3", "reconnecting 1", "live", "event 4", "reconnecting 1", "live", "event 5",
			},
		},
		"counts the tries without a message": {
			streams: [][]act{{away}, {away}, {whole(3), away}, {away}, {last(4)}},
			asked:   after(-1, -1, -1, 3, 3),
			want: []string{
				"reconnecting 1", "reconnecting 2", "live", "game 3", "reconnecting 1", "reconnecting 2", "live", "event 4",
			},
		},
		"a proxy resets the stream": {
			streams: [][]act{
				{whole(3), fail(status.Error(codes.Internal, "stream terminated by RST_STREAM with error code: INTERNAL_ERROR"))},
				{event(4), fail(status.Error(codes.Canceled, "canceled"))},
				{last(5)},
			},
			asked: after(-1, 3, 4),
			want:  []string{"live", "game 3", "reconnecting 1", "live", "event 4", "reconnecting 1", "live", "event 5"},
		},
		"only the OK was lost": {
			streams: [][]act{{whole(3), last(4), away}},
			want:    []string{"live", "game 3", "event 4"},
		},
		"an update of a newer server": {
			streams: [][]act{{whole(3), send(&pb.WatchResponse{}), last(4)}},
			want:    []string{"live", "game 3", "event 4"},
		},

		"a proxy throttles the client": {
			streams: [][]act{
				{whole(3), fail(status.Error(codes.ResourceExhausted, "stream terminated by RST_STREAM with error code: ENHANCE_YOUR_CALM"))},
				{last(4)},
			},
			asked: after(-1, 3),
			want:  []string{"live", "game 3", "reconnecting 1", "live", "event 4"},
		},
		"a request that is too large": {
			streams: [][]act{{fail(status.Error(codes.ResourceExhausted, "grpc: received message larger than max (5000 vs. 4096)"))}},
			err:     client.ErrMessageTooLarge,
		},
		"an internal error of the server": {
			streams: [][]act{{whole(3), fail(status.Error(codes.Internal, "internal error"))}},
			want:    []string{"live", "game 3"},
			err:     status.Error(codes.Internal, "internal error"),
		},
		"the game was found damaged": {
			streams: [][]act{{whole(3), fail(refuse(codes.DataLoss, pb.ReasonGameDamaged))}},
			want:    []string{"live", "game 3"},
			err:     client.ErrGameDamaged,
		},
		"the log was truncated": {
			streams: [][]act{{whole(3), event(4), away}, {fail(conflict("2"))}},
			asked:   after(-1, 4),
			want:    []string{"live", "game 3", "event 4", "reconnecting 1"},
			err:     client.ErrGameDamaged,
		},
		"the caller's version is too high": {
			opts:    client.WatchOptions{AfterVersion: proto.Int32(9)},
			streams: [][]act{{fail(conflict("2"))}},
			asked:   after(9),
			err:     client.ErrVersionConflict,
		},

		"a gap": {
			streams: [][]act{{whole(3), event(5)}},
			want:    []string{"live", "game 3"},
			err:     client.ErrBadStream,
			gap:     &client.SequenceError{Version: 5, After: 3},
		},
		"a repeat": {
			streams: [][]act{{whole(3), event(4), event(4)}},
			want:    []string{"live", "game 3", "event 4"},
			err:     client.ErrBadStream,
			gap:     &client.SequenceError{Version: 4, After: 4},
		},
		"a game with an old version": {
			streams: [][]act{{whole(3), event(4), whole(4)}},
			want:    []string{"live", "game 3", "event 4"},
			err:     client.ErrBadStream,
			gap:     &client.SequenceError{Version: 4, After: 4},
		},
		"a game although every event was requested": {
			opts:    client.WatchOptions{EveryEvent: true},
			streams: [][]act{{whole(3), whole(9)}},
			want:    []string{"live", "game 3"},
			err:     client.ErrBadStream,
		},
		"an event before the game": {
			streams: [][]act{{event(1)}},
			want:    []string{"live"},
			err:     client.ErrBadStream,
		},
		"an event after the last one": {
			streams: [][]act{{whole(3), last(4), event(5)}},
			want:    []string{"live", "game 3", "event 4"},
			err:     client.ErrBadStream,
		},
		"an event of another game": {
			streams: [][]act{{whole(3), send(&pb.WatchResponse{Update: &pb.WatchResponse_Event{
				Event: &pb.Event{GameId: otherID, Version: 4, Position: position()},
			}})}},
			want: []string{"live", "game 3"},
			err:  client.ErrBadStream,
		},
		"the stream ends before the game": {
			streams: [][]act{{whole(3), event(4)}},
			want:    []string{"live", "game 3", "event 4"},
			err:     client.ErrBadStream,
		},
		"the stream ends before the first game": {
			streams: [][]act{{audience(1)}},
			want:    []string{"live", "audience 1 [0 0 0 0 0 1]"},
			err:     client.ErrBadStream,
		},
	} {
		t.Log(name)
		asked := make(chan *int32, 10)
		f := &fake{}
		f.watch = func(n int, r *pb.WatchRequest, s watchStream) error {
			asked <- r.AfterVersion
			assert.Equal(t, gameID, r.GetGameId())
			assert.Equal(t, tc.opts.EveryEvent, r.GetEveryEvent())
			assert.Equal(t, tc.opts.Preview, r.GetPreview())
			if n > len(tc.streams) {
				return status.Error(codes.FailedPrecondition, "unexpected stream")
			}
			for _, do := range tc.streams[n-1] {
				if err := do(f, s); err != nil {
					return err
				}
			}
			return nil
		}
		tc.opts.GameID = gameID
		w := f.client(t).Watch(waittest.Context(t), tc.opts)
		defer w.Close()

		got, err := f.drain(w)
		assert.Equal(t, tc.want, got)
		if tc.err == nil {
			tc.err = io.EOF
		}
		if want, ok := status.FromError(tc.err); ok {
			assert.Equal(t, want.Code(), status.Code(err))
		} else {
			require.ErrorIs(t, err, tc.err)
		}
		gap, _ := errors.AsType[*client.SequenceError](err)
		assert.Equal(t, tc.gap, gap)
		_, again := w.Next()
		assert.Equal(t, err, again)
		if tc.asked == nil {
			tc.asked = after(-1)
		}
		for i, want := range tc.asked {
			assert.Equalf(t, want, <-asked, "after_version of stream %d", i+1)
		}
		assert.Empty(t, asked)
	}
}

func TestWatch_Close(t *testing.T) {
	t.Parallel()
	for name, tc := range map[string]struct {
		then act // what the server does once the stream is open
		end  func(c *client.Client, w *client.Watch, cancel context.CancelFunc)
		says string
	}{
		"Close":                           {hang, func(_ *client.Client, w *client.Watch, _ context.CancelFunc) { w.Close() }, ""},
		"the context":                     {hang, func(_ *client.Client, _ *client.Watch, cancel context.CancelFunc) { cancel() }, ""},
		"the client":                      {hang, closeClient, "the client is closed"},
		"the client, while it reconnects": {away, closeClient, "the client is closed"},
	} {
		ctx, cancel := context.WithCancel(waittest.Context(t))
		defer cancel()
		f := &fake{}
		f.watch = func(_ int, _ *pb.WatchRequest, s watchStream) error {
			return errors.Join(header(f, s), tc.then(f, s))
		}
		c := f.client(t)
		w := c.As("").Watch(ctx, client.WatchOptions{GameID: gameID})
		_, err := w.Next()
		require.NoError(t, err, name)
		ended := make(chan error, 1)
		go func() {
			_, err := f.drain(w)
			ended <- err
		}()
		tc.end(c, w, cancel)
		err = <-ended
		require.ErrorIs(t, err, context.Canceled, name)
		assert.ErrorContains(t, err, tc.says, name)
		_, again := w.Next()
		assert.Equal(t, err, again, name)
		w.Close()
		w.Close()
		require.NoError(t, c.Close(), name)
	}
}

func closeClient(c *client.Client, _ *client.Watch, _ context.CancelFunc) { _ = c.Close() }
