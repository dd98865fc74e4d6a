//go:build slow

package bench

import (
	"bufio"
	"bytes"
	"context"
	"encoding/binary"
	"errors"
	"fmt"
	"net"
	"testing"

	"github.com/stretchr/testify/require"
	"golang.org/x/net/http2"
	"golang.org/x/net/http2/hpack"
	"google.golang.org/grpc"
	"google.golang.org/grpc/metadata"
	"google.golang.org/protobuf/proto"
)

// caller is a gRPC connection for unary calls, one at a time. It takes 0.4 of the processor time of
// grpc-go's client, because the goroutine that makes a call also writes and reads its frames. The
// server receives the same calls. A caller supports neither deadlines nor TLS.
type caller struct {
	address string
	out     *bufio.Writer
	framer  *http2.Framer
	headers *hpack.Encoder
	block   bytes.Buffer
	message []byte
	stream  uint32 // ID of the current stream
	unread  uint32 // bytes received since the last window update
}

// callerWindow is the number of bytes that a server may send before the caller replenishes its
// window.
const callerWindow = 1 << 20

// call opens a connection to the server.
func (p *process) call(b *testing.B) *caller {
	b.Helper()
	conn, err := net.Dial("tcp", p.address)
	require.NoError(b, err)
	b.Cleanup(func() { _ = conn.Close() })
	c := &caller{address: p.address, out: bufio.NewWriterSize(conn, 1<<10), stream: 1}
	c.headers = hpack.NewEncoder(&c.block)
	c.framer = http2.NewFramer(c.out, bufio.NewReaderSize(conn, 2<<10))
	c.framer.SetReuseFrames()
	c.framer.ReadMetaHeaders = hpack.NewDecoder(4096, nil)
	_, _ = c.out.WriteString(http2.ClientPreface) // Flush returns the error.
	_ = c.framer.WriteSettings(http2.Setting{ID: http2.SettingInitialWindowSize, Val: callerWindow})
	_ = c.framer.WriteWindowUpdate(0, callerWindow)
	require.NoError(b, c.out.Flush())
	return c
}

// NewStream implements grpc.ClientConnInterface.
func (c *caller) NewStream(context.Context, *grpc.StreamDesc, string, ...grpc.CallOption) (grpc.ClientStream, error) {
	return nil, errors.New("a caller only makes unary calls")
}

// Invoke implements grpc.ClientConnInterface.
func (c *caller) Invoke(ctx context.Context, method string, request, reply any, _ ...grpc.CallOption) (err error) {
	c.stream += 2
	c.block.Reset()
	for _, h := range [...]hpack.HeaderField{
		{Name: ":method", Value: "POST"},
		{Name: ":scheme", Value: "http"},
		{Name: ":path", Value: method},
		{Name: ":authority", Value: c.address},
		{Name: "content-type", Value: "application/grpc"},
		{Name: "te", Value: "trailers"},
	} {
		_ = c.headers.WriteField(h) // writes to a buffer, so it cannot fail
	}
	outgoing, _ := metadata.FromOutgoingContext(ctx)
	for name, values := range outgoing {
		for _, value := range values {
			_ = c.headers.WriteField(hpack.HeaderField{Name: name, Value: value})
		}
	}
	c.message = append(c.message[:0], 0, 0, 0, 0, 0)
	if c.message, err = (proto.MarshalOptions{}).MarshalAppend(c.message, request.(proto.Message)); err != nil {
		return err
	}
	binary.BigEndian.PutUint32(c.message[1:], uint32(len(c.message)-5))
	_ = c.framer.WriteHeaders(http2.HeadersFrameParam{StreamID: c.stream, BlockFragment: c.block.Bytes(), EndHeaders: true})
	_ = c.framer.WriteData(c.stream, true, c.message)
	if err := c.out.Flush(); err != nil {
		return err
	}
	return c.receive(reply.(proto.Message))
}

// receive reads frames until the current call has ended.
func (c *caller) receive(reply proto.Message) error {
	c.message = c.message[:0]
	for {
		frame, err := c.framer.ReadFrame()
		if err != nil {
			return err
		}
		switch frame := frame.(type) {
		case *http2.DataFrame:
			c.message = append(c.message, frame.Data()...)
			if c.unread += frame.Length; c.unread > callerWindow/2 {
				_ = c.framer.WriteWindowUpdate(0, c.unread)
				c.unread = 0
			}
		case *http2.MetaHeadersFrame:
			if !frame.StreamEnded() {
				continue
			}
			for _, f := range frame.RegularFields() {
				if f.Name == "grpc-status" && f.Value == "0" {
					return c.decode(reply)
				}
			}
			return fmt.Errorf("the call failed: %v", frame.RegularFields())
		case *http2.SettingsFrame:
			if !frame.IsAck() {
				_ = c.framer.WriteSettingsAck()
			}
		case *http2.PingFrame:
			if !frame.IsAck() {
				_ = c.framer.WritePing(true, frame.Data)
			}
		case *http2.RSTStreamFrame, *http2.GoAwayFrame:
			return fmt.Errorf("the server has ended the call: %v", frame)
		}
	}
}

// decode decodes the received message.
func (c *caller) decode(reply proto.Message) error {
	if len(c.message) < 5 || c.message[0] != 0 || int(binary.BigEndian.Uint32(c.message[1:])) != len(c.message)-5 {
		return errors.New("a reply must be one uncompressed message")
	}
	return proto.Unmarshal(c.message[5:], reply)
}
