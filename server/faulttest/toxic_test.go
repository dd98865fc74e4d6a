package faulttest

import (
	"bytes"
	"context"
	"encoding/json"
	"math/rand/v2"
	"net"
	"strconv"
	"testing"

	"github.com/Shopify/toxiproxy/v2"
	"github.com/rs/zerolog"
	"github.com/stretchr/testify/require"
)

// link is a network connection to something, which can be made bad.
type link struct {
	t     *testing.T
	proxy *toxiproxy.Proxy
	addr  string
}

// newLink makes a link to an address that ends with the test.
func newLink(t *testing.T, upstream string) *link {
	t.Helper()
	server := toxiproxy.NewServer(toxiproxy.NewMetricsContainer(nil), zerolog.Nop())
	proxy := toxiproxy.NewProxy(server, upstream, kept(t), upstream)
	require.NoError(t, proxy.Start())
	t.Cleanup(proxy.Stop)
	return &link{t, proxy, proxy.Listen}
}

// kept is a free address that nobody else gets while what was there is away: its
// port is none that systems give to those who ask for any, and none of
// redistest's.
func kept(t *testing.T) string {
	t.Helper()
	const first, last = 22000, 25000
	for range 1000 {
		addr := net.JoinHostPort("127.0.0.1", strconv.Itoa(first+rand.IntN(last-first)))
		if listener, err := net.Listen("tcp", addr); err == nil {
			require.NoError(t, listener.Close())
			return addr
		}
	}
	require.Fail(t, "no free port")
	return ""
}

// The two ways of a link.
const (
	there = "upstream"   // to what it leads to
	back  = "downstream" // from there
)

// poison makes one way of the link bad; toxiproxy's documentation has the kinds
// and their attributes. The function returned heals it.
func (l *link) poison(way, kind string, attributes map[string]int) (heal func()) {
	l.t.Helper()
	name := kind + "-" + way
	body, err := json.Marshal(map[string]any{"name": name, "type": kind, "stream": way, "attributes": attributes})
	require.NoError(l.t, err)
	_, err = l.proxy.Toxics.AddToxicJson(bytes.NewReader(body))
	require.NoError(l.t, err)
	return func() {
		require.NoError(l.t, l.proxy.Toxics.RemoveToxic(context.WithoutCancel(l.t.Context()), name))
	}
}

// cut ends the link's connections, and refuses new ones.
func (l *link) cut() (heal func()) {
	l.proxy.Stop()
	return func() { require.NoError(l.t, l.proxy.Start()) }
}
