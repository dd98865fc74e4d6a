package cli

import (
	"strings"
	"testing"

	"github.com/stretchr/testify/assert"

	"github.com/gridstand/gridstand/client"
	servertest "github.com/gridstand/gridstand/internal/testkit/server"
)

// Ensure that commands meant for other people to run name a server that those people can reach,
// and no files of this machine.
func TestProgram_Shared(t *testing.T) {
	t.Parallel()
	for _, c := range []struct {
		target, site string
		flags        globalFlags
		want         string
	}{
		{"", "", globalFlags{}, ""},
		{"", "", globalFlags{tls: true}, "--tls"},
		{"localhost:2048", "http://192.168.7.9:2048", globalFlags{}, "--server 192.168.7.9"},
		{"127.0.0.1:2048", "http://192.168.7.9:3000", globalFlags{}, "--server 192.168.7.9:3000"},
		{"[::1]:2048", "http://[2001:db8::1]:2048", globalFlags{}, "--server '[2001:db8::1]'"},
		{"localhost:2048", "https://play.example", globalFlags{}, "--server play.example:443 --tls"},
		{"localhost:2048", "https://play.example:2048", globalFlags{}, "--server play.example --tls"},
		{"localhost:2048", "http://play.example", globalFlags{}, "--server play.example:80"},
		{"localhost:3000", "", globalFlags{}, "--server localhost:3000"},
		{"play.example", "https://www.example", globalFlags{}, "--server play.example"},
		{"play.example", "https://www.example", globalFlags{tls: true}, "--server play.example --tls"},
		{"play.example", "https://www.example", globalFlags{ca: "ca.pem"}, "--server play.example --tls"},
	} {
		p := &program{flags: c.flags}
		dialed := servertest.Client(t, client.Config{Target: c.target, TLS: c.flags.tls})
		assert.Equal(t, c.want, strings.Join(p.shared(dialed, c.site), " "), "%+v", c)
	}
	p := &program{local: localServer{others: "192.168.7.9:3000"}}
	dialed := servertest.Client(t, client.Config{Target: "0.0.0.0:3000"})
	assert.Equal(t, []string{"--server", "192.168.7.9:3000"}, p.shared(dialed, ""), "with --share")
}
