package client

import (
	"context"
	"errors"
	"fmt"
	"io"
	"strconv"

	"github.com/cenkalti/backoff/v5"
	"google.golang.org/grpc"
	"google.golang.org/grpc/codes"

	pb "github.com/gridstand/gridstand/proto/gridstand/v1"
)

// Cursor is a position in the stream of a game. It checks which message may come next and
// interprets the end of a stream. A Watch uses a Cursor. Since a Cursor does no I/O,
// programs that read streams themselves can use it too. It is not safe for concurrent use.
type Cursor struct {
	opts  WatchOptions
	tries tries

	known   bool  // whether version is set
	version int32 // last version received
	shown   bool  // whether a game or an event was received
	over    bool  // whether the last event of the game was received
}

// NewCursor returns a cursor at the version in the options.
func NewCursor(opts WatchOptions) *Cursor { return newCursor(opts, newBackOff()) }

func newCursor(opts WatchOptions, pace *backoff.ExponentialBackOff) *Cursor {
	c := &Cursor{opts: opts, tries: tries{pace: pace}}
	if opts.AfterVersion != nil {
		c.known, c.version = true, *opts.AfterVersion
	}
	return c
}

// Request returns the request for the next stream.
func (c *Cursor) Request() *pb.WatchRequest {
	request := &pb.WatchRequest{GameId: c.opts.GameID, EveryEvent: c.opts.EveryEvent, Preview: c.opts.Preview}
	if c.known {
		request.AfterVersion = new(c.version)
	}
	return request
}

func (c *Cursor) open(ctx context.Context, from *Client) (grpc.ServerStreamingClient[pb.WatchResponse], error) {
	return from.Games.Watch(ctx, c.Request())
}

// Version returns the version of the last game or event received. Before the first one,
// it returns the AfterVersion, or 0 if AfterVersion is not set.
func (c *Cursor) Version() int32 { return c.version }

// Received records that a message of any kind arrived, which resets the backoff.
func (c *Cursor) Received() { c.tries.Received() }

// Game moves the cursor to the version of a snapshot and returns the number of events that
// it replaces. If a snapshot is not allowed at this position, the error is an ErrBadStream
// and the cursor does not move.
func (c *Cursor) Game(version int32, over bool) (skipped int32, err error) {
	switch {
	case c.over:
		return 0, fmt.Errorf("%w: a game after its end", ErrBadStream)
	case !c.known:
	case c.opts.EveryEvent:
		return 0, fmt.Errorf("%w: a game instead of events", ErrBadStream)
	case version <= c.version:
		return 0, &SequenceError{Version: version, After: c.version}
	default:
		skipped = version - c.version
	}
	c.advance(version, over)
	return skipped, nil
}

// Event moves the cursor to the version of an event. If the event is not allowed at this
// position, the error is an ErrBadStream and the cursor does not move.
func (c *Cursor) Event(version int32, over bool) error {
	switch {
	case c.over:
		return fmt.Errorf("%w: an event after the last one", ErrBadStream)
	case !c.known:
		return fmt.Errorf("%w: an event before the game", ErrBadStream)
	case version-1 != c.version:
		return &SequenceError{Version: version, After: c.version}
	}
	c.advance(version, over)
	return nil
}

func (c *Cursor) advance(version int32, over bool) {
	c.known, c.shown = true, true
	c.version, c.over = version, over
}

// End returns the error to report after the server ended a stream with status OK: io.EOF
// if the game is over or had no events after AfterVersion, and an ErrBadStream otherwise.
func (c *Cursor) End() error {
	if c.over || !c.shown && c.opts.AfterVersion != nil {
		return io.EOF
	}
	return fmt.Errorf("%w: the stream ended before the game did", ErrBadStream)
}

// Lost returns the connection state and the delay before the next try, after a stream
// ended with an error. If the stream must not be retried, it returns an error, which is
// io.EOF if the game's last event had already arrived.
func (c *Cursor) Lost(err error) (Connection, error) {
	e := FromError(err)
	switch {
	case c.over:
		return Connection{}, io.EOF
	case c.shown && errors.Is(e, ErrVersionConflict):
		return Connection{}, c.damaged(e)
	}
	return c.tries.again(err)
}

// damaged returns the error to report if the server now has fewer events than it has
// sent.
func (c *Cursor) damaged(e *Error) error {
	held, _ := CurrentVersion(e)
	return &Error{
		Code: codes.DataLoss, Reason: pb.ReasonGameDamaged,
		Message: fmt.Sprintf(
			"the game is damaged: the client has seen version %d, but the server has only %d", c.version, held),
		Metadata: map[string]string{"version": strconv.Itoa(int(held))},
	}
}
