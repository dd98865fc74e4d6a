package client

import (
	"errors"
	"fmt"
	"io"
	"strconv"

	"github.com/cenkalti/backoff/v5"
	"google.golang.org/grpc/codes"

	pb "github.com/gridstand/gridstand/proto/gridstand/v1"
)

// Cursor is a position in the stream of a game. It checks which message may come next
// and says what the end of a stream means. A Watch has one; it does no I/O, so that a
// program that reads streams in its own way can use one, too. It is not safe for
// concurrent use.
type Cursor struct {
	opts    WatchOptions
	attempt int // tries since the last message
	pace    *backoff.ExponentialBackOff

	known   bool  // version is set
	version int32 // last version received
	shown   bool  // a game or an event was received
	over    bool  // its last event was received
}

// NewCursor returns a cursor at the version that the options name.
func NewCursor(opts WatchOptions) *Cursor { return newCursor(opts, newBackOff()) }

func newCursor(opts WatchOptions, pace *backoff.ExponentialBackOff) *Cursor {
	c := &Cursor{opts: opts, pace: pace}
	if opts.AfterVersion != nil {
		c.known, c.version = true, *opts.AfterVersion
	}
	return c
}

// Request returns the request for the next stream.
func (c *Cursor) Request() *pb.WatchRequest {
	request := &pb.WatchRequest{GameId: c.opts.GameID, EveryEvent: c.opts.EveryEvent, Preview: c.opts.Preview}
	if c.known {
		after := c.version
		request.AfterVersion = &after
	}
	return request
}

// Version returns the last version, 0 before the first.
func (c *Cursor) Version() int32 { return c.version }

// Received notes that a message of any kind arrived, which resets the backoff.
func (c *Cursor) Received() {
	c.attempt = 0
	c.pace.Reset()
}

// Game moves to the version of a snapshot and returns how many events it replaces. If
// the snapshot may not come here, the error is an ErrBadStream and the cursor stays.
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

// Event moves to the version of an event. If it may not come here, the error is an
// ErrBadStream and the cursor stays.
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

// End returns the error of a stream that the server ended with OK: io.EOF if the game
// is over, else an ErrBadStream.
func (c *Cursor) End() error {
	if c.over || !c.shown && c.opts.AfterVersion != nil {
		return io.EOF
	}
	return fmt.Errorf("%w: the stream ended, but not the game", ErrBadStream)
}

// Lost returns when to try again after a stream ended with an error, or an error if
// that is final: io.EOF if only the stream's OK was missing.
func (c *Cursor) Lost(err error) (Connection, error) {
	e := FromError(err)
	switch {
	case c.over:
		return Connection{}, io.EOF
	case c.shown && errors.Is(e, ErrVersionConflict):
		return Connection{}, c.damaged(e)
	case e.Code == codes.Unavailable, e.Code == codes.ResourceExhausted, e.brokenOff():
	case e.Code == codes.Canceled: // by the idle timeout, or not by this client
	default:
		return Connection{}, err
	}
	c.attempt++
	return Connection{State: Reconnecting, Attempt: c.attempt, Delay: pause(c.pace, e), Err: e}, nil
}

// damaged returns the error of a server that has fewer events than it sent before.
func (c *Cursor) damaged(e *Error) error {
	held, _ := CurrentVersion(e)
	return &Error{
		Code: codes.DataLoss, Reason: pb.ReasonGameDamaged,
		Message: fmt.Sprintf(
			"the game is damaged: version %d was seen, but the server holds only %d", c.version, held),
		Metadata: map[string]string{"version": strconv.Itoa(int(held))},
	}
}
