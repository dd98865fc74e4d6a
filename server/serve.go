package server

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"net"
	"net/http"
	"sync"
	"time"

	"github.com/gridstand/gridstand/internal/version"
)

// stage is a group of goroutines that start and stop together. Stages stop in reverse order.
type stage struct {
	ctx    context.Context
	cancel context.CancelFunc
	group  sync.WaitGroup
	fail   context.CancelCauseFunc
}

// newStage returns a stage that runs until stop is called, even if ctx is done earlier. It
// calls fail if one of its goroutines returns an error.
func newStage(ctx context.Context, fail context.CancelCauseFunc) *stage {
	s := &stage{fail: fail}
	s.ctx, s.cancel = context.WithCancel(context.WithoutCancel(ctx))
	return s
}

// run starts a goroutine that runs work, which must return when the stage's context is done.
func (s *stage) run(work func(context.Context)) { s.group.Go(func() { work(s.ctx) }) }

// serve is like run, for work that can fail.
func (s *stage) serve(name string, work func(context.Context) error) {
	s.run(func(ctx context.Context) {
		if err := work(ctx); err != nil && ctx.Err() == nil {
			s.fail(fmt.Errorf("%s: %w", name, err))
		}
	})
}

// stop stops the goroutines and waits for them.
func (s *stage) stop() {
	s.cancel()
	s.group.Wait()
}

// serve serves until ctx is done or a stage fails. It then stops the stages in reverse
// order, so that each stage outlives those that use it.
func (n *node) serve(ctx context.Context) error {
	stopping, fail := context.WithCancelCause(ctx)
	defer fail(nil)

	// The stages, from the one at the bottom.
	base := newStage(ctx, fail)
	base.run(n.store.Run)
	base.run(func(ctx context.Context) {
		monitor(ctx, n.store.Background, n.logger, pingEvery, func(up bool) {
			n.metrics.StorageUp(up)
			n.front.Budgets.StoreUp(up)
		})
	})
	if n.admin != nil {
		base.serve("metrics", n.admin.run)
	}
	if n.certificates != nil {
		base.run(n.certificates.run)
	}
	lists := newStage(ctx, fail)
	lists.run(n.recovery.Directory.Run)
	lists.run(n.recovery.Monitor.Run) // until the last append
	matches := newStage(ctx, fail)
	matches.run(n.hub.Run)
	background := newStage(ctx, fail)
	background.run(func(ctx context.Context) { n.recovery.Run(ctx, n.hub) })
	background.run(func(ctx context.Context) { n.jobs.Run(ctx, n.hub) })
	calls := newStage(ctx, fail)
	calls.serve("gRPC", func(context.Context) error { return n.grpc.Serve(n.front) })
	calls.serve("HTTP", n.serveHTTP)
	calls.run(n.web.Run)
	calls.run(n.front.Run)
	n.announce()

	<-stopping.Done()
	began := time.Now()
	failure := context.Cause(stopping)
	if ctx.Err() != nil {
		failure = nil
		n.logger.Info("stopping")
	} else {
		n.logger.Error("a part failed; stopping", "id", "server-failed", "error", failure)
	}
	n.health.Shutdown()
	background.stop()
	// Cancel the matches first, so that they end their watch streams. Wait for them later,
	// because the calls in progress need them.
	matches.cancel()
	n.drain()
	calls.stop()
	matches.stop()
	lists.stop()
	n.recovery.Monitor.Leave(ctx)
	base.stop()
	n.close()
	n.logger.Info("stopped", "took", time.Since(began).Round(time.Millisecond))
	return failure
}

// serveHTTP serves HTTP until the server stops.
func (n *node) serveHTTP(context.Context) error {
	err := n.web.Serve(n.front.HTTP())
	if errors.Is(err, http.ErrServerClosed) || errors.Is(err, net.ErrClosed) {
		return nil // gRPC may close the listener first.
	}
	return err
}

// A shutdown waits, after the last call has finished, for clients to receive responses and to
// close streams that only the clients keep open. It counts ticks and not time, because a
// process that got no processor time has sent nothing.
const (
	drainTick  = 10 * time.Millisecond
	flushTicks = 50
)

// drain waits up to StopTimeout for calls and requests in progress, and closes all connections.
// It does not wait for anything that depends on clients alone: requests that have not arrived,
// unread responses, and idle streams and connections.
func (n *node) drain() {
	n.front.Stop()
	stopped := make(chan struct{})
	go func() {
		defer close(stopped)
		var servers sync.WaitGroup
		servers.Go(n.grpc.GracefulStop)
		servers.Go(func() { _ = n.web.Shutdown(context.Background()) }) // returns on Close at the latest
		servers.Wait()
	}()
	if n.awaitCalls(stopped) {
		return
	}
	n.front.CloseAll()
	n.grpc.Stop()
	_ = n.web.Close()
	<-stopped
	for n.front.Open() > 0 { // Close does not wait for the handlers to return.
		<-time.After(drainTick)
	}
}

// awaitCalls waits until all calls have finished and clients have had time to receive the
// responses, for up to StopTimeout. It reports whether all connections are closed. stopped is
// closed once both servers have stopped.
func (n *node) awaitCalls(stopped <-chan struct{}) bool {
	began := time.Now()
	ticker := time.NewTicker(drainTick)
	defer ticker.Stop()
	idle := 0 // ticks since the last call finished
	for idle < flushTicks {
		select {
		case <-stopped:
			// The HTTP server does not keep track of hijacked connections.
			if n.front.Connections() == 0 && n.front.Open() == 0 {
				return true
			}
			<-ticker.C
		case <-ticker.C:
		}
		if idle++; n.front.Running() > 0 {
			idle = 0
		}
		if time.Since(began) >= n.StopTimeout {
			n.logger.Warn("calls were cut off", "id", "calls-cut-off", "after", n.StopTimeout)
			break
		}
	}
	return false
}

// announce logs the server's addresses and its store.
func (n *node) announce() {
	if n.Store == Memory {
		n.logger.Warn("games are kept in memory and are lost when the server ends; to keep them in a file, omit --store memory", "id", "store-volatile")
	}
	n.logger.Info("serving", "address", n.front.Addr().String(), "page", cmp.Or(n.PublicURL, n.page()), "store", n.store.Name(),
		"tls", n.TLSCert != "", "version", version.String())
	if n.admin != nil {
		n.logger.Info("serving metrics", "address", n.admin.listener.Addr().String())
	}
}

// page returns the address of the web page for a browser on this machine.
func (n *node) page() string {
	host, port, _ := net.SplitHostPort(n.front.Addr().String())
	if net.ParseIP(host).IsUnspecified() {
		host = "localhost"
	}
	scheme := "http"
	if n.TLSCert != "" {
		scheme = "https"
	}
	return scheme + "://" + net.JoinHostPort(host, port) + "/"
}
