package client_test

import (
	"context"
	"crypto/tls"
	"errors"
	"fmt"
	"io"
	"log/slog"
	"net"
	"net/http"
	"net/http/httptest"
	"testing"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/gridstand/gridstand/client"
	"github.com/gridstand/gridstand/internal/testkit/longtest"
	tlstest "github.com/gridstand/gridstand/internal/testkit/tls"
	pb "github.com/gridstand/gridstand/proto/gridstand/v1"
)

// Ensure that the cause tells a website from a proxy without a server, and that the error
// does not contain the page.
func TestCause_Website(t *testing.T) {
	t.Parallel()
	if testing.Short() {
		t.Skip("too slow for -short")
	}
	for status, want := range map[int]client.Cause{
		http.StatusOK: client.CauseNotGridstand, http.StatusNotFound: client.CauseNotGridstand,
		http.StatusForbidden: client.CauseNotGridstand, http.StatusTooManyRequests: client.CauseUnknown,
		http.StatusBadGateway: client.CauseNoBackend, http.StatusServiceUnavailable: client.CauseNoBackend,
		http.StatusGatewayTimeout: client.CauseNoBackend,
	} {
		t.Run(http.StatusText(status), func(t *testing.T) {
			t.Parallel()
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
			_, err := c.Games.GetServerInfo(within(t), &pb.GetServerInfoRequest{})
			require.Error(t, err)
			assert.Equal(t, want, client.CauseOf(err))
			assert.EqualError(t, err, fmt.Sprintf("HTTP status %d", status))
		})
	}
}

// Ensure that a website without HTTP/2 is recognized, whether it refuses the client's
// protocols or ignores them.
func TestCause_WebsiteWithoutHTTP2(t *testing.T) {
	t.Parallel()
	if testing.Short() {
		t.Skip("too slow for -short")
	}
	for name, protocols := range map[string][]string{"refused": {"http/1.1"}, "ignored": nil} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			authority := tlstest.NewAuthority(t)
			certFile, keyFile := tlstest.Files(t)
			authority.Issue(t, "server", certFile, keyFile)
			cert, err := tls.LoadX509KeyPair(certFile, keyFile)
			require.NoError(t, err)
			config := &tls.Config{MinVersion: tls.VersionTLS12, Certificates: []tls.Certificate{cert}, NextProtos: protocols}
			l, err := tls.Listen("tcp", "127.0.0.1:0", config)
			require.NoError(t, err)
			site := &http.Server{Handler: http.NotFoundHandler(), ReadHeaderTimeout: time.Minute, ErrorLog: slog.NewLogLogger(slog.DiscardHandler, slog.LevelError)}
			go func() { _ = site.Serve(l) }()
			t.Cleanup(func() { assert.NoError(t, site.Close()) })
			c := dial(t, client.Config{Target: l.Addr().String(), CAFile: authority.File})
			_, err = c.Games.GetServerInfo(within(t), &pb.GetServerInfoRequest{})
			assert.Equal(t, client.CauseNotGridstand, client.CauseOf(err), err)
			assert.EqualError(t, err, "no HTTP/2")
		})
	}
}

// Ensure that a server that accepts connections but sends nothing is not reported as
// missing.
func TestCause_Silent_long(t *testing.T) {
	longtest.Skip(t)
	t.Parallel()
	l, err := net.Listen("tcp", "127.0.0.1:0")
	require.NoError(t, err)
	t.Cleanup(func() { assert.NoError(t, l.Close()) })
	t.Run("clear text", func(t *testing.T) { silent(t, client.Config{Target: l.Addr().String()}) })
	t.Run("TLS", func(t *testing.T) { silent(t, client.Config{Target: l.Addr().String(), TLS: true}) })
}

func silent(t *testing.T, config client.Config) {
	t.Helper()
	t.Parallel()
	c, ctx := dial(t, config), within(t)
	for {
		_, err := c.Games.GetServerInfo(ctx, &pb.GetServerInfoRequest{})
		if errors.Is(err, context.DeadlineExceeded) {
			require.NoError(t, ctx.Err())
			continue // The call timed out before the connection did.
		}
		require.ErrorIs(t, err, client.ErrUnreachable)
		assert.Equal(t, client.CauseSilent, client.CauseOf(err), err)
		assert.EqualError(t, err, "no answer in time")
		return
	}
}
