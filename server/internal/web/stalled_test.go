package web_test

import (
	"crypto/tls"
	"io"
	"net"
	"runtime"
	"testing"
	"time"

	"github.com/stretchr/testify/require"
	"google.golang.org/grpc"
	"google.golang.org/grpc/credentials"

	playertest "github.com/gridstand/gridstand/internal/testkit/player"
	servertest "github.com/gridstand/gridstand/internal/testkit/server"
	tlstest "github.com/gridstand/gridstand/internal/testkit/tls"
	waittest "github.com/gridstand/gridstand/internal/testkit/wait"
	pb "github.com/gridstand/gridstand/proto/gridstand/v1"
)

// Ensure that readers of events that read nothing for too long are disconnected, with and without TLS, and
// also if so little happens that the events fit into the buffers of the connection.
func TestEvents_Stalled(t *testing.T) {
	t.Parallel()
	// The reader's kernel takes 32 kB, which it has offered before its buffer is made smaller, if delayed writes arrive
	// as one. The events of few moves take more, and fit into the server's buffer.
	const few = 250
	anyCertificate := &tls.Config{InsecureSkipVerify: true, NextProtos: []string{"h2"}}
	for name, tc := range map[string]struct{ encrypted, quiet bool }{
		"plain": {}, "TLS": {encrypted: true}, "quiet": {quiet: true}, "quiet TLS": {true, true},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			if tc.quiet && runtime.GOOS != "linux" {
				t.Skip("only Linux detects this")
			}
			c := servertest.Config(t).Unlimited()
			c.Stall = time.Second
			var options []grpc.DialOption
			if tc.encrypted {
				c.TLSCert, c.TLSKey = tlstest.NewAuthority(t).Issue(t)
				options = append(options, grpc.WithTransportCredentials(credentials.NewTLS(anyCertificate)))
			}
			running, _ := servertest.Start(t, c)
			ada := playertest.New(waittest.Context(t), t, servertest.Dial(t, running.Addr(), options...), "Ada")
			g := ada.Create(t, &pb.CreateGameRequest{Variant: "6x6"})

			conn, err := (&net.Dialer{}).DialContext(t.Context(), "tcp", running.Addr().String())
			require.NoError(t, err)
			defer func() { _ = conn.Close() }()
			require.NoError(t, conn.(*net.TCPConn).SetReadBuffer(4<<10))
			reader := conn
			if tc.encrypted {
				config := anyCertificate.Clone()
				config.NextProtos = nil
				reader = tls.Client(conn, config)
			}
			_, err = io.WriteString(reader, "GET /g/"+g.GetId()+"/events?every_event=1 HTTP/1.1\r\nHost: localhost\r\n\r\n")
			require.NoError(t, err)
			_, err = io.ReadFull(reader, make([]byte, 1))
			require.NoError(t, err)
			require.Equal(t, 2, running.Clients(), "the player and the reader")
			for range few {
				ada.Move(t, g)
			}
			waittest.Until(t, "the reader is disconnected", func() bool {
				if !tc.quiet {
					ada.Move(t, g) // fills the buffers of the connection
				}
				return running.Clients() == 1
			})
		})
	}
}

// Ensure that the connection of a client that reads no responses is cut off. The client sends requests until
// then, so that the responses fill the buffers of the connection, whatever their sizes.
func TestResponses_Stalled(t *testing.T) {
	t.Parallel()
	c := servertest.Config(t).Unlimited()
	c.Stall = time.Second
	running, _ := servertest.Start(t, c)
	conn, err := (&net.Dialer{}).DialContext(t.Context(), "tcp", running.Addr().String())
	require.NoError(t, err)
	defer func() { _ = conn.Close() }()
	require.NoError(t, conn.(*net.TCPConn).SetReadBuffer(4<<10))
	cut := make(chan struct{})
	go func() {
		defer close(cut)
		for err := error(nil); err == nil; {
			_, err = io.WriteString(conn, "GET /assets/any/style.css HTTP/1.1\r\nHost: localhost\r\n\r\n")
		}
	}()
	waittest.Receive(t, "the end of the connection", cut)
}
