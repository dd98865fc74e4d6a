package cli

import (
	"io"
	"testing"

	"github.com/stretchr/testify/assert"
	"google.golang.org/grpc/codes"

	"github.com/gridstand/gridstand/client"
	servertest "github.com/gridstand/gridstand/internal/testkit/server"
)

// TestNoServer says how to start one, or where else to look.
func TestNoServer(t *testing.T) {
	t.Parallel()
	for server, todo := range map[string]string{
		"":                          "gridstand play --local, or:",
		"127.0.0.1":                 "gridstand play --local --server 127.0.0.1:2048",
		"[::1]:99":                  "gridstand play --local --server [::1]:99",
		"play.example.org":          "--server or $GRIDSTAND_SERVER sets another",
		"localhost:1,localhost:2":   "sets another",
		"dns:///play.example.org:7": "sets another",
	} {
		p := newUser(t, server, "").program(io.Discard, io.Discard)
		assert.Contains(t, p.explain(&client.Error{Code: codes.Unavailable, Message: "refused"}), todo, server)
	}
}

// TestErrors_OtherKindOfServer says what a server is like that does answer, and which
// flag is wrong or missing.
func TestErrors_OtherKindOfServer(t *testing.T) {
	t.Parallel()
	if testing.Short() {
		t.Skip("takes seconds")
	}
	c := servertest.Config(t)
	c.TLSCert, c.TLSKey = servertest.Certificate(t)
	server, _ := servertest.Start(t, c)
	encrypted := newUser(t, server.Addr().String(), "ada")
	plain := newUser(t, someServer(t), "ada")

	plain.fails(exitFailed, plain.server+" answers, but without TLS", "games", "--tls")
	plain.fails(exitFailed, "Leave out --tls", "games", "--ca", c.TLSCert)
	encrypted.fails(exitFailed, encrypted.server+" answers, but not as a server without TLS", "games")
	encrypted.fails(exitFailed, "Try --tls, or --ca", "watch")
	encrypted.fails(exitFailed, "its certificate is not trusted", "games", "--tls")
	encrypted.fails(exitFailed, "Use --ca", "top", "--tls")
	encrypted.ok("games", "--ca", c.TLSCert)
}
