package server

import (
	"context"
	"net"
	"sync"
)

// Server is a running server.
type Server struct {
	node    *node
	running sync.WaitGroup
	err     error // set once it does not run
}

// Run starts a server and serves until ctx is done, then stops it and waits for it. The error is a
// *ConfigError, or a one-line explanation of why the server could not start or keep running. After
// a normal shutdown, Run returns nil.
func Run(ctx context.Context, c Config) error {
	s, err := Start(ctx, c)
	switch {
	case err == nil:
		return s.Wait()
	case ctx.Err() != nil:
		return nil // stopped during startup
	default:
		return err
	}
}

// Start starts a server and returns once it is serving. The server stops when ctx is done; Wait
// waits until it has stopped. Start returns the same errors as Run.
func Start(ctx context.Context, c Config) (*Server, error) {
	n, err := open(ctx, c)
	if err != nil {
		return nil, err
	}
	s := &Server{node: n}
	s.running.Go(func() { s.err = n.serve(ctx) })
	return s, nil
}

// Addr returns the address that the server listens on.
func (s *Server) Addr() net.Addr { return s.node.front.Addr() }

// MetricsAddr returns the address that the server listens on for metrics, or nil if it
// does not serve them.
func (s *Server) MetricsAddr() net.Addr {
	if s.node.admin == nil {
		return nil
	}
	return s.node.admin.listener.Addr()
}

// Clients estimates the number of connected programs and browsers. It counts each gRPC
// connection as a program, and each address with HTTP connections as a browser.
func (s *Server) Clients() int { return s.node.front.Clients() }

// Wait waits until the server has stopped. It returns the error that stopped it, or nil after a
// normal shutdown.
func (s *Server) Wait() error {
	s.running.Wait()
	return s.err
}
