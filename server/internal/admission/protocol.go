package admission

import (
	"context"
	"crypto/tls"
	"errors"
	"io"
	"net"
	"sync"
	"time"

	"google.golang.org/grpc/credentials"
)

// preface is what a client's first bytes on a connection are if it speaks HTTP/2 without
// negotiation (RFC 9113, section 3.4), as gRPC clients do. No method of HTTP/1.1 begins
// so.
const preface = "PRI "

// httpListener passes on the connections that do not speak gRPC.
type httpListener struct {
	beside net.Listener // that accepted the connections
	conns  chan net.Conn
	closed chan struct{}
	close  func()
}

func newHTTPListener(beside net.Listener) *httpListener {
	l := &httpListener{beside: beside, conns: make(chan net.Conn), closed: make(chan struct{})}
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

// Addr implements net.Listener.
func (l *httpListener) Addr() net.Addr { return l.beside.Addr() }

// Close implements net.Listener. Connections that come later are closed.
func (l *httpListener) Close() error {
	l.close()
	return nil
}

// HTTP returns the listener of the connections that do not speak gRPC. If nothing accepts
// them, they wait until it is closed.
func (c *Control) HTTP() net.Listener { return c.http }

// Credentials returns the handshake of a gRPC server on the connections of a Control. It
// leaves those that speak HTTP/2 to gRPC's own transport, and passes the others to HTTP.
// Without TLS the first bytes tell; with TLS the protocol that was negotiated.
func (c *Control) Credentials(config *tls.Config) credentials.TransportCredentials {
	return &handshake{control: c, tls: config}
}

type handshake struct {
	control *Control
	tls     *tls.Config // nil for no encryption
}

// ServerHandshake implements credentials.TransportCredentials.
func (h *handshake) ServerHandshake(raw net.Conn) (net.Conn, credentials.AuthInfo, error) {
	accepted := raw.(*conn)
	if h.tls == nil {
		isGRPC, err := accepted.peek()
		if err != nil {
			return nil, nil, io.EOF // Others may only look whether the port is open.
		}
		if isGRPC {
			return accepted, nil, nil
		}
		return nil, nil, h.dispatch(accepted, accepted)
	}
	encrypted := tls.Server(accepted, h.tls)
	if err := encrypted.Handshake(); err != nil {
		_ = encrypted.Close()
		return nil, nil, err
	}
	state := encrypted.ConnectionState()
	if state.NegotiatedProtocol != "h2" {
		return nil, nil, h.dispatch(accepted, encrypted)
	}
	return encrypted, credentials.TLSInfo{
		State: state, CommonAuthInfo: credentials.CommonAuthInfo{SecurityLevel: credentials.PrivacyAndIntegrity},
	}, nil
}

// dispatch passes a connection to HTTP.
func (h *handshake) dispatch(accepted *conn, speaking net.Conn) error {
	accepted.handshaking.Store(false)
	accepted.dispatched.Store(true)
	_ = accepted.Conn.SetDeadline(time.Time{})
	select {
	case h.control.http.conns <- speaking:
		return credentials.ErrConnDispatched
	case <-h.control.http.closed:
		return io.EOF
	}
}

// peek reads the first bytes of a connection, which Read returns again, and reports
// whether they are those of HTTP/2.
func (c *conn) peek() (bool, error) {
	c.first = make([]byte, len(preface))
	if _, err := io.ReadFull(c.Conn, c.first); err != nil {
		return false, err
	}
	return string(c.first) == preface, nil
}

var errServerOnly = errors.New("these credentials are for servers")

// ClientHandshake implements credentials.TransportCredentials.
func (h *handshake) ClientHandshake(context.Context, string, net.Conn) (net.Conn, credentials.AuthInfo, error) {
	return nil, nil, errServerOnly
}

// Info implements credentials.TransportCredentials.
func (h *handshake) Info() credentials.ProtocolInfo {
	if h.tls == nil {
		return credentials.ProtocolInfo{SecurityProtocol: "insecure"}
	}
	return credentials.ProtocolInfo{SecurityProtocol: "tls"}
}

// Clone implements credentials.TransportCredentials.
func (h *handshake) Clone() credentials.TransportCredentials { return h }

// OverrideServerName implements credentials.TransportCredentials.
func (h *handshake) OverrideServerName(string) error { return errServerOnly }
