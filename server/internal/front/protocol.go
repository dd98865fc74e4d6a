package front

import (
	"context"
	"crypto"
	"crypto/tls"
	"errors"
	"io"
	"net"
	"sync"
	"time"

	"golang.org/x/net/http2"
	"google.golang.org/grpc/credentials"
	"google.golang.org/grpc/credentials/insecure"
)

// preface is what a client sends first if it uses HTTP/2 without negotiating it (RFC 9113, section 3.4), as
// gRPC clients do. No HTTP/1.1 request begins with its first prefaceStart bytes.
const (
	preface      = http2.ClientPreface
	prefaceStart = len("PRI ")
)

// httpListener is a listener for the connections that do not use gRPC.
type httpListener struct {
	net.Listener // the listener that accepted the connections
	conns        chan net.Conn
	closed       chan struct{}
	close        func()
}

func newHTTPListener(beside net.Listener) *httpListener {
	l := &httpListener{Listener: beside, conns: make(chan net.Conn), closed: make(chan struct{})}
	l.close = sync.OnceFunc(func() { close(l.closed) })
	return l
}

// Accept implements net.Listener.
func (l *httpListener) Accept() (net.Conn, error) {
	select {
	case conn := <-l.conns:
		return conn, nil
	case <-l.closed:
		return nil, net.ErrClosed
	}
}

// Close implements net.Listener. HTTP connections that arrive afterward are closed.
func (l *httpListener) Close() error {
	l.close()
	return nil
}

// HTTP returns the listener for the connections that do not use gRPC. A connection waits
// until it is accepted. When the listener is closed, waiting and later connections are
// closed.
func (f *Front) HTTP() net.Listener { return f.http }

// httpConn is a conn on which the HTTP server sets deadlines.
type httpConn struct{ *conn }

// SetDeadline implements net.Conn.
func (c httpConn) SetDeadline(t time.Time) error { return c.Conn.SetDeadline(t) }

// Credentials returns the transport credentials for the gRPC server. Their handshake leaves
// HTTP/2 connections to gRPC's own transport and hands all others to the HTTP server. It
// recognizes HTTP/2 by the first bytes or, with TLS, by the negotiated protocol.
func (f *Front) Credentials(config *tls.Config) credentials.TransportCredentials {
	if config != nil {
		config = config.Clone()
		config.GetCertificate = inTurn(config.GetCertificate)
	}
	return &handshake{insecure.NewCredentials(), f, config}
}

// HandshakeTimeout is the maximum duration of a handshake.
const HandshakeTimeout = 10 * time.Second

type getCertificate = func(*tls.ClientHelloInfo) (*tls.Certificate, error)

// inTurn lets the handshakes of an address wait for each other and for its calls, because a signature
// with an RSA key of 4096 bits takes 5 ms. Those of a proxy, which connects for many clients, do not wait.
func inTurn(get getCertificate) getCertificate {
	return func(hello *tls.ClientHelloInfo) (*tls.Certificate, error) {
		shared, err := get(hello)
		c := hello.Conn.(httpConn).conn
		if err != nil || c.proxy {
			return shared, err
		}
		own := *shared
		own.PrivateKey = signer{shared.PrivateKey.(crypto.Signer), c}
		return &own, nil
	}
}

// signer signs the handshake of a connection.
type signer struct {
	crypto.Signer
	conn *conn
}

// Sign implements crypto.Signer.
func (s signer) Sign(random io.Reader, digest []byte, options crypto.SignerOpts) ([]byte, error) {
	leave, err := s.conn.budget.enterWithin(context.Background(), Reading, HandshakeTimeout)
	if err != nil {
		return nil, err
	}
	defer leave()
	return s.Signer.Sign(random, digest, options)
}

type handshake struct {
	credentials.TransportCredentials // for everything but the handshake, which is all that a server needs
	front                            *Front
	tls                              *tls.Config // nil if the server does not use TLS
}

// ServerHandshake implements credentials.TransportCredentials.
func (h *handshake) ServerHandshake(raw net.Conn) (net.Conn, credentials.AuthInfo, error) {
	accepted := raw.(*conn)
	if h.tls == nil {
		return h.withoutTLS(accepted)
	}
	accepted.allow(bytesPerHandshake)
	encrypted := tls.Server(httpConn{accepted}, h.tls)
	if err := encrypted.Handshake(); err != nil {
		if _, ok := errors.AsType[tls.RecordHeaderError](err); ok { // Package net/http answers requests without TLS.
			return nil, nil, h.dispatch(accepted, encrypted)
		}
		_ = encrypted.Close()
		return nil, nil, err
	}
	if encrypted.ConnectionState().NegotiatedProtocol != "h2" {
		return nil, nil, h.dispatch(accepted, encrypted)
	}
	return encrypted, nil, nil
}

// withoutTLS is the ServerHandshake of a server without TLS.
func (h *handshake) withoutTLS(accepted *conn) (net.Conn, credentials.AuthInfo, error) {
	accepted.first = make([]byte, prefaceStart, len(preface)) // Read returns them again.
	_, err := io.ReadFull(accepted.Conn, accepted.first)
	isHTTP2 := err == nil && string(accepted.first) == preface[:prefaceStart]
	if isHTTP2 { // Wait for the whole preface, because gRPC allocates 40 kB before it reads that.
		accepted.first = accepted.first[:len(preface)]
		_, err = io.ReadFull(accepted.Conn, accepted.first[prefaceStart:])
	}
	switch {
	case err != nil:
		return nil, nil, io.EOF // This is not worth logging: the client may only be checking whether the port is open.
	case isHTTP2:
		return accepted, nil, nil
	default:
		return nil, nil, h.dispatch(accepted, httpConn{accepted})
	}
}

// dispatch hands a connection to the HTTP server, and allows its first request.
func (h *handshake) dispatch(accepted *conn, speaking net.Conn) error {
	accepted.dispatched.Store(true)
	accepted.allow(bytesPerRequest)
	_ = accepted.Conn.SetDeadline(time.Time{})
	select {
	case h.front.http.conns <- speaking:
		return credentials.ErrConnDispatched
	case <-h.front.http.closed:
		return io.EOF
	}
}

// Clone implements credentials.TransportCredentials.
func (h *handshake) Clone() credentials.TransportCredentials { return h }
