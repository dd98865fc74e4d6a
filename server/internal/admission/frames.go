package admission

import (
	"net"

	"golang.org/x/net/http2"
)

// grpcConn is the connection that gRPC reads from, after TLS. It counts the calls that gRPC
// refuses before it calls admit, such as those whose HTTP method is not POST. Without this
// count, a client could send half a million of them a second.
type grpcConn struct {
	net.Conn
	conn   *conn
	frames frames
}

// speaksGRPC returns the connection that gRPC should use. plain is c or is encrypted on top of c.
func (c *conn) speaksGRPC(plain net.Conn) net.Conn {
	return &grpcConn{plain, c, frames{rest: len(http2.ClientPreface)}}
}

// Read implements net.Conn. gRPC does not call it before it has handled all complete frames that
// it has read.
func (g *grpcConn) Read(b []byte) (int, error) {
	for ; g.conn.calls > 0; g.conn.calls-- {
		g.conn.slow(callPenalty)
	}
	n, err := g.Conn.Read(b)
	g.conn.calls = g.frames.calls(b[:n])
	return n, err
}

// NetConn returns the wrapped connection, like tls.Conn.NetConn.
func (g *grpcConn) NetConn() net.Conn { return g.Conn }

// frames finds the ends of headers in what an HTTP/2 client sends.
type frames struct {
	rest   int // how many bytes are still missing until the next frame begins
	header [9]byte
	read   int  // number of bytes of header
	ends   bool // set if headers end with the frame
}

// calls returns the number of calls whose headers end in b, which follows what it got before.
func (f *frames) calls(b []byte) (n int) {
	for len(b) > 0 {
		if f.rest > 0 {
			skipped := min(f.rest, len(b))
			f.rest -= skipped
			b = b[skipped:]
		} else {
			read := copy(f.header[f.read:], b)
			f.read += read
			b = b[read:]
			if f.read < len(f.header) {
				break
			}
			f.read = 0
			f.rest = int(f.header[0])<<16 | int(f.header[1])<<8 | int(f.header[2])
			kind := http2.FrameType(f.header[3])
			f.ends = (kind == http2.FrameHeaders || kind == http2.FrameContinuation) &&
				http2.Flags(f.header[4]).Has(http2.FlagHeadersEndHeaders)
		}
		if f.rest == 0 && f.ends {
			f.ends = false
			n++
		}
	}
	return n
}
