package web

import (
	"bytes"
	"crypto/tls"
	"errors"
	"fmt"
	"net"
	"net/http"
	"time"
)

// sendBuffer is how many bytes the kernel keeps for a reader, some hundred events. One
// that reads too slowly for more gets the game in place of events. By default it would
// be megabytes, which a reader who stalls would hold.
const sendBuffer = 64 << 10

// conn is a connection taken over from net/http, which then keeps no goroutine and no
// buffers for it. Nothing is read from it.
type conn struct{ net.Conn }

// Abort implements output. Bytes that the client has not taken are dropped.
func (c conn) Abort() {
	if tcp, ok := socket(c.Conn).(*net.TCPConn); ok {
		_ = tcp.SetLinger(0)
	}
	if t, ok := c.Conn.(*tls.Conn); ok {
		_ = t.NetConn().Close() // tls.Conn's own Close waits for a Write.
		return
	}
	_ = c.Conn.Close()
}

var errNotHijackable = errors.New("the connection cannot be taken over")

// hijack takes over the connection of a request, unless it is one of HTTP/2.
func hijack(w http.ResponseWriter, r *http.Request) (conn, error) {
	if r.ProtoMajor != 1 {
		return conn{}, errNotHijackable
	}
	c, _, err := http.NewResponseController(w).Hijack()
	if err != nil {
		return conn{}, err
	}
	_ = c.SetReadDeadline(time.Time{})
	_ = c.SetWriteDeadline(time.Time{})
	if tcp, ok := socket(c).(*net.TCPConn); ok {
		_ = tcp.SetWriteBuffer(sendBuffer)
	}
	return conn{c}, nil
}

// socket returns the innermost connection.
func socket(c net.Conn) net.Conn {
	for {
		wrapped, ok := c.(interface{ NetConn() net.Conn })
		if !ok {
			return c
		}
		c = wrapped.NetConn()
	}
}

// answerHead returns the status line and the headers of an answer that lasts until the
// connection closes.
func answerHead(r *http.Request, header http.Header) []byte {
	var b bytes.Buffer
	_, _ = fmt.Fprintf(&b, "HTTP/1.%d %d OK\r\n", min(r.ProtoMinor, 1), http.StatusOK)
	header.Set("Date", time.Now().UTC().Format(http.TimeFormat))
	header.Set("Connection", "close")
	_ = header.Write(&b)
	b.WriteString("\r\n")
	return b.Bytes()
}

// flusher is the output of an answer whose connection cannot be taken over: with HTTP/2
// others share it.
type flusher struct {
	w    http.ResponseWriter
	ctrl *http.ResponseController
}

// Write implements output.
func (f *flusher) Write(b []byte) (int, error) {
	n, err := f.w.Write(b)
	if err != nil {
		return n, err
	}
	return n, f.ctrl.Flush()
}

// SetWriteDeadline implements output.
func (f *flusher) SetWriteDeadline(t time.Time) error { return f.ctrl.SetWriteDeadline(t) }

// Abort implements output.
func (f *flusher) Abort() { _ = f.ctrl.SetWriteDeadline(time.Unix(1, 0)) }

// Close implements output.
func (f *flusher) Close() error { return nil }
