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

// Cursor is a watcher's position in a game: it decides which update may come
// next, and what the end of a stream means. It does no I/O; a Watch has one, and so
// does a program that reads streams in a way of its own. It is not safe for
// concurrent use.
type Cursor struct {
	opts    WatchOptions
	attempt int // tries since a message came
	pace    *backoff.ExponentialBackOff

	known   bool  // whether version is a point to go on from
	version int32 // last version seen
	shown   bool  // whether anything of the game came
	over    bool  // whether its last event came
}

// NewCursor begins where the options say.
func NewCursor(opts WatchOptions) *Cursor { return newCursor(opts, newBackOff()) }

func newCursor(opts WatchOptions, pace *backoff.ExponentialBackOff) *Cursor {
	c := &Cursor{opts: opts, pace: pace}
	if opts.AfterVersion != nil {
		c.known, c.version = true, *opts.AfterVersion
	}
	return c
}

// Request is what to ask for now.
func (c *Cursor) Request() *pb.WatchRequest {
	request := &pb.WatchRequest{GameId: c.opts.GameID, EveryEvent: c.opts.EveryEvent}
	if c.known {
		after := c.version
		request.AfterVersion = &after
	}
	return request
}

// Version is the last version seen, 0 before the first.
func (c *Cursor) Version() int32 { return c.version }

// Received notes that a message came, of whatever kind.
func (c *Cursor) Received() {
	c.attempt = 0
	c.pace.Reset()
}

// Game takes a whole game, and returns how many events it came in place of. The
// error is an ErrBadStream, and the reading stands where it stood.
func (c *Cursor) Game(version int32, over bool) (skipped int32, err error) {
	switch {
	case c.over:
		return 0, fmt.Errorf("%w: a game after its end", ErrBadStream)
	case !c.known:
	case c.opts.EveryEvent:
		return 0, fmt.Errorf("%w: a game in the place of events", ErrBadStream)
	case version <= c.version:
		return 0, &SequenceError{Version: version, After: c.version}
	default:
		skipped = version - c.version
	}
	c.advance(version, over)
	return skipped, nil
}

// Event takes an event. The error is an ErrBadStream, and the cursor stands
// where it stood.
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

// End judges a stream that the server ended as complete: io.EOF if it is.
func (c *Cursor) End() error {
	if c.over || !c.shown && c.opts.AfterVersion != nil {
		return io.EOF
	}
	return fmt.Errorf("%w: the stream ended, but not the game", ErrBadStream)
}

// Lost decides what the loss of a stream means: an error that is final, io.EOF
// among them, or how to try again.
func (c *Cursor) Lost(err error) (Connection, error) {
	e := FromError(err)
	switch {
	case c.over:
		// Only the stream's OK was still to come.
		return Connection{}, io.EOF
	case c.shown && errors.Is(e, ErrVersionConflict):
		return Connection{}, c.damaged(e)
	case e.Code == codes.Unavailable, e.Code == codes.ResourceExhausted, e.brokenOff():
	case e.Code == codes.Canceled: // not by us, or by us since nothing came
	default:
		return Connection{}, err
	}
	c.attempt++
	return Connection{State: Reconnecting, Attempt: c.attempt, Delay: pause(c.pace, e), Err: e}, nil
}

// damaged is the error of a server that holds less than was seen.
func (c *Cursor) damaged(e *Error) error {
	held, _ := CurrentVersion(e)
	return &Error{
		Code: codes.DataLoss, Reason: pb.ReasonGameDamaged,
		Message: fmt.Sprintf(
			"the game is damaged: version %d was seen, but the server holds only %d", c.version, held),
		Metadata: map[string]string{"version": strconv.Itoa(int(held))},
	}
}
