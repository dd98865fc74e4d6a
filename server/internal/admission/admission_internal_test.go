package admission

import (
	"bytes"
	"context"
	"errors"
	"io"
	"net"
	"sync"
	"testing"
	"testing/synctest"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
	"go.uber.org/goleak"
	"golang.org/x/net/http2"
	"google.golang.org/grpc/mem"
	"google.golang.org/grpc/metadata"
	"google.golang.org/grpc/peer"
	"google.golang.org/grpc/tap"
	"google.golang.org/protobuf/types/known/wrapperspb"

	"github.com/gridstand/gridstand/server/internal/ratelimit"
	"github.com/gridstand/gridstand/server/limits"
)

func TestMain(m *testing.M) { goleak.VerifyTestMain(m) }

const (
	proxyAddress = "10.0.0.1"
	held         = 1 << 20
)

// fakeConn is a connection that carries no data. It records its read deadline and whether
// it is closed.
type fakeConn struct {
	net.Conn
	peer     net.Addr
	closed   bool
	deadline time.Time
}

func (c *fakeConn) RemoteAddr() net.Addr               { return c.peer }
func (c *fakeConn) Close() error                       { c.closed = true; return nil }
func (c *fakeConn) SetDeadline(time.Time) error        { return nil }
func (c *fakeConn) SetWriteDeadline(time.Time) error   { return nil }
func (c *fakeConn) SetReadDeadline(at time.Time) error { c.deadline = at; return nil }

// newControl returns a Control with low limits.
func newControl(t *testing.T) *Control {
	t.Helper()
	proxies, err := ratelimit.ParseProxies(proxyAddress)
	require.NoError(t, err)
	l := &limits.Limits{
		ConnectionsPerAddress: 100, NewConnectionsPerAddressPerSecond: 10, StreamsPerAddress: 20,
		IncompletePerConnection: 2, IncompletePerAddress: 3, HeldBytesPerAddress: held,
	}
	return New(nil, Config{
		Limits: l, Proxies: proxies, Refuse: func(e *limits.ExceededError) error { return e },
		Stopping: errors.New("stopping"), Closed: func(string, string) {}, Refused: func(string, string) {},
	})
}

// connections opens n connections from an address.
func connections(t *testing.T, c *Control, address string, n int) (fakes []*fakeConn, conns []*conn) {
	t.Helper()
	for port := range n {
		fake := &fakeConn{peer: &net.TCPAddr{IP: net.ParseIP(address), Port: port + 1}}
		conn, _ := c.enter(fake)
		require.NotNil(t, conn)
		fakes, conns = append(fakes, fake), append(conns, conn)
	}
	return fakes, conns
}

// open opens a stream, optionally one that a proxy forwards for an address. It returns the
// name of the limit that refused it, if any. The caller must call cancel when the stream
// ends, as gRPC does.
func (c *conn) open(forwarded ...string) (s *call, cancel context.CancelFunc, refusedBy string) {
	ctx, cancel := context.WithCancel(peer.NewContext(context.Background(), &peer.Peer{Addr: c.RemoteAddr()}))
	ctx, err := c.control.admit(ctx, &tap.Info{Header: metadata.MD{"x-forwarded-for": forwarded}})
	var exceeded *limits.ExceededError
	if errors.As(err, &exceeded) {
		refusedBy = exceeded.Field
	}
	return callOf(ctx), cancel, refusedBy
}

// mustOpen opens a stream whose handler waits for the request.
func (c *conn) mustOpen(t *testing.T, forwarded ...string) *call {
	t.Helper()
	s, cancel, refusedBy := c.open(forwarded...)
	t.Cleanup(cancel)
	require.Empty(t, refusedBy)
	s.begin()
	return s
}

// requireEmpty checks that all counts are zero.
func requireEmpty(t *testing.T, c *Control) {
	t.Helper()
	open, waiting := c.Streams()
	assert.Zero(t, open)
	assert.Zero(t, waiting)
	assert.Zero(t, c.Connections())
	assert.Zero(t, c.addresses.Len())
}

