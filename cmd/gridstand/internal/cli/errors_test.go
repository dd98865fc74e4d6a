package cli

import (
	"io"
	"testing"

	"github.com/stretchr/testify/assert"
	"google.golang.org/grpc/codes"

	"github.com/gridstand/gridstand/client"
	"github.com/gridstand/gridstand/internal/testkit/longtest"
	servertest "github.com/gridstand/gridstand/internal/testkit/server"
	pb "github.com/gridstand/gridstand/proto/gridstand/v1"
)

// Ensure that if no server answers, the error suggests starting a server or choosing
// another one.
func TestNoServer(t *testing.T) {
	t.Parallel()
	for server, todo := range map[string]string{
		"":                          "gridstand play --local, or:",
		"127.0.0.1":                 "gridstand play --local --server 127.0.0.1:2048",
		"[::1]:99":                  "gridstand play --local --server [::1]:99",
		"play.example.org":          "--server or $GRIDSTAND_SERVER selects another",
		"localhost:1,localhost:2":   "selects another",
		"dns:///play.example.org:7": "selects another",
	} {
		p := newUser(t, server, "").program(io.Discard, io.Discard)
		assert.Contains(t, p.explain(&client.Error{Code: codes.Unavailable, Message: "refused"}), todo, server)
	}
}

// Ensure that the error about an unknown variant names a command, not the call for programs that
// the server's message names.
func TestErrors_Variant(t *testing.T) {
	t.Parallel()
	p := newUser(t, "", "").program(io.Discard, io.Discard)
	err := &client.Error{Code: codes.NotFound, Reason: pb.ReasonVariantNotFound, Message: "ListVariants returns the variants"}
	assert.Equal(t, "there is no variant with this id; gridstand variants lists them", p.explain(err))
}

// Ensure that the error does not suggest starting a server at an address that is in use.
func TestErrors_AddressInUse(t *testing.T) {
	t.Parallel()
	p := newUser(t, "127.0.0.1", "").program(io.Discard, io.Discard)
	for err, want := range map[*client.Error]string{
		{Code: codes.Unavailable, Message: "no answer in time", Cause: client.CauseSilent}:       "127.0.0.1 accepts connections but does not answer (no answer in time). It may be",
		{Code: codes.Unimplemented, Message: "HTTP status 404", Cause: client.CauseNotGridstand}: "127.0.0.1 answers, but is not a Gridstand server (HTTP status 404). Check the address",
		{Code: codes.Unavailable, Message: "HTTP status 502", Cause: client.CauseNoBackend}:      "127.0.0.1 answers, but is a proxy that cannot reach a server (HTTP status 502). Check that",
	} {
		text := p.explain(err)
		assert.Contains(t, text, want)
		assert.NotContains(t, text, "play --local")
	}
}

// Ensure that the error describes a server that answers in an unexpected way, and names
// the flag that is wrong or missing.
func TestErrors_OtherKindOfServer_long(t *testing.T) {
	longtest.Skip(t)
	t.Parallel()
	c := servertest.Config(t)
	c.TLSCert, c.TLSKey = servertest.Certificate(t)
	server, _ := servertest.Start(t, c)
	encrypted := newUser(t, server.Addr().String(), "ada")
	plain := newUser(t, someServer(t), "ada")

	plain.fails(exitFailed, plain.server+" answers, but without TLS", "games", "--tls")
	plain.fails(exitFailed, "Omit --tls", "games", "--ca", c.TLSCert)
	encrypted.fails(exitFailed, encrypted.server+" answers, but not like a server without TLS", "games")
	encrypted.fails(exitFailed, "Try --tls, or --ca", "watch")
	encrypted.fails(exitFailed, "its certificate is not trusted", "games", "--tls")
	encrypted.fails(exitFailed, "Use --ca", "top", "--tls")
	encrypted.ok("games", "--ca", c.TLSCert)
	_, note, _ := encrypted.run("top", "--ca", c.TLSCert)
	assert.Contains(t, note, "gridstand play classic --ca "+c.TLSCert)
}
