package rpc

import (
	"context"
	"errors"
	"fmt"
	"runtime/debug"
	"sync/atomic"

	pb "github.com/gridstand/gridstand/proto/gridstand/v1"
)

// sharing is what a View has that takes part in a fanout.
type sharing struct {
	ended func(error)
	in    atomic.Pointer[fanout] // nil while the view follows alone
	index int                    // in the fanout's members; guarded by its mu
}

// FollowShared is Follow for a stream that implements TrySender. It does not wait: ended
// is called with the result, from another goroutine.
func (v *View) FollowShared(ended func(error)) {
	v.sharing = &sharing{ended: ended}
	go v.followAlone()
}

// Interrupt ends a view that FollowShared was called for, if its context has ended.
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

// WaitShared waits for the goroutines of views that FollowShared was called for, after
// all have ended.
func (s *Service) WaitShared() { s.fanouts.group.Wait() }

var (
	// errJoined means that a fanout sends what follows.
	errJoined   = errors.New("joined a fanout")
	errPanicked = errors.New("a panic")
)

// followAlone follows until the view joins a fanout or ends.
func (v *View) followAlone() {
	if err := v.recovered(v.rest); !errors.Is(err, errJoined) {
		v.sharing.ended(v.translate(err))
	}
}

// rest sends the rest of what TrySend began, and follows.
func (v *View) rest() error {
	if err := v.send([]byte(nil)); err != nil {
		return err
	}
	return v.follow()
}

// recovered returns the error of work, for goroutines in which no interceptor turns a panic
// into one: there it would end the server.
func (v *View) recovered(work func() error) (err error) {
	defer func() {
		if p := recover(); p != nil {
			v.service.logPanic(p)
			err = errPanicked
		}
	}()
	return work()
}

// join makes a view that has all updates a member of a fanout, and returns errJoined. It
// returns nil if there are new updates.
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

func (s *Service) logPanic(p any) {
	s.Logger.Error("panic in a call", "id", "call-panicked",
		"call", pb.GameService_Watch_FullMethodName, "panic", fmt.Sprint(p), "stack", string(debug.Stack()))
}