// Ensure that the connections of an address together are read no faster than allowed, even if
// they are opened anew, and that this affects neither other addresses nor proxies.
func TestConn_Rate(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		c := newControl(t)
		var took time.Duration
		read := func(address string, bytes int) {
			_, conns := connections(t, c, address, 1)
			began := time.Now()
			for ; bytes > 0; bytes -= maxInput {
				conns[0].awaitTurn(maxInput)
				conns[0].parsed()
			}
			took = time.Since(began)
			require.NoError(t, conns[0].Close())
		}
		read("192.0.2.1", burstSeconds*bytesPerSecond)
		assert.Zero(t, took)
		read("192.0.2.1", bytesPerSecond/4)
		assert.InDelta(t, 0.25, took.Seconds(), 0.01)
		read("192.0.2.2", bytesPerSecond)
		assert.Zero(t, took)
		read(proxyAddress, 4*burstSeconds*bytesPerSecond)
		assert.Zero(t, took)

		<-time.After(burstSeconds * time.Second) // in synctest's time
		_, conns := connections(t, c, "192.0.2.1", 1)
		for range 10 * bytesPerSecond / refusedBytes {
			conns[0].slow(0)
		}
		read("192.0.2.1", maxInput)
		assert.InDelta(t, 1, took.Seconds(), 0.01, "the debt has a limit")
		require.NoError(t, conns[0].Close())
		requireEmpty(t, c)
	})
}

// Ensure that a TLS handshake counts toward the rate of bytes, and that a proxy's does not.
func TestConn_Handshake(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		c := newControl(t)
		for _, tt := range []struct {
			address, sent string
			cost          float64
		}{
			{"192.0.2.1", tlsHandshake, handshakeBytes + float64(len(tlsHandshake))},
			{"192.0.2.2", preface, float64(len(preface))},
			{proxyAddress, tlsHandshake, 0},
		} {
			_, conns := connections(t, c, tt.address, 1)
			client, accepted := net.Pipe()
			conns[0].Conn.(*fakeConn).Conn = accepted
			go func() { _, _ = client.Write([]byte(tt.sent + "\x16")) }()
			for range len(tt.sent) + 1 {
				_, err := conns[0].Read(make([]byte, 1))
				require.NoError(t, err)
			}
			left := conns[0].from.input.Tokens()
			assert.InDelta(t, burstSeconds*bytesPerSecond-tt.cost, left, 1, tt.address)
			require.NoError(t, conns[0].Close())
			require.NoError(t, client.Close())
			require.NoError(t, accepted.Close())
		}
		requireEmpty(t, c)
	})
}

// Ensure that the server reads no further calls from an address while it works on many of
// its calls, unless this takes long, and that calls whose handlers wait for clients do not
// count.
func TestConn_Busy(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		c := newControl(t)
		c.Limits.StreamsPerAddress = 0
		_, conns := connections(t, c, "192.0.2.1", 5)
		for range maxBusy {
			conns[0].mustOpen(t)
		}
		conns[0].awaitTurn(maxInput)
		conns[0].parsed()

		var calls []*call
		for range maxBusy {
			s, cancel, _ := conns[0].open()
			t.Cleanup(cancel)
			calls = append(calls, s)
		}
		var waiting sync.WaitGroup
		began, waited := time.Now(), make(chan time.Duration, 3)
		for _, conn := range conns[1:4] {
			waiting.Go(func() {
				assert.Equal(t, conn != conns[1], conn.awaitTurn(maxInput), "false only if closed")
				waited <- time.Since(began)
				conn.parsed()
			})
		}
		_, others := connections(t, c, "192.0.2.2", 1)
		others[0].awaitTurn(maxInput)
		assert.Zero(t, time.Since(began))
		require.NoError(t, conns[1].Close())
		assert.Zero(t, <-waited, "closed")
		<-time.After(time.Second)
		for _, s := range calls[:maxInput/callBytes] {
			s.end()
		}
		for range 2 {
			assert.InDelta(t, 1, (<-waited).Seconds(), 0.01)
		}
		waiting.Wait()
		assert.False(t, conns[4].awaitTurn(maxInput+callBytes), "a handshake that has waited for too long")
		conns[4].handshaking.Store(false)
		assert.True(t, conns[4].awaitTurn(maxInput+callBytes))
		assert.InDelta(t, (time.Second + 2*maxTurnWait).Seconds(), time.Since(began).Seconds(), 0.01)
		from := conns[0].from
		for _, conn := range append(conns, others...) {
			require.NoError(t, conn.Close())
		}
		for _, s := range calls {
			s.end()
		}
		assert.Zero(t, from.busy.Load())
		assert.Zero(t, from.parsing.Load())
		requireEmpty(t, c)
	})
}

