package front_test

import (
	"net"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/gridstand/gridstand/server/internal/front"
)

func tcp(ip string) net.Addr { return &net.TCPAddr{IP: net.ParseIP(ip), Port: 1234} }

// Ensure that the address of a client is the last one that no proxy has, and that a proxy is trusted however its
// address is written. The address of a connection on a local link includes the name of the interface.
func TestProxies_Of(t *testing.T) {
	t.Parallel()
	proxies, err := front.ParseProxies("10.0.0.0/8, 192.168.1.1,fd00::/8, fe80::1, ::ffff:172.16.0.1")
	require.NoError(t, err)
	for name, tt := range map[string]struct {
		peer      string
		forwarded []string
		want      string
	}{
		"no proxy":                       {"203.0.113.7", nil, "203.0.113.7"},
		"a caller that is not a proxy":   {"203.0.113.7", []string{"198.51.100.1"}, "203.0.113.7"},
		"through a proxy":                {"10.1.2.3", []string{"198.51.100.1"}, "198.51.100.1"},
		"through two":                    {"10.1.2.3", []string{"198.51.100.1, 192.168.1.1"}, "198.51.100.1"},
		"in two headers":                 {"10.1.2.3", []string{"198.51.100.1", "192.168.1.1"}, "198.51.100.1"},
		"a forged address":               {"10.1.2.3", []string{"1.1.1.1, 198.51.100.1"}, "198.51.100.1"},
		"a forged header":                {"10.1.2.3", []string{"1.1.1.1", "198.51.100.1"}, "198.51.100.1"},
		"through proxies only":           {"10.1.2.3", []string{"192.168.1.1, 10.4.5.6"}, "192.168.1.1"},
		"a proxy without a header":       {"10.1.2.3", nil, "10.1.2.3"},
		"a proxy with an empty header":   {"10.1.2.3", []string{"198.51.100.1,"}, "10.1.2.3"},
		"a proxy with an invalid header": {"10.1.2.3", []string{"unknown"}, "10.1.2.3"},
		"a second proxy with one":        {"10.1.2.3", []string{"198.51.100.1, unknown, 192.168.1.1"}, "192.168.1.1"},
		"an IPv6 network":                {"2001:db8:1:ff:3:4:5:6", nil, "2001:db8:1::/56"},
		"IPv4 in IPv6":                   {"::ffff:203.0.113.7", nil, "203.0.113.7"},
		"an IPv6 proxy":                  {"fd00::1", []string{"2001:db8:1:2:3::"}, "2001:db8:1::/56"},
	} {
		assert.Equal(t, tt.want, proxies.Of(tcp(tt.peer), tt.forwarded), name)
	}
	local := &net.TCPAddr{IP: net.ParseIP("fe80::1"), Port: 1234, Zone: "eth0"}
	assert.Equal(t, "198.51.100.1", proxies.Of(local, []string{"198.51.100.1"}))
	assert.True(t, proxies.Trusted(local))
	assert.True(t, proxies.Trusted(tcp("172.16.0.1")))
	assert.True(t, proxies.Trusted(tcp("10.9.9.9")))
	assert.False(t, proxies.Trusted(tcp("11.9.9.9")))
	assert.False(t, proxies.Trusted(&net.UnixAddr{Name: "x"}))
	assert.Equal(t, front.Key(&net.UnixAddr{Name: "x"}), front.Key(&net.UnixAddr{}))
}

func TestParseProxies(t *testing.T) {
	t.Parallel()
	none, err := front.ParseProxies("")
	require.NoError(t, err)
	assert.Empty(t, none)
	for _, wrong := range []string{",", "here", "10.0.0.0/33", "10.0.0.1:80"} {
		_, err := front.ParseProxies(wrong)
		assert.ErrorContains(t, err, "is neither an address nor a network", wrong)
	}
}
