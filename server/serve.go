package server

import (
	"context"
	"errors"
	"fmt"
	"net"
	"net/http"
	"sync"
	"time"

	"github.com/gridstand/gridstand/internal/version"
)

// stage is a group of goroutines that is started and stopped together. Stages are
// stopped in the reverse order in which they are started.
type stage struct {
	ctx    context.Context
	cancel context.CancelFunc
	group  sync.WaitGroup
	fail   context.CancelCauseFunc
}

// newStage returns a stage that only stop ends, not ctx. It calls fail with the
// first error of its goroutines.
func newStage(ctx context.Context, fail context.CancelCauseFunc) *stage {
	s := &stage{fail: fail}
	s.ctx, s.cancel = context.WithCancel(context.WithoutCancel(ctx))
	return s
}

// run starts a goroutine for work, which returns when its context ends.
func (s *stage) run(name string, work func(context.Context) error) {
	s.group.Go(func() {
		if err := work(s.ctx); err != nil && s.ctx.Err() == nil {
			s.fail(fmt.Errorf("%s: %w", name, err))
		}
	})
}

// stop ends the goroutines and waits for them.
func (s *stage) stop() {
	s.cancel()
	s.group.Wait()
}

// lingerFor is how long health watchers have to receive the news that the server
// stops.
const lingerFor = 200 * time.Millisecond

// serve serves until ctx ends or a stage fails. Then it stops the stages from the
// top, so that each outlives the ones that use it.
func (n *node) serve(ctx context.Context) error {
	defer n.close()
	stopping, fail := context.WithCancelCause(ctx)
	defer fail(nil)

	base := newStage(ctx, fail)
	base.run("store", without(n.store.Run))
	base.run("monitor", without(func(ctx context.Context) {
		monitor(ctx, n.store.Background, n.logger, pingEvery, func(up bool) {
			n.storeAnswers.Store(up)
			n.metrics.StorageUp(up)
		})
	}))
	if n.admin != nil {
		base.run("metrics", n.admin.run)
	}
	readers := newStage(ctx, fail)
	readers.run("follower", n.store.Feed.Run)
	readers.run("lists", without(n.directory.Run))
	matches := newStage(ctx, fail)
	matches.run("matches", n.hub.Run)
	background := newStage(ctx, fail)
	background.run("heartbeat", without(func(ctx context.Context) { n.heartbeat.Run(ctx, n.hub) }))
	background.run("recovery", without(func(ctx context.Context) { n.recovery.Run(ctx, n.hub) }))
	background.run("lifecycle", without(func(ctx context.Context) { n.lifecycle.Run(ctx, n.hub) }))
	calls := newStage(ctx, fail)
	calls.run("gRPC", func(context.Context) error { return n.grpc.Serve(n.admission) })
	if n.webListener != nil {
		calls.run("HTTP", n.serveHTTP)
	}
	calls.run("events", without(n.web.Run))
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
	background.stop()
	// The matches end their watch streams first. They are needed until the calls in
	// progress are answered.
	matches.cancel()
	n.drain()
	calls.stop()
	matches.stop()
	readers.stop()
	n.heartbeat.Leave(ctx)
	base.stop()
	n.logger.Info("stopped", "took", time.Since(began).Round(time.Millisecond))
	return failure
}

// serveHTTP serves HTTP until a stop.
func (n *node) serveHTTP(context.Context) error {
	err := n.web.Serve(n.webListener)
	if errors.Is(err, http.ErrServerClosed) || errors.Is(err, net.ErrClosed) {
		return nil // gRPC's stop may close the listener that they share first.
	}
	return err
}

// flushFor is how long a stop waits for clients to receive the answers to finished
// calls, and to close streams that only they keep open.
const flushFor = 500 * time.Millisecond

// drain waits for calls and requests in progress, up to StopTimeout. It does not wait for
// clients: for requests that have not arrived, answers that are not read, and idle
// streams and connections.
func (n *node) drain() {
	n.admission.Stop()
	linger := time.AfterFunc(lingerFor, n.endLinger)
	defer linger.Stop()
	drained := make(chan struct{})
	go func() {
		defer close(drained)
		var stopped sync.WaitGroup
		stopped.Go(n.grpc.GracefulStop)
		stopped.Go(func() { _ = n.web.Shutdown(context.Background()) }) // Close ends it
		stopped.Wait()
	}()
	began := time.Now()
	look := time.NewTicker(10 * time.Millisecond)
	defer look.Stop()
	for {
		select {
		case <-drained:
			// The HTTP server does not know the connections that its handlers took over.
			if n.admission.Connections() == 0 && n.admission.Handlers() == 0 {
				return
			}
			<-look.C
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
		_ = n.web.Close()
		<-drained
		for n.admission.Handlers() > 0 { // Close does not wait for them.
			<-look.C
		}
		return
	}
}

// announce logs the addresses and the store.
func (n *node) announce() {
	if !n.store.Durable() {
		n.logger.Warn("games are kept in memory and are lost when the server ends; to keep them in a file, omit --store memory", "id", "store-volatile")
	}
	web := NoWeb
	if n.webListener != nil {
		web = n.webListener.Addr().String()
	}
	n.logger.Info("serving", "address", n.admission.Addr().String(), "web", web, "store", n.store.Name(),
		"tls", n.TLSCert != "", "version", version.String())
	if n.admin != nil {
		n.logger.Info("serving metrics", "address", n.admin.listener.Addr().String(), "pprof", n.Pprof)
	}
}

// without adapts work that cannot fail.
func without(work func(context.Context)) func(context.Context) error {
	return func(ctx context.Context) error {
		work(ctx)
		return nil
	}
}
