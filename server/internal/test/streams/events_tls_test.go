package streams

import (
	"crypto/tls"
	"net/http"
	"testing"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
	"google.golang.org/grpc"
	"google.golang.org/grpc/credentials"
	"google.golang.org/protobuf/proto"

	eventstest "github.com/gridstand/gridstand/internal/testkit/events"
	servertest "github.com/gridstand/gridstand/internal/testkit/server"
)

// Ensure that readers with TLS receive the same records over HTTP/1.1 as over HTTP/2, whose
// connections the server cannot hijack, and that a stopping server does not wait for them.
func TestEvents_TLS(t *testing.T) {
	t.Parallel()
	if testing.Short() {
		t.Skip("too slow for -short")
	}
	c := config(t)
	c.TLSCert, c.TLSKey = servertest.Certificate(t)
	c.Web = "127.0.0.1:0"
	srv, stop := servertest.Start(t, c)
	anyCertificate := &tls.Config{InsecureSkipVerify: true}
	conn, err := grpc.NewClient("passthrough:///"+srv.Addr().String(), grpc.WithTransportCredentials(credentials.NewTLS(anyCertificate)))
	require.NoError(t, err)
	t.Cleanup(func() { _ = conn.Close() })
	p := newPlayerOn(t, conn, classic)

	readers := map[int]*reader{}
	for major, force := range map[int]bool{1: false, 2: true} {
		transport := &http.Transport{TLSClientConfig: anyCertificate.Clone(), ForceAttemptHTTP2: force}
		t.Cleanup(transport.CloseIdleConnections)
		request, err := http.NewRequestWithContext(p.Ctx, http.MethodGet, "https://"+srv.WebAddr().String()+p.path(), nil)
		require.NoError(t, err)
		answer, err := (&http.Client{Transport: transport}).Do(request)
		require.NoError(t, err)
		t.Cleanup(func() { _ = answer.Body.Close() })
		require.Equal(t, http.StatusOK, answer.StatusCode)
		require.Equal(t, major, answer.ProtoMajor)
		assert.Equal(t, "text/event-stream", answer.Header.Get("Content-Type"))
		readers[major] = &reader{Reader: eventstest.NewReader(answer.Body), answer: answer}
		readers[major].Must(t)
	}
	readers[1].audience(t, 2)
	p.move(t, 5)
	for version := range 5 {
		one, two := readers[1].Must(t).Update.GetEvent(), readers[2].Must(t).Update.GetEvent()
		assert.EqualValues(t, version+2, one.GetVersion())
		assert.True(t, proto.Equal(one, two))
	}
	require.NoError(t, readers[2].answer.Body.Close())
	readers[1].audience(t, 1)
	began := time.Now()
	stop()
	assert.Less(t, time.Since(began), patience)
	_, err = readers[1].Next()
	assert.Error(t, err)
}