// Ensure that calls count as canceled if their connection is closed before their requests have
// arrived, except those of proxies.
func TestConn_Left(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		c := newControl(t)
		for address, counted := range map[string]float64{"192.0.2.1": refusedBytes, proxyAddress: 0} {
			_, conns := connections(t, c, address, 1)
			for range 10 {
				_, cancel, _ := conns[0].open()
				t.Cleanup(cancel)
			}
			arrived := conns[0].mustOpen(t)
			arrived.arrived()
			input := conns[0].from.input
			before := input.Tokens()
			require.NoError(t, conns[0].Close())
			assert.InDelta(t, 10*counted, before-input.Tokens(), 1)
			arrived.end()
		}
		requireEmpty(t, c)
	})
}

// Ensure that a connection is read more slowly after calls that gRPC refuses itself, and only
// then, however the client's bytes are split.
func TestGRPCConn_Read(t *testing.T) {
	t.Parallel()
	var sent bytes.Buffer
	sent.WriteString(http2.ClientPreface)
	framer := http2.NewFramer(&sent, nil)
	require.NoError(t, framer.WriteSettings())
	require.NoError(t, framer.WriteHeaders(http2.HeadersFrameParam{StreamID: 1, BlockFragment: []byte("a"), EndHeaders: true}))
	require.NoError(t, framer.WriteData(1, true, []byte("bcd")))
	require.NoError(t, framer.WriteHeaders(http2.HeadersFrameParam{StreamID: 3, BlockFragment: []byte("e")}))
	require.NoError(t, framer.WriteContinuation(3, false, []byte("f")))
	require.NoError(t, framer.WriteContinuation(3, true, []byte("gh")))
	require.NoError(t, framer.WritePing(false, [8]byte{}))
	require.NoError(t, framer.WriteHeaders(http2.HeadersFrameParam{StreamID: 5, EndHeaders: true, EndStream: true}))
	for size := 1; size <= sent.Len(); size++ {
		for _, refused := range []bool{false, true} {
			c := newControl(t)
			_, conns := connections(t, c, "192.0.2.1", 1)
			conn := conns[0]
			client, server := net.Pipe()
			reader := conn.speaksGRPC(server)
			go func() {
				_, _ = client.Write(sent.Bytes())
				_ = client.Close()
			}()
			calls := 0
			var err error
			for buffer := make([]byte, size); err == nil; {
				_, err = reader.Read(buffer)
				for calls += conn.calls; !refused && conn.calls > 0; {
					s, cancel, _ := conn.open()
					cancel()
					s.end()
				}
			}
			require.ErrorIs(t, err, io.EOF)
			assert.Equal(t, 3, calls)
			assert.Equal(t, refused, conn.penalty.Load() == int64(3*callPenalty), size)
			assert.Equal(t, !refused, conn.penalty.Load() == 0, size)
			require.NoError(t, conn.Close())
			requireEmpty(t, c)
		}
	}
}

// Ensure that an address cannot open any number of streams before they are late.
func TestControl_Waiting(t *testing.T) {
	t.Parallel()
	c := newControl(t)
	c.Limits.StreamsPerAddress = 0
	_, conns := connections(t, c, "192.0.2.1", 2)
	for range maxWaiting - 1 {
		conns[0].mustOpen(t)
	}
	last := conns[1].mustOpen(t)
	_, cancel, refusedBy := conns[1].open()
	defer cancel()
	assert.Equal(t, "incomplete_per_address", refusedBy)
	_, others := connections(t, c, "192.0.2.2", 1)
	others[0].mustOpen(t)
	last.arrived()
	conns[1].mustOpen(t)
	last.end()
	for _, conn := range append(conns, others...) {
		require.NoError(t, conn.Close())
	}
	requireEmpty(t, c)
}

// Ensure that nothing more is read from a client that has gone.
func TestConn_Gone(t *testing.T) {
	t.Parallel()
	c := newControl(t)
	client, accepted := net.Pipe()
	conn, _ := c.enter(&fakeConn{Conn: accepted, peer: &net.TCPAddr{IP: net.ParseIP("192.0.2.1"), Port: 1}})
	require.NotNil(t, conn)
	require.NoError(t, client.Close())
	_, err := conn.Write([]byte("answer"))
	require.ErrorIs(t, err, io.ErrClosedPipe)
	requireEmpty(t, c)
	require.NoError(t, accepted.Close())
}

