package client_test

import (
	"crypto/tls"
	"fmt"
	"io"
	"log/slog"
	"net/http"
	"net/http/httptest"
	"testing"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/gridstand/gridstand/client"
	tlstest "github.com/gridstand/gridstand/internal/testkit/tls"
	waittest "github.com/gridstand/gridstand/internal/testkit/wait"
	pb "github.com/gridstand/gridstand/proto/gridstand/v1"
)

// Ensure that the cause tells a website from a proxy without a server, and that the error
// does not contain the page.
func TestCause_Website(t *testing.T) {
	t.Parallel()
	for status, want := range map[int]client.Cause{
		http.StatusOK: client.CauseNotGridstand, http.StatusNotFound: client.CauseNotGridstand,
		http.StatusForbidden: client.CauseNotGridstand, http.StatusTooManyRequests: client.CauseUnknown,
		http.StatusBadGateway: client.CauseNoBackend, http.StatusServiceUnavailable: client.CauseNoBackend,
		http.StatusGatewayTimeout: client.CauseNoBackend,
	} {
		site := httptest.NewUnstartedServer(http.HandlerFunc(func(w http.ResponseWriter, _ *http.Request) {
			w.Header().Set("Content-Type", "text/html; charset=utf-8")
			w.WriteHeader(status)
			_, _ = io.WriteString(w, "<!DOCTYPE html><title>A page</title>")
		}))
		site.Config.Protocols = new(http.Protocols)
		site.Config.Protocols.SetUnencryptedHTTP2(true)
		site.Start()
		t.Cleanup(site.Close)
		c := dial(t, client.Config{Target: site.Listener.Addr().String()})
		_, err := c.Games.GetServerInfo(waittest.Context(t), &pb.GetServerInfoRequest{})
		require.Error(t, err, status)
		assert.Equal(t, want, client.CauseOf(err), status)
		assert.EqualError(t, err, fmt.Sprintf("HTTP status %d", status), status)
	}
}

// Ensure that a website without HTTP/2 is recognized, whether it refuses the client's
// protocols or ignores them.
func TestCause_WebsiteWithoutHTTP2(t *testing.T) {
	t.Parallel()
	for name, protocols := range map[string][]string{"refused": {"http/1.1"}, "ignored": nil} {
		authority := tlstest.NewAuthority(t)
		certFile, keyFile := authority.Issue(t)
		cert, err := tls.LoadX509KeyPair(certFile, keyFile)
		require.NoError(t, err, name)
		config := &tls.Config{MinVersion: tls.VersionTLS12, Certificates: []tls.Certificate{cert}, NextProtos: protocols}
		l, err := tls.Listen("tcp", "127.0.0.1:0", config)
		require.NoError(t, err, name)
		site := &http.Server{Handler: http.NotFoundHandler(), ReadHeaderTimeout: time.Minute, ErrorLog: slog.NewLogLogger(slog.DiscardHandler, slog.LevelError)}
		go func() { _ = site.Serve(l) }()
		t.Cleanup(func() { assert.NoError(t, site.Close()) })
		c := dial(t, client.Config{Target: l.Addr().String(), CAFile: authority.File})
		_, err = c.Games.GetServerInfo(waittest.Context(t), &pb.GetServerInfoRequest{})
		assert.Equal(t, client.CauseNotGridstand, client.CauseOf(err), "%s: %v", name, err)
		assert.EqualError(t, err, "no HTTP/2", name)
	}
}
