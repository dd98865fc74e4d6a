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

// Reading is a watcher's position in a game: it decides which update may come
// next, and what the end of a stream means. It does no I/O; a Watcher has one, and so
// does a program that reads streams in a way of its own. It is not safe for
// concurrent use.
type Reading struct {
	opts    WatchOptions
	attempt int // tries since a message came
	pace    *backoff.ExponentialBackOff

	known   bool  // whether version is a point to go on from
	version int32 // last version seen
	shown   bool  // whether anything of the game came
	over    bool  // whether its last event came
}

// NewReading begins where the options say.
func NewReading(opts WatchOptions) *Reading { return newReading(opts, newBackOff()) }

func newReading(opts WatchOptions, pace *backoff.ExponentialBackOff) *Reading {
	r := &Reading{opts: opts, pace: pace}
	if opts.AfterVersion != nil {
		r.known, r.version = true, *opts.AfterVersion
	}
	return r
}

// Request is what to ask for now.
func (r *Reading) Request() *pb.WatchRequest {
	request := &pb.WatchRequest{GameId: r.opts.GameID, EveryEvent: r.opts.EveryEvent}
	if r.known {
		after := r.version
		request.AfterVersion = &after
	}
	return request
}

// Version is the last version seen, 0 before the first.
func (r *Reading) Version() int32 { return r.version }

// Came notes that a message came, of whatever kind.
func (r *Reading) Came() {
	r.attempt = 0
	r.pace.Reset()
}

// Game takes a whole game, and returns how many events it came in place of. The
// error is an ErrBadStream, and the reading stands where it stood.
func (r *Reading) Game(version int32, over bool) (skipped int32, err error) {
	switch {
	case r.over:
		return 0, fmt.Errorf("%w: a game after its end", ErrBadStream)
	case !r.known:
	case r.opts.EveryEvent:
		return 0, fmt.Errorf("%w: a game in the place of events", ErrBadStream)
	case version <= r.version:
		return 0, &SequenceError{Version: version, After: r.version}
	default:
		skipped = version - r.version
	}
	r.see(version, over)
	return skipped, nil
}

// Event takes an event. The error is an ErrBadStream, and the reading stands
// where it stood.
func (r *Reading) Event(version int32, over bool) error {
	switch {
	case r.over:
		return fmt.Errorf("%w: an event after the last one", ErrBadStream)
	case !r.known:
		return fmt.Errorf("%w: an event before the game", ErrBadStream)
	case version-1 != r.version:
		return &SequenceError{Version: version, After: r.version}
	}
	r.see(version, over)
	return nil
}

func (r *Reading) see(version int32, over bool) {
	r.known, r.shown = true, true
	r.version, r.over = version, over
}

// End judges a stream that the server ended as complete: io.EOF if it is.
func (r *Reading) End() error {
	if r.over || !r.shown && r.opts.AfterVersion != nil {
		return io.EOF
	}
	return fmt.Errorf("%w: the stream ended, but not the game", ErrBadStream)
}

// Lost decides what the loss of a stream means: an error that is final, io.EOF
// among them, or how to try again.
func (r *Reading) Lost(err error) (Connection, error) {
	e := FromError(err)
	switch {
	case r.over:
		// Only the stream's OK was still to come.
		return Connection{}, io.EOF
	case r.shown && errors.Is(e, ErrVersionConflict):
		return Connection{}, r.damaged(e)
	case e.Code == codes.Unavailable, e.Code == codes.ResourceExhausted, e.brokenOff():
	case e.Code == codes.Canceled: // not by us, or by us since nothing came
	default:
		return Connection{}, err
	}
	r.attempt++
	return Connection{State: Reconnecting, Attempt: r.attempt, Delay: pause(r.pace, e), Err: e}, nil
}

// damaged is the error of a server that holds less than was seen.
func (r *Reading) damaged(e *Error) error {
	held, _ := CurrentVersion(e)
	return &Error{
		Code: codes.DataLoss, Reason: pb.ReasonGameDamaged,
		Message: fmt.Sprintf(
			"the game is damaged: version %d was seen, but the server holds only %d", r.version, held),
		Metadata: map[string]string{"version": strconv.Itoa(int(held))},
	}
}
