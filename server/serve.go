package server

import (
	"context"
	"fmt"
	"sync"
	"time"

	"github.com/gridstand/gridstand/internal/version"
)

// floor is what runs and is stopped together. What stands on it is stopped
// first.
type floor struct {
	ctx    context.Context
	cancel context.CancelFunc
	group  sync.WaitGroup
	fail   context.CancelCauseFunc
}

// newFloor makes a floor that a signal does not end, only stop. Whatever fails
// on it calls fail.
func newFloor(ctx context.Context, fail context.CancelCauseFunc) *floor {
	f := &floor{fail: fail}
	f.ctx, f.cancel = context.WithCancel(context.WithoutCancel(ctx))
	return f
}

// run runs work, which ends when its context does.
func (f *floor) run(name string, work func(context.Context) error) {
	f.group.Go(func() {
		if err := work(f.ctx); err != nil && f.ctx.Err() == nil {
			f.fail(fmt.Errorf("%s: %w", name, err))
		}
	})
}

// stop ends what runs and waits for it.
func (f *floor) stop() {
	f.cancel()
	f.group.Wait()
}

// lingerFor is how long those who watch the server's health are given to learn
// that it stops.
const lingerFor = 200 * time.Millisecond

// serve serves until ctx ends or something fails, and takes everything down
// from the top: nothing is stopped while others still need it.
func (n *node) serve(ctx context.Context) error {
	defer n.close()
	stopping, fail := context.WithCancelCause(ctx)
	defer fail(nil)

	base := newFloor(ctx, fail)
	if n.store.embedded != nil {
		base.run("embedded store", without(n.store.embedded.run))
	}
	base.run("redis", without(func(ctx context.Context) {
		n.store.watch(ctx, n.logger, pingEvery, func(up bool) {
			n.storeAnswers.Store(up)
			n.metrics.StorageUp(up)
		})
	}))
	if n.admin != nil {
		base.run("metrics", n.admin.run)
	}
	rooms := newFloor(ctx, fail)
	rooms.run("follower", n.follower.Run)
	rooms.run("lists", without(n.directory.Run))
	matches := newFloor(ctx, fail)
	matches.run("matches", n.hub.Run)
	chores := newFloor(ctx, fail)
	chores.run("steward", func(ctx context.Context) error { return n.steward.Run(ctx, n.hub) })
	calls := newFloor(ctx, fail)
	calls.run("gRPC", func(context.Context) error { return n.grpc.Serve(n.admission) })
	calls.run("admission", without(n.admission.Run))
	n.announce()

	<-stopping.Done()
	began := time.Now()
	failure := context.Cause(stopping)
	if ctx.Err() != nil {
		failure = nil
		n.logger.Info("stopping")
	} else {
		n.logger.Error("stopping", "id", "server-failed", "error", failure)
	}
	n.health.Shutdown()
	chores.stop()
	// The matches send their watchers away; calls that are under way are
	// answered, and only then nobody needs a match any more.
	matches.cancel()
	n.drain()
	calls.stop()
	matches.stop()
	rooms.stop()
	n.steward.Heartbeat.Leave(ctx)
	base.stop()
	n.logger.Info("stopped", "took", time.Since(began).Round(time.Millisecond))
	return failure
}

// flushFor is how long a stop waits for clients to take the answers to calls that
// were carried out, and to end streams that they alone keep open.
const flushFor = 500 * time.Millisecond

// drain waits for calls in progress, and cuts off those that take too long. It
// waits for nothing that depends on clients alone: requests that have not arrived,
// answers that are not read, streams and connections that are only kept open.
func (n *node) drain() {
	n.admission.Stop()
	linger := time.AfterFunc(lingerFor, n.endLinger)
	defer linger.Stop()
	drained := make(chan struct{})
	go func() {
		defer close(drained)
		n.grpc.GracefulStop()
	}()
	began := time.Now()
	look := time.NewTicker(10 * time.Millisecond)
	defer look.Stop()
	for {
		select {
		case <-drained:
			return
		case <-look.C:
		}
		took := time.Since(began)
		if took >= n.StopTimeout {
			n.logger.Warn("calls were cut off", "id", "calls-cut-off", "after", n.StopTimeout)
		} else if took < flushFor || n.admission.Running() > 0 {
			continue
		}
		n.admission.CloseAll()
		n.grpc.Stop()
		<-drained
		return
	}
}

// announce tells the operator what runs.
func (n *node) announce() {
	if n.store.embedded != nil {
		n.logger.Warn("everything is kept in this process and gone when it ends; --redis names a store that stays", "id", "store-volatile")
	}
	n.logger.Info("serving", "address", n.admission.Addr().String(), "redis", n.store.name,
		"tls", n.TLSCert != "", "version", version.String())
	if n.admin != nil {
		n.logger.Info("serving metrics", "address", n.admin.listener.Addr().String(), "pprof", n.Pprof)
	}
}

// without is work that cannot fail.
func without(work func(context.Context)) func(context.Context) error {
	return func(ctx context.Context) error {
		work(ctx)
		return nil
	}
}
