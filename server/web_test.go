package server_test

import (
	"crypto/tls"
	"crypto/x509"
	"net/http"
	"os"
	"testing"

	"connectrpc.com/connect"
	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/gridstand/gridstand/client"
	servertest "github.com/gridstand/gridstand/internal/testkit/server"
	tlstest "github.com/gridstand/gridstand/internal/testkit/tls"
	waittest "github.com/gridstand/gridstand/internal/testkit/wait"
	pb "github.com/gridstand/gridstand/proto/gridstand/v1"
	"github.com/gridstand/gridstand/proto/gridstand/v1/gridstandv1connect"
	"github.com/gridstand/gridstand/server"
)

// trusting returns a TLS configuration that trusts a's certificates and offers the given
// protocols.
func trusting(t *testing.T, a *tlstest.Authority, protocols ...string) *tls.Config {
	t.Helper()
	pem, err := os.ReadFile(a.File)
	require.NoError(t, err)
	pool := x509.NewCertPool()
	require.True(t, pool.AppendCertsFromPEM(pem))
	return &tls.Config{RootCAs: pool, NextProtos: protocols}
}

// encrypted returns a configuration for a server with TLS, and the authority that issued
// the server's certificate.
func encrypted(t *testing.T) (server.Config, *tlstest.Authority) {
	t.Helper()
	authority, c := tlstest.NewAuthority(t), servertest.Config(t)
	c.TLSCert, c.TLSKey = authority.Issue(t)
	return c, authority
}

// newer returns a transport that offers HTTP/2 and HTTP/1.1.
func newer(t *testing.T, a *tlstest.Authority) *http.Transport {
	t.Helper()
	return &http.Transport{TLSClientConfig: trusting(t, a), ForceAttemptHTTP2: true}
}

// info calls GetServerInfo with a connect-go client.
func info(t *testing.T, transport *http.Transport, url string, options ...connect.ClientOption) error {
	t.Helper()
	transport.DisableKeepAlives = true
	games := gridstandv1connect.NewGameServiceClient(&http.Client{Transport: transport}, url, options...)
	_, err := games.GetServerInfo(waittest.Context(t), &pb.GetServerInfoRequest{})
	return err
}

// Ensure that with TLS, one port serves both gRPC clients, which offer only HTTP/2, and
// all other clients, which get HTTP/1.1 even if they also offer HTTP/2.
func TestStart_WebTLS(t *testing.T) {
	t.Parallel()
	c, authority := encrypted(t)
	server, _ := servertest.Start(t, c)
	url := "https://" + server.Addr().String()
	require.NoError(t, ask(t, client.Config{Target: server.Addr().String(), CAFile: authority.File}))

	for name, protocols := range map[string][]string{
		"a browser": {"h2", "http/1.1"}, "an old browser": {"http/1.1"}, "a script": nil,
	} {
		transport := &http.Transport{TLSClientConfig: trusting(t, authority, protocols...)}
		transport.ForceAttemptHTTP2 = len(protocols) == 2
		response, body, err := servertest.Do(t, transport, http.MethodGet, url, "")
		require.NoError(t, err, name)
		assert.Equal(t, http.StatusOK, response.StatusCode, name)
		assert.Equal(t, 1, response.ProtoMajor, name)
		assert.Contains(t, body, "<html", name)
	}

	http2 := new(http.Protocols)
	http2.SetHTTP2(true)
	only := &http.Transport{TLSClientConfig: trusting(t, authority), Protocols: http2}
	require.NoError(t, info(t, newer(t, authority), url), "Connect")
	require.NoError(t, info(t, newer(t, authority), url, connect.WithGRPCWeb()), "gRPC-Web")
	// The connect-go client offers both protocols, so it gets HTTP/1.1 even for gRPC.
	require.NoError(t, info(t, newer(t, authority), url, connect.WithGRPC()), "gRPC")
	require.NoError(t, info(t, only, url, connect.WithGRPC()), "gRPC by HTTP/2")
}

// Ensure that a client gets an explanatory error if it uses TLS and the server does not,
// or the other way around.
func TestStart_WebWrongScheme(t *testing.T) {
	t.Parallel()
	c, authority := encrypted(t)
	secret, _ := servertest.Start(t, c)
	open, _ := servertest.Start(t, servertest.Config(t))
	response, body := servertest.Get(t, "http://"+secret.Addr().String())
	assert.Equal(t, http.StatusBadRequest, response.StatusCode)
	assert.Contains(t, body, "HTTPS server")
	transport := &http.Transport{TLSClientConfig: trusting(t, authority)}
	_, _, err := servertest.Do(t, transport, http.MethodGet, "https://"+open.Addr().String(), "")
	assert.ErrorContains(t, err, "server gave HTTP response to HTTPS client")
}
