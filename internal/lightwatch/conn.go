// Package lightwatch reads many Watch streams with little processor time, frame
// by frame: the streams of a connection share one goroutine and its buffers, and
// of a message only what tells its place in the game is decoded. gRPC's own
// client has a goroutine and several allocations for each message. It serves load
// and measurements, in which thousands of watchers run beside the server.
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
	// Authority is the server's "host:port" as the caller knows it, whose host the
	// certificate must carry; empty is the address.
	Authority string
	// TLS encrypts the connection; nil is clear text.
	TLS *tls.Config
	// UserAgent names the program to the server.
	UserAgent string
	// Window is how many bytes the server may send on a stream before they are
	// read; 0 is as many as it likes.
	Window uint32
	// Streams is how many streams the connection will carry, as far as known. A
	// connection for a few has smaller buffers.
	Streams int
}

// Receiver is told what a stream brings, one thing after the other, by the
// goroutine that reads the connection. While a method runs, no stream of the
// connection goes on and none may be opened or canceled.
type Receiver interface {
	// Opened is called when the server has accepted the call.
	Opened()
	// Update is called with each message. The stream ends with the error that it
	// returns.
	Update(u *Update) error
	// Ended is called once, as the last: with nil if the server ended the stream
	// as complete, with what Update returned, or with an error that status.FromError
	// knows.
	Ended(err error)
}

// Conn is a connection with any number of streams. Its methods are safe for
// concurrent use, but not within those of a Receiver.
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

	// Reading guards what the goroutine that reads shares with others.
	reading sync.Mutex
	streams map[uint32]*Stream
	ended   error // why the connection takes no more streams

	update Update // of the message that is being received
	unread uint32 // bytes since the connection's window was renewed
}

const (
	// wide is a window that no stream fills before it is renewed.
	wide = 1 << 30
	// initialWindow is what HTTP/2 begins with, for streams and connections.
	initialWindow = 1<<16 - 1
	// maxMessage bounds what one message may take: gRPC's default.
	maxMessage = 4 << 20
	// maxHeaders bounds the headers of an answer.
	maxHeaders = 64 << 10
	// handshake bounds what comes before the first stream.
	handshake = 20 * time.Second
)

// Dial connects to "host:port", and returns when the server has said how many
// streams it allows. The connection must be closed. Errors are those of a status.
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

// unreachable is the error of a connection that was not made, in gRPC's words.
func unreachable(ctx context.Context, err error) error {
	if errors.Is(ctx.Err(), context.Canceled) {
		return status.FromContextError(ctx.Err()).Err()
	}
	return status.Errorf(codes.Unavailable, `connection error: desc = "%v"`, err)
}

// begin exchanges what comes before the first stream.
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

// Close ends the connection and its streams, and waits until their receivers know
// of it.
func (c *Conn) Close() {
	c.closed.Store(true)
	c.Break()
	<-c.done
}

// Break cuts the connection without waiting for anything.
func (c *Conn) Break() {
	raw := c.conn
	if encrypted, ok := raw.(*tls.Conn); ok {
		raw = encrypted.NetConn() // whose Close waits to say goodbye
	}
	_ = raw.Close()
}

// write writes what to does, at once.
func (c *Conn) write(to func()) {
	c.writing.Lock()
	defer c.writing.Unlock()
	to()
	_ = c.out.Flush()
}

// run reads until the connection ends, and ends what is left then.
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

// answered takes the headers of an answer, or its trailers.
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

// end ends a stream that the server has ended, or that is to be reset.
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
		c.Break() // The server waits for that after it said that it goes.
	}
}
