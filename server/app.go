package server

import (
	"context"
	"net"
)

// Server is a running server.
type Server struct {
	addr, web, metrics net.Addr

	done chan struct{}
	err  error // set before done is closed
}

// Run starts a server and serves until ctx ends, and then until everything has
// ended. The error is a *ConfigError, or says in a line why the server could
// not start or go on; a stop is none.
func Run(ctx context.Context, c Config) error {
	s, err := Start(ctx, c)
	switch {
	case err == nil:
		return s.Wait()
	case ctx.Err() != nil:
		return nil // stopped while it was starting
	default:
		return err
	}
}

// Start starts a server and returns when it serves. It stops when ctx ends;
// the caller waits for that with Wait. The error is that of Run.
func Start(ctx context.Context, c Config) (*Server, error) {
	n, err := open(ctx, c)
	if err != nil {
		return nil, err
	}
	s := &Server{addr: n.admission.Addr(), web: n.webAddr(), done: make(chan struct{})}
	if n.admin != nil {
		s.metrics = n.admin.listener.Addr()
	}
	go func() {
		defer close(s.done)
		s.err = n.serve(ctx)
	}()
	return s, nil
}

// Addr is the address that the server serves on.
func (s *Server) Addr() net.Addr { return s.addr }

// WebAddr is the address that the server serves HTTP on, the same as Addr by default; nil
// if it does not.
func (s *Server) WebAddr() net.Addr { return s.web }

// MetricsAddr is the address that the server serves metrics on; nil without metrics.
func (s *Server) MetricsAddr() net.Addr { return s.metrics }

// Wait waits until the server has stopped. It returns why the server failed, or nil
// if it was stopped.
func (s *Server) Wait() error {
	<-s.done
	return s.err
}
