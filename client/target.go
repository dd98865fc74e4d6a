package client

import (
	"errors"
	"fmt"
	"net"
	"net/netip"
	"regexp"
	"slices"
	"strconv"
	"strings"

	"google.golang.org/grpc"
	"google.golang.org/grpc/resolver"
	"google.golang.org/grpc/resolver/manual"

	"github.com/gridstand/gridstand/internal/loopback"
)

// DefaultTarget is the server used if Config.Target is empty.
const DefaultTarget = "localhost:" + defaultPort

const (
	defaultPort = "2048"
	dnsScheme   = "dns:///"
)

// target is one or more addresses. If dns is set, its only address contains a name, which
// stands for all addresses that the name resolves to.
type target struct {
	dns       bool
	addresses []string // "host:port" each, sorted, at least one
}

// NormalTarget returns a target in its normal form: in lower case, with ports, and with
// lists sorted. It returns an error if the target is malformed.
func NormalTarget(s string) (string, error) {
	t, err := parseTarget(s)
	if err != nil {
		return "", err
	}
	return t.String(), nil
}

func parseTarget(s string) (target, error) {
	rest := strings.TrimSpace(s)
	if rest == "" {
		rest = DefaultTarget
	}
	var t target
	if n := min(len(rest), len(dnsScheme)); strings.EqualFold(rest[:n], dnsScheme) {
		rest, t.dns = rest[n:], true
	}
	for part := range strings.SplitSeq(rest, ",") {
		address, err := parseAddress(strings.TrimSpace(part))
		if err != nil {
			return target{}, fmt.Errorf("server %q: %w", s, err)
		}
		t.addresses = append(t.addresses, address)
	}
	if t.dns && len(t.addresses) > 1 {
		return target{}, fmt.Errorf("server %q: %s takes one name", s, dnsScheme)
	}
	slices.Sort(t.addresses)
	t.addresses = slices.Compact(t.addresses)
	return t, nil
}

// zones matches the zones of addresses, which are names of network interfaces.
var zones = regexp.MustCompile(`%[^],]*`)

// isIP reports whether host is an IP address, which may have a zone.
func isIP(host string) bool {
	_, err := netip.ParseAddr(host)
	return err == nil
}

// parseAddress adds the default port if the address has no port.
func parseAddress(s string) (string, error) {
	if scheme, _, ok := strings.Cut(s, "://"); ok {
		if scheme == "https" {
			return "", errors.New("omit https:// and use TLS (--tls)")
		}
		return "", fmt.Errorf("omit %s://", scheme)
	}
	host, port := s, defaultPort
	switch {
	case isIP(s): // including an IPv6 address without brackets
	case strings.HasPrefix(s, "[") && strings.HasSuffix(s, "]"):
		host = s[1 : len(s)-1]
	case strings.Contains(s, ":"):
		var err error
		if host, port, err = net.SplitHostPort(s); err != nil {
			return "", fmt.Errorf("%q is not host:port", s)
		}
		if host == "" && port != "" {
			host = "localhost"
		}
	}
	if ip, err := netip.ParseAddr(host); err == nil {
		host = ip.Unmap().String() // short and in lower case, except for a zone
	} else if host = strings.ToLower(host); host == "" || strings.ContainsAny(host, " /@\\?#%\"[]") {
		return "", errors.New("give host:port, a comma-separated list of these, or dns:///name")
	}
	if n, err := strconv.ParseUint(port, 10, 16); err != nil || n == 0 {
		return "", fmt.Errorf("%q is not a port", port)
	}
	return net.JoinHostPort(host, port), nil
}

// withoutZone returns an address without the zone of its IP address.
func withoutZone(address string) string { return zones.ReplaceAllString(address, "") }

// String returns the normal form.
func (t target) String() string {
	list := strings.Join(t.addresses, ",")
	if t.dns {
		return dnsScheme + list
	}
	return list
}

// loopback reports whether all addresses are on this machine.
func (t target) loopback() bool {
	return !slices.ContainsFunc(t.addresses, func(address string) bool { return !loopback.Is(address) })
}

// dial returns the target for gRPC. A single name is resolved again for every connection,
// and its addresses are tried in turn; gRPC's own resolver would keep a connection to
// each address, and localhost has two.
func (t target) dial() (uri string, options []grpc.DialOption) {
	if t.dns {
		return t.String(), nil
	}
	if len(t.addresses) == 1 {
		// The server's name, as in its certificate, has no zone. In a URI, % is escaped.
		return "passthrough:///" + strings.ReplaceAll(t.addresses[0], "%", "%25"),
			[]grpc.DialOption{grpc.WithAuthority(withoutZone(t.addresses[0]))}
	}
	fixed := manual.NewBuilderWithScheme("gridstand")
	var state resolver.State
	for _, address := range t.addresses {
		// Check each server's certificate against that server's own name.
		state.Endpoints = append(state.Endpoints, resolver.Endpoint{
			Addresses: []resolver.Address{{Addr: address, ServerName: withoutZone(address)}},
		})
	}
	fixed.InitialState(state)
	return fixed.Scheme() + ":///" + withoutZone(t.addresses[0]), []grpc.DialOption{grpc.WithResolvers(fixed)}
}
