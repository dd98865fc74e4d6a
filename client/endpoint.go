package client

import (
	"context"
	"crypto/tls"
	"fmt"
	"net"
)

// Endpoint is the address of a server, for a program that makes its own
// connections.
type Endpoint struct {
	// Address to connect to, "host:port".
	Address string
	// Authority is the server's name, which its certificate carries, and port.
	Authority string
	// TLS is the configuration of the connection, nil for clear text.
	TLS *tls.Config
}

// Endpoints returns the addresses of a Config's servers, at least one. It looks up
// a dns:///name.
func (c Config) Endpoints(ctx context.Context) ([]Endpoint, error) {
	t, err := parseTarget(c.Target)
	if err != nil {
		return nil, err
	}
	config, err := c.tls()
	if err != nil {
		return nil, err
	}
	var all []Endpoint
	for _, address := range t.addresses {
		if !t.dns {
			all = append(all, Endpoint{address, address, config})
			continue
		}
		host, port, err := net.SplitHostPort(address)
		if err != nil {
			return nil, fmt.Errorf("server %q: %w", address, err)
		}
		found, err := net.DefaultResolver.LookupHost(ctx, host)
		if err != nil {
			return nil, fmt.Errorf("server %q: %w", address, err)
		}
		for _, ip := range found {
			all = append(all, Endpoint{net.JoinHostPort(ip, port), address, config})
		}
	}
	return all, nil
}