// Ensure that an address that is not a proxy can exceed neither its limit on new
// connections per second, even if it closes them immediately, nor its limit on open
// connections.
func TestControl_Enter(t *testing.T) {
	t.Parallel()
	c := newControl(t)
	took := func(address string, n int) (taken int) {
		for port := range n {
			if conn, _ := c.enter(&fakeConn{peer: &net.TCPAddr{IP: net.ParseIP(address), Port: port + 1}}); conn != nil {
				taken++
				require.NoError(t, conn.Close())
				require.NoError(t, conn.Close(), "closed twice")
			}
		}
		return taken
	}
	taken := took("192.0.2.1", 300)
	assert.GreaterOrEqual(t, taken, 100)
	assert.Less(t, taken, 300)
	assert.Equal(t, 100, took("192.0.2.2", 100))
	assert.Equal(t, 300, took(proxyAddress, 300))

	_, conns := connections(t, c, "192.0.2.3", 100)
	_, exceeded := c.enter(&fakeConn{peer: conns[0].Conn.RemoteAddr()})
	assert.NotNil(t, exceeded)
	for _, conn := range conns {
		require.NoError(t, conn.Close())
	}
	requireEmpty(t, c)
}

// Ensure that each gRPC connection counts as one client, and that all HTTP connections from
// an address that has no gRPC connection count as one client.
func TestControl_Clients(t *testing.T) {
	t.Parallel()
	c := newControl(t)
	assert.Equal(t, 0, c.Clients())
	_, programs := connections(t, c, "192.0.2.1", 3)
	assert.Equal(t, 0, c.Clients(), "not known before the handshake")
	_, browser := connections(t, c, "192.0.2.2", 2)
	programs[0].handshaking.Store(false)
	programs[1].handshaking.Store(false)
	programs[2].dispatched.Store(true)
	browser[0].dispatched.Store(true)
	browser[1].dispatched.Store(true)
	assert.Equal(t, 3, c.Clients())
	for _, one := range append(programs, browser...) {
		require.NoError(t, one.Close())
	}
	assert.Equal(t, 0, c.Clients())
}

// Ensure that CloseAfter closes a connection after the delay of the first call, even if CloseAfter
// is called again with a longer delay, and that it does not close a proxy's connection.
func TestControl_CloseAfter(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		c := newControl(t)
		fakes, conns := connections(t, c, "192.0.2.1", 2)
		proxies, proxied := connections(t, c, proxyAddress, 1)
		c.CloseAfter(conns[0].RemoteAddr(), time.Minute)
		c.CloseAfter(proxied[0].RemoteAddr(), time.Minute)
		c.CloseAfter(&net.UnixAddr{}, time.Minute)
		c.CloseAfter(conns[0].RemoteAddr(), time.Hour)
		assert.Equal(t, time.Now().Add(time.Minute), fakes[0].deadline)
		assert.Zero(t, fakes[1].deadline)
		assert.Zero(t, proxies[0].deadline)
	})
}

// Ensure that a stream is counted from the arrival of its headers until it ends, no matter
// how it ends.
func TestControl_Streams(t *testing.T) {
	t.Parallel()
	c := newControl(t)
	_, conns := connections(t, c, "192.0.2.1", 1)
	for name, tt := range map[string]struct {
		live func(s *call, cancel context.CancelFunc)
		// open and waiting are the counts before the handler ends. Not every case has a
		// handler.
		open, waiting int
	}{
		"answered":                    {func(s *call, _ context.CancelFunc) { s.begin(); s.arrived() }, 1, 0},
		"its request does not arrive": {func(s *call, _ context.CancelFunc) { s.begin() }, 1, 1},
		"reset while it is waiting":   {func(s *call, cancel context.CancelFunc) { s.begin(); cancel() }, 1, 1},
		"reset without a handler":     {func(_ *call, cancel context.CancelFunc) { cancel() }, 0, 0},
		"an unknown method":           {func(_ *call, cancel context.CancelFunc) { cancel() }, 0, 0},
	} {
		s, cancel, refusedBy := conns[0].open()
		require.Empty(t, refusedBy, name)
		tt.live(s, cancel)
		c.sweep()
		open, waiting := c.Streams()
		assert.Equal(t, tt.open, open, name)
		assert.Equal(t, tt.waiting, waiting, name)
		s.end()
		open, waiting = c.Streams()
		assert.Zero(t, open, name)
		assert.Zero(t, waiting, name)
		require.Error(t, s.Err(), name)
		cancel()
	}
	// Streams whose request has not arrived end with their connection, even if gRPC
	// cancels them later and admits another stream whose headers it has already read.
	_, cancel, _ := conns[0].open()
	defer cancel()
	begun := conns[0].mustOpen(t)
	require.NoError(t, conns[0].Close())
	requireEmpty(t, c)
	_, late, _ := conns[0].open()
	defer late()
	begun.end()
	requireEmpty(t, c)
}

