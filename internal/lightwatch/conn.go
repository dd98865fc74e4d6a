// Package lightwatch reads many Watch streams with little CPU time, frame by frame:
// the streams of a connection share one goroutine and its buffers, and only the
// fields that tell a message's place in the game are decoded. gRPC's own client needs
// a goroutine for each stream and several allocations for each message. It is for
// load tests, in which thousands of watchers run beside the server.
package lightwatch

import (
	"bufio"
	"bytes"
	"cmp"
	"context"
	"crypto/tls"
	"errors"
	"fmt"
	"io"
	"net"
	"sync"
	"sync/atomic"
	"time"

	"golang.org/x/net/http2"
	"golang.org/x/net/http2/hpack"
	"google.golang.org/grpc/codes"
	"google.golang.org/grpc/status"
)

// Options say how to connect.
type Options struct {
	// Authority is the server's "host:port" as the caller knows it; the certificate
	// must be valid for its host. If empty, it is the address.
	Authority string
	// TLS encrypts the connection; nil is plain text.
	TLS *tls.Config
	// UserAgent is the name of the program that the server sees.
	UserAgent string
	// Window is how many bytes the server may send on a stream before they are
	// read; 0 is practically no limit.
	Window uint32
	// Streams is how many streams the connection will carry, 0 if unknown. A
	// connection for a few has smaller buffers.
	Streams int
}

// Receiver gets what a stream brings, in order, from the goroutine that reads the
// connection. While a method runs, all streams of the connection wait, and none may
// be opened or canceled.
type Receiver interface {
	// Opened is called when the server has accepted the call.
	Opened()
	// Update is called with each message. The stream ends with the error that it
	// returns.
	Update(u *Update) error
	// Ended is called once, as the last: with nil if the server completed the stream,
	// with the error that Update returned, or with a status error.
	Ended(err error)
}

// Conn is a connection with any number of streams. Its methods are safe for
// concurrent use, but a Receiver must not call them.
type Conn struct {
	conn    net.Conn
	options Options
	framer  *http2.Framer
	limit   uint32      // streams that the server allows at a time
	closed  atomic.Bool // by Close
	done    chan struct{}

	// writing guards the fields below and the order of stream IDs. It is locked
	// before reading.
	writing sync.Mutex
	out     *bufio.Writer
	nextID  uint32
	headers *hpack.Encoder
	block   bytes.Buffer

	// reading guards what the goroutine that reads shares with others.
	reading sync.Mutex
	streams map[uint32]*Stream
	ended   error // why the connection takes no more streams

	update Update // of the message that is being received
	unread uint32 // bytes since the connection's window was renewed
}

const (
	// wide is a window that is renewed before a stream fills it.
	wide = 1 << 30
	// initialWindow is HTTP/2's default, for streams and connections.
	initialWindow = 1<<16 - 1
	// maxMessage bounds the size of a message: gRPC's default.
	maxMessage = 4 << 20
	// maxHeaders bounds the headers of a response.
	maxHeaders = 64 << 10
	// handshake bounds the time until the first stream can be opened.
	handshake = 20 * time.Second
)

// Dial connects to "host:port", and returns when the server has said how many
// streams it allows. The caller closes the connection. Errors are status errors.
func Dial(ctx context.Context, address string, options Options) (*Conn, error) {
	ctx, cancel := context.WithTimeout(ctx, handshake)
	defer cancel()
	conn, err := (&net.Dialer{}).DialContext(ctx, "tcp", address)
	if err != nil {
		return nil, unreachable(ctx, err)
	}
	defer context.AfterFunc(ctx, func() { _ = conn.SetDeadline(time.Unix(1, 0)) })()
	c, err := begin(ctx, conn, address, options)
	if err != nil {
		_ = conn.Close()
		return nil, unreachable(ctx, err)
	}
	go c.run()
	return c, nil
}

// unreachable is the error of a connection that was not made, worded as gRPC does.
func unreachable(ctx context.Context, err error) error {
	if errors.Is(ctx.Err(), context.Canceled) {
		return status.FromContextError(ctx.Err()).Err()
	}
	return status.Errorf(codes.Unavailable, `connection error: desc = "%v"`, err)
}

