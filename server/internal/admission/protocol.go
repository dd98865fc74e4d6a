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

// tlsHandshake is how a client's first bytes on a connection begin if it speaks TLS.
const tlsHandshake = "\x16\x03"

// Bounds on the answer to a client that speaks TLS to a server without, or none to one
// with TLS.
const (
	turnAwayTimeout = 500 * time.Millisecond
	maxTurnedAway   = 16 << 10
)

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
// them, they wait until it is closed; those that come later are closed.
func (c *Control) HTTP() net.Listener { return c.http }

// Beside returns a listener for HTTP alone. Its connections count like those of the
// Control.
func (c *Control) Beside(l net.Listener) net.Listener { return &besideListener{l, c} }

type besideListener struct {
	net.Listener
	control *Control
}

// Accept implements net.Listener.
func (l *besideListener) Accept() (net.Conn, error) {
	accepted, err := l.control.accept(l.Listener)
	if err != nil {
		return nil, err
	}
	accepted.handshaking.Store(false)
	accepted.dispatched.Store(true)
	return httpConn{accepted}, nil
}

// httpConn is a conn on which HTTP sets deadlines.
type httpConn struct{ *conn }

// SetDeadline implements net.Conn.
func (c httpConn) SetDeadline(t time.Time) error { return c.Conn.SetDeadline(t) }

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
		return h.withoutTLS(accepted)
	}
	encrypted := tls.Server(httpConn{accepted}, h.tls)
	if err := encrypted.Handshake(); err != nil {
		if plain := (tls.RecordHeaderError{}); errors.As(err, &plain) && plain.Conn != nil && isRequest(plain.RecordHeader[:]) {
			accepted.turnAway("this server speaks TLS: open https:// in place of http://")
		}
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

// withoutTLS is ServerHandshake without TLS.
func (h *handshake) withoutTLS(accepted *conn) (net.Conn, credentials.AuthInfo, error) {
	err := accepted.peek()
	switch {
	case err != nil:
		return nil, nil, io.EOF // Others may only look whether the port is open.
	case string(accepted.first) == preface:
		return accepted, nil, nil
	case string(accepted.first[:2]) == tlsHandshake:
		accepted.turnAway("this server speaks no TLS: open http:// in place of https://")
		return nil, nil, io.EOF
	}
	return nil, nil, h.dispatch(accepted, httpConn{accepted})
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

// peek reads the first bytes of a connection, which Read returns again.
func (c *conn) peek() error {
	c.first = make([]byte, len(preface))
	_, err := io.ReadFull(c.Conn, c.first)
	return err
}

// turnAway answers a client that encrypts where the server does not, or the other way
// round, as far as it understands that.
func (c *conn) turnAway(why string) {
	_ = c.Conn.SetDeadline(time.Now().Add(turnAwayTimeout))
	_, err := io.WriteString(c.Conn, "HTTP/1.1 400 Bad Request\r\nContent-Type: text/plain; charset=utf-8\r\n"+
		"Connection: close\r\n\r\n400 Bad Request: "+why+"\n")
	half, ok := c.Conn.(interface{ CloseWrite() error })
	if err != nil || !ok || half.CloseWrite() != nil {
		return
	}
	// To close it with bytes that nothing has read would reset it, and drop the answer.
	_, _ = io.CopyN(io.Discard, c.Conn, maxTurnedAway)
}

// isRequest reports whether the first bytes of a connection may be those of a request by
// HTTP/1.1: a method in upper case.
func isRequest(first []byte) bool {
	for _, b := range first {
		if (b < 'A' || b > 'Z') && b != ' ' && b != '/' {
			return false
		}
	}
	return true
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
