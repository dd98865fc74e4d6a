package cli

import (
	"io"
	"testing"

	"github.com/stretchr/testify/assert"
	"google.golang.org/grpc/codes"

	"github.com/gridstand/gridstand/client"
	pb "github.com/gridstand/gridstand/proto/gridstand/v1"
)

// Ensure that if no server answers, the error suggests starting a server or choosing
// another one.
func TestErrors_NoServer(t *testing.T) {
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

// Ensure that the error about a server that answers in an unexpected way names the flag that is
// wrong or missing, and does not suggest starting a server at an address that is in use.
func TestErrors_OtherKindOfServer(t *testing.T) {
	t.Parallel()
	p := newUser(t, "127.0.0.1", "").program(io.Discard, io.Discard)
	for cause, want := range map[client.Cause]string{
		client.CauseNoTLS:             "answers, but without TLS (x). Omit --tls",
		client.CauseNoPlainText:       "answers, but not like a server without TLS (x). Try --tls, or --ca",
		client.CauseUntrusted:         "its certificate is not trusted (x). Use --ca",
		client.CauseCertificateWanted: "(x). Add a client certificate with --cert and --key",
		client.CauseSilent:            "127.0.0.1 accepts connections but does not answer (x). It may be",
		client.CauseNotGridstand:      "127.0.0.1 answers, but is not a Gridstand server (x). Check the address",
		client.CauseNoBackend:         "127.0.0.1 answers, but is a proxy that cannot reach a server (x). Check that",
	} {
		text := p.explain(&client.Error{Code: codes.Unavailable, Message: "x", Cause: cause})
		assert.Contains(t, text, want)
		assert.NotContains(t, text, "play --local")
	}
	// The server's message names a call for programs.
	err := &client.Error{Code: codes.NotFound, Reason: pb.ReasonVariantNotFound, Message: "ListVariants returns the variants"}
	assert.Equal(t, "there is no variant with this id; gridstand variants lists them", p.explain(err))
}