// begin does the TLS and HTTP/2 handshakes.
func begin(ctx context.Context, conn net.Conn, address string, options Options) (*Conn, error) {
	options.Authority = cmp.Or(options.Authority, address)
	if options.TLS != nil {
		config := options.TLS.Clone()
		config.NextProtos = []string{http2.NextProtoTLS}
		if host, _, err := net.SplitHostPort(options.Authority); err == nil && config.ServerName == "" {
			config.ServerName = host
		}
		encrypted := tls.Client(conn, config)
		if err := encrypted.HandshakeContext(ctx); err != nil {
			return nil, fmt.Errorf("transport: authentication handshake failed: %w", err)
		}
		conn = encrypted
	}
	if options.Window == 0 {
		options.Window = wide
	}
	// An event has some 130 bytes in its frame.
	in, out := 32<<10, 16<<10
	if 0 < options.Streams && options.Streams < 16 {
		in, out = 2<<10, 1<<10
	}
	c := &Conn{
		conn: conn, options: options, done: make(chan struct{}),
		out: bufio.NewWriterSize(conn, out), nextID: 1, streams: map[uint32]*Stream{},
	}
	c.headers = hpack.NewEncoder(&c.block)
	c.framer = http2.NewFramer(c.out, bufio.NewReaderSize(conn, in))
	c.framer.SetReuseFrames()
	c.framer.ReadMetaHeaders = hpack.NewDecoder(4096, nil)
	c.framer.MaxHeaderListSize = maxHeaders

	_, _ = c.out.WriteString(http2.ClientPreface)
	_ = c.framer.WriteSettings(
		http2.Setting{ID: http2.SettingEnablePush, Val: 0},
		http2.Setting{ID: http2.SettingInitialWindowSize, Val: options.Window},
	)
	if options.Window > initialWindow {
		_ = c.framer.WriteWindowUpdate(0, options.Window-initialWindow)
	}
	if err := c.out.Flush(); err != nil {
		return nil, err
	}
	frame, err := c.framer.ReadFrame()
	if err != nil {
		return nil, fmt.Errorf("error reading server preface: %w", err)
	}
	settings, ok := frame.(*http2.SettingsFrame)
	if !ok || settings.IsAck() {
		return nil, fmt.Errorf("error reading server preface: %v came first", frame.Header().Type)
	}
	c.limit = 1<<32 - 1
	if n, ok := settings.Value(http2.SettingMaxConcurrentStreams); ok {
		c.limit = n
	}
	_ = c.framer.WriteSettingsAck()
	return c, c.out.Flush()
}

// Err returns why the connection takes no more streams, nil if it does.
func (c *Conn) Err() error {
	c.reading.Lock()
	defer c.reading.Unlock()
	return c.ended
}

// Close ends the connection and its streams, and waits until their receivers were
// called.
func (c *Conn) Close() {
	c.closed.Store(true)
	c.Break()
	<-c.done
}

// Break cuts the connection without waiting for anything.
func (c *Conn) Break() { cut(c.conn) }

// cut closes a connection without waiting. With TLS, Close would wait to say goodbye.
func cut(conn net.Conn) {
	if encrypted, ok := conn.(*tls.Conn); ok {
		conn = encrypted.NetConn()
	}
	_ = conn.Close()
}

// write calls to and flushes what it wrote.
func (c *Conn) write(to func()) {
	c.writing.Lock()
	defer c.writing.Unlock()
	to()
	_ = c.out.Flush()
}

// run reads until the connection ends, and then ends its streams.
func (c *Conn) run() {
	defer close(c.done)
	err := c.read()
	c.Break()
	if errors.Is(err, io.EOF) {
		err = errors.New("error reading from server: EOF")
	}
	c.reading.Lock()
	defer c.reading.Unlock()
	if c.closed.Load() {
		c.ended = status.Error(codes.Canceled, "the connection was closed")
	} else {
		c.ended = status.Error(codes.Unavailable, err.Error())
	}
	for id, s := range c.streams {
		delete(c.streams, id)
		s.receiver.Ended(c.ended)
	}
}

func (c *Conn) read() error {
	for {
		frame, err := c.framer.ReadFrame()
		var broken http2.StreamError
		switch {
		case errors.As(err, &broken):
			c.end(broken.StreamID, status.Error(codes.Internal, broken.Error()), true)
			continue
		case err != nil:
			return err
		}
		switch frame := frame.(type) {
		case *http2.DataFrame:
			c.receive(frame)
		case *http2.MetaHeadersFrame:
			c.answered(frame)
		case *http2.RSTStreamFrame:
			c.end(frame.StreamID, resetStatus(frame.ErrCode), false)
		case *http2.SettingsFrame:
			if !frame.IsAck() {
				c.write(func() { _ = c.framer.WriteSettingsAck() })
			}
		case *http2.PingFrame:
			if !frame.IsAck() {
				c.write(func() { _ = c.framer.WritePing(true, frame.Data) })
			}
		case *http2.GoAwayFrame:
			if c.goAway(frame) {
				return errors.New("the server goes away")
			}
		}
	}
}

// goAway ends the streams that the server will not serve, and reports whether
// none is left. The others go on; new ones need another connection.
func (c *Conn) goAway(frame *http2.GoAwayFrame) bool {
	c.reading.Lock()
	defer c.reading.Unlock()
	c.ended = status.Error(codes.Unavailable, "the server goes away")
	for id, s := range c.streams {
		if id > frame.LastStreamID {
			delete(c.streams, id)
			s.receiver.Ended(c.ended)
		}
	}
	return len(c.streams) == 0
}

// answered handles the headers or trailers of a response.
func (c *Conn) answered(frame *http2.MetaHeadersFrame) {
	c.reading.Lock()
	s := c.streams[frame.StreamID]
	begins := s != nil && !s.opened && !frame.StreamEnded()
	if begins && frame.PseudoValue("status") == "200" {
		s.opened = true
		s.receiver.Opened()
		c.reading.Unlock()
		return
	}
	c.reading.Unlock()
	c.end(frame.StreamID, headersStatus(frame), !frame.StreamEnded())
}

// end ends a stream that the server has ended, or that the client resets.
func (c *Conn) end(id uint32, err error, reset bool) {
	c.reading.Lock()
	s := c.streams[id]
	delete(c.streams, id)
	if s != nil {
		s.receiver.Ended(err)
	}
	last := c.ended != nil && len(c.streams) == 0
	c.reading.Unlock()
	if s != nil && reset {
		c.write(func() { _ = c.framer.WriteRSTStream(id, http2.ErrCodeCancel) })
	}
	if last {
		c.Break() // After GOAWAY the server waits for that.
	}
}
