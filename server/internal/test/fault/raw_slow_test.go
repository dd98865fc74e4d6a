//go:build slow

package fault

import (
	"bytes"

	"golang.org/x/net/http2"
)

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
