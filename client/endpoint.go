package client

import (
	"context"
	"crypto/tls"
	"fmt"
	"net"
)

// Endpoint is a server's address, for programs that make their own connections.
type Endpoint struct {
	// Address is the address to connect to, in the form "host:port".
	Address string
	// Authority is the server's name, as in its certificate, followed by its port.
	Authority string
	// TLS is the TLS configuration, or nil for clear text.
	TLS *tls.Config
}

// Endpoints returns the addresses of the Config's servers, at least one. It resolves a
// dns:///name.
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
			all = append(all, Endpoint{address, withoutZone(address), config})
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
