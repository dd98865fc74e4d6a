//go:build slow

package fault

import (
	"bytes"
	"context"
	"encoding/json"
	"testing"

	"github.com/Shopify/toxiproxy/v2"
	"github.com/rs/zerolog"
	"github.com/stretchr/testify/require"

	"github.com/gridstand/gridstand/internal/testkit/process"
)

// link is a network connection that can be made faulty.
type link struct {
	t     *testing.T
	proxy *toxiproxy.Proxy
	addr  string
}

// newLink creates a link to an address. The link lasts until the test ends.
func newLink(t *testing.T, upstream string) *link {
	t.Helper()
	server := toxiproxy.NewServer(toxiproxy.NewMetricsContainer(nil), zerolog.Nop())
	proxy := toxiproxy.NewProxy(server, upstream, process.FreeAddress(t), upstream)
	require.NoError(t, proxy.Start())
	t.Cleanup(proxy.Stop)
	return &link{t, proxy, proxy.Listen}
}

// The two directions of a link.
const (
	there = "upstream"   // toward the server or store
	back  = "downstream" // from the server or store
)

// addToxic makes one direction of the link faulty. The kinds and their attributes are listed in
// toxiproxy's documentation. The returned function removes the toxic.
func (l *link) addToxic(way, kind string, attributes map[string]int) (heal func()) {
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

// cut closes the link's connections and refuses new ones until healed.
func (l *link) cut() (heal func()) {
	l.proxy.Stop()
	return func() { require.NoError(l.t, l.proxy.Start()) }
}
