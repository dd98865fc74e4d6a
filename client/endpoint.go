package client

import (
	"context"
	"crypto/tls"
	"fmt"
	"net"
)

// Endpoint is a server for a program that makes its own connections.
type Endpoint struct {
	// Address to connect to, "host:port".
	Address string
	// Authority is the server's name and port, which its certificate carries.
	Authority string
	// TLS that the connection uses, nil for clear text.
	TLS *tls.Config
}

// Endpoints are the servers that a Config names, at least one. A dns:///name is
// looked up.
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
