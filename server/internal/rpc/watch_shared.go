package rpc

import (
	"context"
	"errors"
	"fmt"
	"log/slog"
	"runtime/debug"
	"sync/atomic"

	pb "github.com/gridstand/gridstand/proto/gridstand/v1"
)

// Aborter is a stream that does not use gRPC and that another goroutine can end while
// SendMsg is running. SendMsg then returns promptly.
type Aborter interface {
	Abort(err error)
}

// sharing is the state of a View that may join fanouts.
type sharing struct {
	ended func(error)
	in    atomic.Pointer[fanout] // nil while the view is running on its own
	index int                    // index in the fanout's members; guarded by the fanout's mu
}

// FollowShared is like Follow, but it is for a stream that implements TrySender, and it
// does not block. When the watch ends, another goroutine calls ended with the error that
// Follow would return.
func (v *View) FollowShared(ended func(error)) {
	v.sharing = &sharing{ended: ended}
	go v.followAlone()
}

// Interrupt removes a view that FollowShared started from its fanout, so that the view
// notices that its context is done.
func (v *View) Interrupt() {
	f := v.sharing.in.Load()
	if f == nil {
		return
	}
	f.mu.Lock()
	defer f.mu.Unlock()
	if v.sharing.in.Load() != f {
		return
	}
	f.remove(v.sharing.index)
	if len(f.members) == 0 {
		select {
		case f.emptied <- struct{}{}:
		default:
		}
	}
}

// WaitShared waits for the goroutines of the views that FollowShared started. All of these
// views must have ended.
func (s *Service) WaitShared() { s.fanouts.group.Wait() }

var (
	// errJoined means that the view joined a fanout, which sends further updates.
	errJoined   = errors.New("joined a fanout")
	errPanicked = errors.New("a panic")
)

// followAlone sends updates until the view joins a fanout or ends.
func (v *View) followAlone() {
	if err := v.service.recovered(pb.GameService_Watch_FullMethodName, v.rest); !errors.Is(err, errJoined) {
		v.sharing.ended(v.translate(err))
	}
}

// rest sends the part of a message that the last TrySend could not send, and then follows
// the game.
func (v *View) rest() error {
	if err := v.send([]byte(nil)); err != nil {
		return err
	}
	return v.follow()
}

// recovered calls work and turns a panic into an error. Goroutines that run outside the
// interceptor that recovers from panics use it, because an unrecovered panic would crash
// the server.
func (s *Service) recovered(method string, work func() error) (err error) {
	defer func() {
		if p := recover(); p != nil {
			LogPanic(s.Logger, method, p)
			err = errPanicked
		}
	}()
	return work()
}

// join adds v to a fanout and returns errJoined. It returns nil if v has new updates to
// send first, and an error if v's context is done.
func (v *View) join() error {
	ctx := v.stream.Context()
	for {
		if err := context.Cause(ctx); err != nil {
			return err
		}
		f := v.service.fanoutOf(v.match)
		joined, retry := f.add(v)
		if joined {
			return errJoined
		}
		v.service.fanouts.release(f)
		if !retry {
			return nil
		}
	}
}

// LogPanic logs a panic in a call, with the recovered value p and the goroutine's stack.
func LogPanic(logger *slog.Logger, call string, p any) {
	logger.Error("panic in a call", "id", "call-panicked", "call", call, "panic", fmt.Sprint(p), "stack", string(debug.Stack()))
}
