// Package lightwatch reads many Watch streams with little CPU time. The streams of a connection
// share one goroutine and its buffers, and only the fields that locate a message in its game are
// decoded. gRPC's own client needs a goroutine per stream and several allocations per message. The
// package is meant for load tests, in which thousands of clients run on the same machine as the
// server.
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

// Options configure a connection.
type Options struct {
	// Authority is the server's "host:port" as the caller knows it; the default is the dialed
	// address. The server's certificate must be valid for this host.
	Authority string
	// TLS configures encryption; nil means plain text.
	TLS *tls.Config
	// UserAgent is the user agent to send to the server.
	UserAgent string
	// Window is the number of bytes that the server may send on a stream before they are
	// read. 0 means practically no limit.
	Window uint32
	// Streams is the expected number of streams on the connection, or 0 if unknown. A
	// connection with few streams gets smaller buffers.
	Streams int
}

// Receiver handles what arrives on a stream. The goroutine that reads the connection calls its
// methods, in order. While a method is running, all streams of the connection wait, and the caller
// cannot open or cancel any stream.
type Receiver interface {
	// Opened is called when the server has accepted the call.
	Opened()
	// Update is called for each message. If it returns an error, the stream ends with that
	// error.
	Update(u *Update) error
	// Ended is called once, after all other methods. err is nil if the server completed the
	// stream, the error that Update returned, or a status error.
	Ended(err error)
}

// Conn is a connection with any number of streams. Its methods are safe for concurrent use,
// but a Receiver must not call them.
type Conn struct {
	conn    net.Conn
	options Options
	framer  *http2.Framer
	limit   uint32      // maximum number of concurrent streams
	closed  atomic.Bool // set by Close
	done    chan struct{}

	// writing guards the fields below and keeps stream IDs in order. It must be locked before the
	// mutex named reading.
	writing sync.Mutex
	out     *bufio.Writer
	nextID  uint32
	headers *hpack.Encoder
	block   bytes.Buffer

	// reading guards the fields that the reading goroutine shares with others.
	reading sync.Mutex
	streams map[uint32]*Stream
	ended   error // why no more streams can be opened, or nil

	update Update // decoded from the current message
	unread uint32 // bytes received since the last window update
}

const (
	// wide is a window so large that it is replenished long before a stream exhausts it.
	wide = 1 << 30
	// initialWindow is HTTP/2's default, for streams and connections.
	initialWindow = 1<<16 - 1
	// maxMessage is the maximum size of a message, in bytes. It equals gRPC's default.
	maxMessage = 4 << 20
	// maxHeaders is the maximum size of a response's headers.
	maxHeaders = 64 << 10
	// handshake is the time limit for connecting until the first stream can be opened.
	handshake = 20 * time.Second
)

// Dial connects to "host:port" and waits until the server has announced how many streams it
// allows. The caller must close the connection. Errors are status errors.
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

// unreachable returns gRPC's error for a failed connection attempt.
func unreachable(ctx context.Context, err error) error {
	if errors.Is(ctx.Err(), context.Canceled) {
		return status.FromContextError(ctx.Err()).Err()
	}
	return status.Errorf(codes.Unavailable, `connection error: desc = "%v"`, err)
}

// encrypt performs a TLS handshake for a protocol. The server's name is that in authority,
// unless config has one.
func encrypt(ctx context.Context, conn net.Conn, config *tls.Config, authority, protocol string) (net.Conn, error) {
	config = config.Clone()
	config.NextProtos = []string{protocol}
	if host, _, err := net.SplitHostPort(authority); err == nil && config.ServerName == "" {
		config.ServerName = host
	}
	encrypted := tls.Client(conn, config)
	if err := encrypted.HandshakeContext(ctx); err != nil {
		return nil, fmt.Errorf("transport: authentication handshake failed: %w", err)
	}
	return encrypted, nil
}

// begin performs the TLS and HTTP/2 handshakes.
func begin(ctx context.Context, conn net.Conn, address string, options Options) (*Conn, error) {
	options.Authority = cmp.Or(options.Authority, address)
	if options.TLS != nil {
		encrypted, err := encrypt(ctx, conn, options.TLS, options.Authority, http2.NextProtoTLS)
		if err != nil {
			return nil, err
		}
		conn = encrypted
	}
	if options.Window == 0 {
		options.Window = wide
	}
	// A typical event takes about 130 bytes.
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

// Err returns the reason why the connection accepts no more streams, or nil if it still
// accepts them.
func (c *Conn) Err() error {
	c.reading.Lock()
	defer c.reading.Unlock()
	return c.ended
}

// Close ends the connection and its streams, and waits until Ended has been called on all
// receivers.
func (c *Conn) Close() {
	c.closed.Store(true)
	cut(c.conn)
	<-c.done
}

// cut closes a connection without waiting. With TLS, Close would wait to send an alert.
func cut(conn net.Conn) {
	if encrypted, ok := conn.(*tls.Conn); ok {
		conn = encrypted.NetConn()
	}
	_ = conn.Close()
}

// write calls the given function, which writes frames, and then flushes the writer.
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
	cut(c.conn)
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
				return errors.New("the server is shutting down the connection")
			}
		}
	}
}

// goAway ends the streams that the server will not serve, and reports whether no stream is
// left. The remaining streams continue; new ones need another connection.
func (c *Conn) goAway(frame *http2.GoAwayFrame) bool {
	c.reading.Lock()
	defer c.reading.Unlock()
	c.ended = status.Error(codes.Unavailable, "the server is shutting down the connection")
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

// end ends a stream that the server has ended or that the client resets.
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
		cut(c.conn) // After GOAWAY, the server waits for the client to close.
	}
}