// Ensure that a stream whose request does not arrive ends after the timeout, and that a
// stream whose request has arrived stays open.
func TestControl_Overdue(t *testing.T) {
	t.Parallel()
	c := newControl(t)
	_, conns := connections(t, c, "192.0.2.1", 1)
	late, complete := conns[0].mustOpen(t), conns[0].mustOpen(t)
	complete.arrived()
	for range requestTimeout {
		c.sweep()
		require.NoError(t, late.Err())
	}
	c.sweep()
	require.ErrorIs(t, late.Err(), context.DeadlineExceeded)
	require.NoError(t, complete.Err())
	select {
	case <-late.Done():
	default:
		assert.Fail(t, "gRPC is not notified")
	}
}

// Ensure that only late streams count toward the limits on incomplete requests per
// connection and per address.
func TestControl_Incomplete(t *testing.T) {
	t.Parallel()
	c := newControl(t)
	_, conns := connections(t, c, "192.0.2.1", 2)
	alive := func(streams []*call) (n int) {
		for _, s := range streams {
			if s.Err() == nil {
				n++
			}
		}
		return n
	}
	var streams []*call
	for range 5 {
		streams = append(streams, conns[0].mustOpen(t))
	}
	c.sweep()
	require.Equal(t, 5, alive(streams))
	c.sweep()
	require.Equal(t, 2, alive(streams))
	for _, s := range streams {
		if s.Err() != nil {
			s.end()
		}
	}
	_, _, refusedBy := conns[0].open()
	require.Equal(t, "incomplete_per_connection", refusedBy)

	other := []*call{conns[1].mustOpen(t), conns[1].mustOpen(t)}
	c.sweep()
	c.sweep()
	require.Equal(t, 1, alive(other))
	for _, s := range other {
		if s.Err() != nil {
			s.end()
		}
	}
	_, _, refusedBy = conns[1].open()
	require.Equal(t, "incomplete_per_address", refusedBy)

	for _, s := range streams {
		if s.Err() == nil {
			s.arrived()
			break
		}
	}
	conns[1].mustOpen(t)
	_, theirs := connections(t, c, "192.0.2.2", 1)
	theirs[0].mustOpen(t)
}

// Ensure that the limit on an address's streams applies across all its connections, and
// that forwarded streams count toward the address that the proxy reports.
func TestControl_Addresses(t *testing.T) {
	t.Parallel()
	c := newControl(t)
	_, conns := connections(t, c, "192.0.2.1", 2)
	var all []*call
	for n := range 20 {
		all = append(all, conns[n%2].mustOpen(t))
	}
	_, _, refusedBy := conns[0].open()
	require.Equal(t, "streams_per_address", refusedBy)
	all[0].end()
	all[0] = conns[1].mustOpen(t)

	_, proxied := connections(t, c, proxyAddress, 1)
	for range 20 {
		all = append(all, proxied[0].mustOpen(t, "192.0.2.7"))
	}
	_, _, refusedBy = proxied[0].open("192.0.2.7")
	require.Equal(t, "streams_per_address", refusedBy)
	all = append(all, proxied[0].mustOpen(t, "192.0.2.8"))
	for _, s := range all {
		s.end()
	}
	for _, conn := range append(conns, proxied...) {
		require.NoError(t, conn.Close())
	}
	requireEmpty(t, c)
}

// encode encodes a response the way gRPC does, and returns the buffers that gRPC frees
// later.
func encode(t *testing.T, s *call, size int) mem.BufferSlice {
	t.Helper()
	reply, err := s.answer(wrapperspb.Bytes(make([]byte, size)))
	require.NoError(t, err)
	data, err := newCodec().Marshal(reply)
	require.NoError(t, err)
	require.GreaterOrEqual(t, data.Len(), size)
	return data
}

