//go:build slow

package fault

import (
	"bytes"
	"context"
	"encoding/binary"
	"io"
	"net"
	"sync"

	"golang.org/x/net/http2"
	"golang.org/x/net/http2/hpack"
	"google.golang.org/protobuf/proto"
)

// slowWindow is the number of bytes that a server may send before a slow client reads them.
// gRPC's own client uses at least 64 kB, enough for most of a game.
const slowWindow = 1024

// longer is a version at which a game has more events than gRPC buffers for a client that does
// not read.
const longer = 800

// rawConn is an HTTP/2 connection to a server. Tests use it frame by frame, to do what client
// libraries do not allow.
type rawConn struct {
	conn   net.Conn
	framer *http2.Framer
	reads  *http2.Framer // a separate framer, so that one goroutine can read while another writes

	mu      sync.Mutex // held during writes
	encoder *hpack.Encoder
	block   bytes.Buffer
	last    uint32 // last stream ID
}

// dialRaw opens a connection on which the server may send window bytes per stream.
func dialRaw(ctx context.Context, dialer *net.Dialer, addr string, window uint32) (*rawConn, error) {
	conn, err := dialer.DialContext(ctx, "tcp", addr)
	if err != nil {
		return nil, err
	}
	c := &rawConn{conn: conn, framer: http2.NewFramer(conn, nil), reads: http2.NewFramer(io.Discard, conn)}
	c.reads.ReadMetaHeaders = hpack.NewDecoder(4096, nil)
	c.encoder = hpack.NewEncoder(&c.block)
	_, err = io.WriteString(conn, http2.ClientPreface)
	if err == nil {
		err = c.framer.WriteSettings(http2.Setting{ID: http2.SettingInitialWindowSize, Val: window})
	}
	if err != nil {
		_ = conn.Close()
		return nil, err
	}
	return c, nil
}

// open sends only the headers of a call.
func (c *rawConn) open(method string, fields ...string) (stream uint32, err error) {
	c.mu.Lock()
	defer c.mu.Unlock()
	return c.writeHeaders(c.framer, method, fields...)
}

// writeHeaders writes the headers of a call to to. The caller holds mu.
func (c *rawConn) writeHeaders(to *http2.Framer, method string, fields ...string) (stream uint32, err error) {
	c.block.Reset()
	all := append([]string{
		":method", "POST", ":scheme", "http", ":path", method, ":authority", "gridstand",
		"content-type", "application/grpc", "te", "trailers",
	}, fields...)
	for i := 0; i < len(all); i += 2 {
		err := c.encoder.WriteField(hpack.HeaderField{Name: all[i], Value: all[i+1]})
		if err != nil {
			return 0, err
		}
	}
	if c.last++; c.last%2 == 0 {
		c.last++
	}
	return c.last, to.WriteHeaders(http2.HeadersFrameParam{StreamID: c.last, BlockFragment: c.block.Bytes(), EndHeaders: true})
}

// frame returns a message in gRPC's framing.
func frame(message proto.Message) []byte {
	body, err := proto.Marshal(message)
	if err != nil {
		panic(err)
	}
	return append(binary.BigEndian.AppendUint32([]byte{0}, uint32(len(body))), body...)
}

// send sends part of a stream's request.
func (c *rawConn) send(stream uint32, end bool, data []byte) error {
	c.mu.Lock()
	defer c.mu.Unlock()
	return c.framer.WriteData(stream, end, data)
}

// call sends a complete call.
func (c *rawConn) call(method string, request proto.Message, fields ...string) (stream uint32, err error) {
	if stream, err = c.open(method, fields...); err != nil {
		return 0, err
	}
	return stream, c.send(stream, true, frame(request))
}

// read reads until the connection ends. It calls ended for each stream that ends, with the
// stream's status, or with "" if the stream was reset.
func (c *rawConn) read(ended func(stream uint32, status string)) {
	for {
		frame, err := c.reads.ReadFrame()
		if err != nil {
			return
		}
		switch f := frame.(type) {
		case *http2.MetaHeadersFrame:
			for _, field := range f.Fields {
				if field.Name == "grpc-status" {
					ended(f.StreamID, field.Value)
				}
			}
		case *http2.RSTStreamFrame:
			ended(f.StreamID, "")
		case *http2.PingFrame:
			if !f.IsAck() {
				c.mu.Lock()
				// if this write fails, the next one returns an error
				_ = c.framer.WritePing(true, f.Data)
				c.mu.Unlock()
			}
		case *http2.SettingsFrame:
			if !f.IsAck() {
				c.mu.Lock()
				_ = c.framer.WriteSettingsAck()
				c.mu.Unlock()
			}
		}
	}
}

// calls sends n complete calls with an empty request. After the first one, each has 29 bytes,
// because the headers are the same.
func (c *rawConn) calls(method string, n int, fields ...string) error {
	c.mu.Lock()
	defer c.mu.Unlock()
	var frames bytes.Buffer
	to := http2.NewFramer(&frames, nil)
	for range n {
		stream, err := c.writeHeaders(to, method, fields...)
		if err != nil {
			return err
		}
		if err := to.WriteData(stream, true, make([]byte, 5)); err != nil {
			return err
		}
	}
	_, err := c.conn.Write(frames.Bytes())
	return err
}

// reset ends a stream.
func (c *rawConn) reset(stream uint32) error {
	c.mu.Lock()
	defer c.mu.Unlock()
	return c.framer.WriteRSTStream(stream, http2.ErrCodeCancel)
}

// write sends encoded frames.
func (c *rawConn) write(frames []byte) error {
	c.mu.Lock()
	defer c.mu.Unlock()
	_, err := c.conn.Write(frames)
	return err
}
