package web

import (
	"bytes"
	"net"
	"net/http"
	"time"
)

// sendBuffer is the size in bytes of the kernel's send buffer for a reader. It holds about
// a hundred events. If it is full, further events wait in the match's ring. With the default
// size, each stalled reader could tie up megabytes.
const sendBuffer = 64 << 10

// conn is a connection hijacked from net/http, so that net/http keeps no goroutine and no
// buffers for it. The server only writes to it.
type conn struct {
	net.Conn
	stall time.Duration // how long the client may read nothing of a message
}

// Write implements net.Conn.
func (c *conn) Write(b []byte) (int, error) {
	_ = c.SetWriteDeadline(time.Now().Add(c.stall))
	defer func() { _ = c.SetWriteDeadline(time.Time{}) }()
	return c.Conn.Write(b)
}

// abort makes the current Write return even if it is blocked, and makes later Writes fail. It discards
// data that the client has not received.
func (c *conn) abort() {
	under := socket(c.Conn) // tls.Conn.Close would wait for a blocked Write.
	if tcp, ok := under.(*net.TCPConn); ok {
		_ = tcp.SetLinger(0)
	}
	_ = under.Close()
}

// hijack takes over a request's connection.
func hijack(w http.ResponseWriter, stall time.Duration) (*conn, error) {
	c, _, err := http.NewResponseController(w).Hijack()
	if err != nil {
		return nil, err
	}
	_ = c.SetDeadline(time.Time{})
	if tcp, ok := socket(c).(*net.TCPConn); ok {
		_ = tcp.SetWriteBuffer(sendBuffer)
	}
	return &conn{c, stall}, nil
}

// socket returns the connection at the bottom of c's wrappers.
func socket(c net.Conn) net.Conn {
	for {
		wrapped, ok := c.(interface{ NetConn() net.Conn })
		if !ok {
			return c
		}
		c = wrapped.NetConn()
	}
}

// answerHead returns the status line and headers of a response that continues until the
// connection is closed.
func answerHead(r *http.Request, header http.Header) []byte {
	header.Set("Date", time.Now().UTC().Format(http.TimeFormat))
	answer := http.Response{StatusCode: http.StatusOK, ProtoMajor: 1, ProtoMinor: min(r.ProtoMinor, 1), Header: header}
	answer.Body, answer.ContentLength, answer.Close = http.NoBody, -1, true
	var b bytes.Buffer
	_ = answer.Write(&b) // Writing to a Buffer cannot fail.
	return b.Bytes()
}
