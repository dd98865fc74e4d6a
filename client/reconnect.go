package client

import (
	"context"
	"errors"
	"io"
	"sync"
	"time"

	"github.com/cenkalti/backoff/v5"
	"google.golang.org/grpc"
	"google.golang.org/grpc/codes"
)

// resumer receives the messages of a stream, reconnecting as often as necessary. It has
// no goroutine or buffer of its own: it connects and receives within next.
type resumer[M any] struct {
	client   *Client
	position position[M]
	ctx      context.Context
	cancel   context.CancelFunc

	turn sync.Mutex // held during next; guards the fields below

	stream       grpc.ServerStreamingClient[M] // nil if not connected
	cancelStream context.CancelFunc            // cancels stream
	conn         Connection
	err          error // permanent; nil until then
}

// position records how much of a stream a program has received.
type position[M any] interface {
	// open starts a stream at the position.
	open(ctx context.Context, c *Client) (grpc.ServerStreamingClient[M], error)
	// Received records that a message arrived.
	Received()
	// End returns the error to report after the server ended a stream with status OK.
	End() error
	// Lost returns the connection state and the delay before the next try, after a stream
	// ended with an error. It returns an error if err is permanent.
	Lost(err error) (Connection, error)
}

func newResumer[M any](ctx context.Context, c *Client, from position[M]) *resumer[M] {
	r := &resumer[M]{client: c, position: from}
	r.ctx, r.cancel = context.WithCancel(ctx)
	return r
}

// next returns when handle reports that a message contains something new, or when the
// connection state changes. Its errors are final.
func (r *resumer[M]) next(handle func(*M) (news bool, err error)) (Connection, error) {
	r.turn.Lock()
	defer r.turn.Unlock()
	for r.err == nil {
		var news bool
		if news, r.err = r.step(handle); news && r.err == nil {
			return r.conn, nil
		}
	}
	r.drop()
	r.cancel()
	return r.conn, r.err
}

// close ends the stream and waits for a concurrent next to return.
func (r *resumer[M]) close() {
	r.cancel()
	r.turn.Lock()
	defer r.turn.Unlock()
	r.drop()
}

// step connects, or receives one message.
func (r *resumer[M]) step(handle func(*M) (bool, error)) (news bool, err error) {
	if err := r.client.ended(r.ctx); err != nil {
		return false, err
	}
	if r.stream == nil {
		if err := r.client.wait(r.ctx, r.conn.Delay); err != nil {
			return false, err
		}
		if err := r.open(); err != nil {
			return true, r.lost(err)
		}
		r.conn = Connection{State: Live}
		return true, nil
	}
	message, err := withIdleTimeout(r, r.stream.Recv)
	switch {
	case errors.Is(err, io.EOF):
		return false, r.position.End()
	case err != nil:
		return true, r.lost(err)
	}
	r.position.Received()
	return handle(message)
}

// open connects and returns when the server's headers arrive.
func (r *resumer[M]) open() error {
	ctx, cancelStream := context.WithCancel(r.ctx)
	stream, err := r.position.open(ctx, r.client)
	if err != nil {
		cancelStream()
		return err
	}
	r.stream, r.cancelStream = stream, cancelStream
	header, err := withIdleTimeout(r, stream.Header)
	if err == nil && header == nil {
		// The stream has already ended, and Recv returns the reason. Leave io.EOF to the
		// next step, which receives it again.
		if _, err = stream.Recv(); errors.Is(err, io.EOF) {
			err = nil
		}
	}
	return err
}

// withIdleTimeout cancels the stream if receive takes longer than the idle timeout.
func withIdleTimeout[M, T any](r *resumer[M], receive func() (T, error)) (T, error) {
	timer := time.AfterFunc(r.client.idleTimeout, r.cancelStream)
	defer timer.Stop()
	return receive()
}

// drop cancels the current stream, if any.
func (r *resumer[M]) drop() {
	if r.stream != nil {
		r.cancelStream()
		r.stream, r.cancelStream = nil, nil
	}
}

// lost returns nil if the lost stream can be resumed.
func (r *resumer[M]) lost(err error) error {
	r.drop()
	if ended := r.client.ended(r.ctx); ended != nil {
		return ended
	}
	conn, err := r.position.Lost(err)
	if err == nil {
		r.conn = conn
	}
	return err
}

// tries counts the connection attempts since the last message arrived.
type tries struct {
	attempt int
	pace    *backoff.ExponentialBackOff
}

// Received records that a message of any kind arrived, which resets the backoff.
func (t *tries) Received() {
	t.attempt = 0
	t.pace.Reset()
}

// again returns the delay before the next try after a stream ended with err, or err if it
// is permanent.
func (t *tries) again(err error) (Connection, error) {
	e := FromError(err)
	switch {
	case e.tooLarge():
		return Connection{}, err
	case e.Code == codes.Unavailable, e.Code == codes.ResourceExhausted, e.brokenOff():
	case e.Code == codes.Canceled: // by the idle timeout, the server or a proxy
	default:
		return Connection{}, err
	}
	t.attempt++
	return Connection{State: Reconnecting, Attempt: t.attempt, Delay: pause(t.pace, e), Err: e}, nil
}