// Ensure that a response is counted until gRPC frees it, and that a connection with too
// many unread bytes is closed while others stay open.
func TestControl_Answers(t *testing.T) {
	t.Parallel()
	c := newControl(t)
	fakes, conns := connections(t, c, "192.0.2.1", 2)
	s := conns[0].mustOpen(t)
	for _, size := range []int{0, 1, smallAnswer - 5, smallAnswer, held / connectionShare / 2} {
		for range 10 {
			data := encode(t, s, size)
			assert.GreaterOrEqual(t, s.from.held.Load(), int64(size))
			data.Free()
			assert.Zero(t, s.from.held.Load())
		}
	}
	var unread []mem.BufferSlice
	for range connectionShare * 4 / 5 {
		unread = append(unread, encode(t, s, held/connectionShare/8))
		require.False(t, fakes[0].closed)
	}
	for !fakes[0].closed {
		unread = append(unread, encode(t, s, held/connectionShare/8))
	}
	assert.Zero(t, s.from.held.Load(), "the connection is closed")
	for _, data := range unread {
		data.Free()
	}
	encode(t, s, 1).Free()
	assert.Zero(t, s.from.held.Load())
	assert.False(t, fakes[1].closed)
	s.end()
	require.NoError(t, conns[1].Close())
	requireEmpty(t, c)
}

// Ensure that large responses are refused for an address behind a proxy that has too many
// unread bytes, while the proxy's connection stays open for other addresses.
func TestControl_AnswersForwarded(t *testing.T) {
	t.Parallel()
	c := newControl(t)
	fakes, conns := connections(t, c, proxyAddress, 1)
	s := conns[0].mustOpen(t, "192.0.2.1")
	large, parts := wrapperspb.Bytes(make([]byte, held/4)), 0
	for ; parts < 10; parts++ {
		reply, err := s.answer(large)
		if err != nil {
			var exceeded *limits.ExceededError
			require.ErrorAs(t, err, &exceeded)
			assert.Equal(t, "held_bytes_per_address", exceeded.Field)
			break
		}
		_, err = newCodec().Marshal(reply)
		require.NoError(t, err)
	}
	assert.Equal(t, 3, parts)
	// Small responses are still sent, because their calls may have taken effect.
	for s.from.held.Load() <= held {
		encode(t, s, largeAnswer/2)
	}
	_, _, refusedBy := conns[0].open("192.0.2.1")
	assert.Equal(t, "held_bytes_per_address", refusedBy)
	conns[0].mustOpen(t, "192.0.2.2").end()
	assert.False(t, fakes[0].closed)
	s.end()
	require.NoError(t, conns[0].Close())
	requireEmpty(t, c)
}

// Ensure that unread responses to an address behind a proxy count even if no call of the
// address is open: gRPC encodes and sends a response after the call has ended.
func TestControl_AnswersForwarded_CallsEnded(t *testing.T) {
	t.Parallel()
	c := newControl(t)
	_, conns := connections(t, c, proxyAddress, 1)
	large := wrapperspb.Bytes(make([]byte, held/4))
	var unread []mem.BufferSlice
	for range 3 {
		s := conns[0].mustOpen(t, "192.0.2.1")
		reply, err := s.answer(large)
		require.NoError(t, err)
		s.end()
		data, err := newCodec().Marshal(reply)
		require.NoError(t, err)
		unread = append(unread, data)
	}
	s := conns[0].mustOpen(t, "192.0.2.1")
	_, err := s.answer(large)
	var exceeded *limits.ExceededError
	require.ErrorAs(t, err, &exceeded)
	assert.Equal(t, "held_bytes_per_address", exceeded.Field)
	s.end()

	known := c.addresses.Len()
	for _, data := range unread {
		data.Free()
	}
	assert.Equal(t, known-1, c.addresses.Len(), "an address without calls and unread responses")
	s = conns[0].mustOpen(t, "192.0.2.1")
	encode(t, s, held/4)
	s.end()
	require.NoError(t, conns[0].Close())
	requireEmpty(t, c)
}

// Ensure that Stop closes connections that are in their handshake, for which gRPC would wait, and
// that a closed connection gets no stream.
func TestControl_Stop(t *testing.T) {
	t.Parallel()
	c := newControl(t)
	fakes, conns := connections(t, c, "192.0.2.1", 2)
	require.NoError(t, conns[1].SetDeadline(time.Now()))
	require.NoError(t, conns[1].SetDeadline(time.Time{}))
	c.Stop()
	assert.True(t, fakes[0].closed)
	assert.False(t, fakes[1].closed)
	c.CloseAll()
	assert.True(t, fakes[1].closed)
	_, err := c.admit(peer.NewContext(t.Context(), &peer.Peer{Addr: conns[1].RemoteAddr()}), &tap.Info{})
	require.ErrorIs(t, err, c.Stopping)
	requireEmpty(t, c)
}
