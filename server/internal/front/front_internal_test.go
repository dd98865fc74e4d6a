package front

import (
	"bufio"
	"context"
	"crypto/tls"
	"errors"
	"net"
	"net/http"
	"net/http/httptest"
	"runtime"
	"testing"
	"testing/synctest"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
	"google.golang.org/grpc"
	"google.golang.org/grpc/codes"
	"google.golang.org/grpc/credentials"
	"google.golang.org/grpc/mem"
	"google.golang.org/grpc/metadata"
	"google.golang.org/grpc/peer"
	"google.golang.org/grpc/status"
	"google.golang.org/grpc/tap"
	"google.golang.org/protobuf/types/known/wrapperspb"

	tlstest "github.com/gridstand/gridstand/internal/testkit/tls"
	pb "github.com/gridstand/gridstand/proto/gridstand/v1"
	"github.com/gridstand/gridstand/server/limits"
)

const (
	proxyAddress, clientAddress, otherAddress = "10.0.0.1", "192.0.2.1", "192.0.2.2"

	anyMethod = pb.GameService_GetGame_FullMethodName
)

// fakeConn is a connection that carries no data.
type fakeConn struct {
	net.Conn
	peer   net.Addr
	closed bool
}

func (c *fakeConn) RemoteAddr() net.Addr             { return c.peer }
func (c *fakeConn) Close() error                     { c.closed = true; return nil }
func (c *fakeConn) SetDeadline(time.Time) error      { return nil }
func (c *fakeConn) SetWriteDeadline(time.Time) error { return nil }

func (c *fakeConn) Read(b []byte) (int, error) {
	clear(b)
	return len(b), nil
}

// newFront returns a Front with the given limits and a proxy.
func newFront(t *testing.T, l limits.Limits) *Front {
	t.Helper()
	proxies, err := ParseProxies(proxyAddress)
	require.NoError(t, err)
	return New(nil, Config{
		Budgets: NewBudgets(&l, proxies), Refuse: func(e *limits.ExceededError) error { return e }, Stopping: errors.New("stopping"),
		Answer: func(w http.ResponseWriter, _ *http.Request, _ error) { w.WriteHeader(http.StatusTooManyRequests) },
		Closed: func(string, string) {}, Refused: func(string, string) {},
	})
}

// connect opens a connection.
func (f *Front) connect(t *testing.T, address string) (*fakeConn, *conn) {
	t.Helper()
	fake := &fakeConn{peer: &net.TCPAddr{IP: net.ParseIP(address), Port: 1}}
	c, exceeded := f.enter(fake)
	require.Empty(t, exceeded)
	return fake, c
}

// open opens a stream, optionally one that a proxy forwards for an address. It returns the name of the
// limit that refused it, if any. The caller must call cancel when the stream ends, as gRPC does.
func (c *conn) open(method string, forwarded ...string) (s *call, cancel context.CancelFunc, refusedBy string) {
	ctx, cancel := context.WithCancel(peer.NewContext(context.Background(), &peer.Peer{Addr: c.RemoteAddr()}))
	ctx, err := c.front.tap(ctx, &tap.Info{FullMethodName: method, Header: metadata.MD{"x-forwarded-for": forwarded}})
	return callOf(ctx), cancel, fieldOf(err)
}

// unary runs the handler of a unary call with the Front's interceptor.
func (f *Front) unary(s *call, handler grpc.UnaryHandler) (any, error) {
	return f.Unary(func(ctx context.Context, request any, _ *grpc.UnaryServerInfo, handler grpc.UnaryHandler) (any, error) {
		return handler(ctx, request)
	})(s, nil, nil, handler)
}

// stream is like unary, for a stream.
func (f *Front) stream(stream grpc.ServerStream, info *grpc.StreamServerInfo, handler grpc.StreamHandler) error {
	return f.Stream(func(server any, stream grpc.ServerStream, _ *grpc.StreamServerInfo, handler grpc.StreamHandler) error {
		return handler(server, stream)
	})(nil, stream, info, handler)
}

func fieldOf(err error) string {
	var exceeded *limits.ExceededError
	errors.As(err, &exceeded)
	if exceeded == nil {
		return ""
	}
	return exceeded.Field
}

// single is a listener for one connection.
type single struct {
	net.Listener
	conn net.Conn
}

func (s *single) Accept() (net.Conn, error) {
	conn := s.conn
	if s.conn = nil; conn == nil {
		return nil, net.ErrClosed
	}
	return conn, nil
}

// Ensure that an address may have a number of connections, and another one when one is closed, that more are
// closed, and that this does not apply to proxies.
func TestAccept_Connections(t *testing.T) {
	t.Parallel()
	f := newFront(t, limits.Limits{limits.ConnectionsPerAddress: 2})
	var closed []string
	f.Closed = func(limit, address string) { closed = append(closed, limit+" "+address) }
	_, first := f.connect(t, clientAddress)
	_, second := f.connect(t, clientAddress)
	first.prove()
	second.prove()
	isFull := func() {
		t.Helper()
		full := &fakeConn{peer: first.Conn.RemoteAddr()}
		f.Listener, closed = &single{conn: full}, nil
		_, err := f.Accept()
		require.ErrorIs(t, err, net.ErrClosed)
		assert.True(t, full.closed)
		assert.Equal(t, []string{"connections_per_address " + clientAddress}, closed)
	}
	isFull()
	f.connect(t, otherAddress)
	require.NoError(t, second.Close())
	require.NoError(t, second.Close(), "only the first counts")
	_, third := f.connect(t, clientAddress)
	third.prove()
	isFull()
	for range 3 {
		f.connect(t, proxyAddress)
	}
	f.CloseAll()
	assert.Zero(t, f.Connections())
}

// Ensure that the oldest connection that has proven nothing makes room for another one of its address,
// and that this closes neither connections that are in use nor those of a proxy.
func TestEnter_Unproven(t *testing.T) {
	t.Parallel()
	f := newFront(t, limits.Limits{limits.ConnectionsPerAddress: 3})
	inUse, used := f.connect(t, clientAddress)
	used.prove()
	proxy, _ := f.connect(t, proxyAddress)
	other, _ := f.connect(t, otherAddress)
	first, _ := f.connect(t, clientAddress)
	second, _ := f.connect(t, clientAddress)
	assert.False(t, first.closed)
	f.connect(t, clientAddress)
	assert.True(t, first.closed)
	for _, c := range []*fakeConn{inUse, second, proxy, other} {
		assert.False(t, c.closed)
	}
	f.Stop()
	assert.True(t, second.closed)
	assert.False(t, inUse.closed)
	_, err := f.tap(peer.NewContext(t.Context(), &peer.Peer{Addr: used.RemoteAddr()}), &tap.Info{FullMethodName: anyMethod})
	assert.Equal(t, f.Stopping, err, "new calls are refused")
}

// Ensure that an address may have a number of open calls, whether or not a handler has begun, also
// behind a proxy, and that others have their own.
func TestTap_Calls(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		f := newFront(t, limits.Limits{limits.StreamsPerAddress: 2})
		_, c := f.connect(t, clientAddress)
		_, leave, refusedBy := c.open(anyMethod)
		require.Empty(t, refusedBy)
		s, end, refusedBy := c.open(anyMethod)
		require.Empty(t, refusedBy)
		for _, method := range []string{anyMethod, pb.GameService_Move_FullMethodName, "/grpc.health.v1.Health/Watch"} {
			_, _, refusedBy = c.open(method)
			assert.Equal(t, "streams_per_address", refusedBy)
		}
		_, proxy := f.connect(t, proxyAddress)
		_, _, refusedBy = proxy.open(anyMethod, clientAddress)
		assert.Equal(t, "streams_per_address", refusedBy)
		_, endOther, refusedBy := proxy.open(anyMethod, otherAddress)
		require.Empty(t, refusedBy)

		leave() // before its handler has begun
		synctest.Wait()
		_, endThird, refusedBy := c.open(anyMethod)
		require.Empty(t, refusedBy)
		_, err := f.unary(s, func(context.Context, any) (any, error) {
			assert.Equal(t, 1, f.Running())
			end() // The call counts until its handler returns.
			synctest.Wait()
			assert.Equal(t, 3, f.Open())
			return &wrapperspb.BytesValue{}, nil
		})
		require.NoError(t, err)
		assert.Equal(t, 2, f.Open())
		endThird()
		endOther()
		synctest.Wait()
		assert.Zero(t, f.Open())
	})
}

// Ensure that a gRPC call ends if its request does not arrive in time, and only then, and that no timer
// keeps a call in memory that was reset before.
func TestTap_Late(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		f := newFront(t, limits.Limits{})
		_, c := f.connect(t, clientAddress)
		late, _, _ := c.open(anyMethod)
		lateStream, _, _ := c.open(anyMethod)
		reset, end, _ := c.open(anyMethod)
		end()
		synctest.Wait()
		assert.False(t, reset.late.Stop())
		unary, _, _ := c.open(anyMethod)
		stream, _, _ := c.open(anyMethod)
		watch := &grpc.StreamServerInfo{FullMethod: anyMethod}
		_, err := f.unary(unary, func(context.Context, any) (any, error) {
			return &wrapperspb.BytesValue{}, f.stream(requests{ctx: stream}, watch, func(_ any, s grpc.ServerStream) error {
				require.NoError(t, s.RecvMsg(nil))
				return f.stream(requests{ctx: lateStream}, watch, func(any, grpc.ServerStream) error {
					time.Sleep(requestTimeout) //nolint:forbidigo // The bubble's clock is fake.
					synctest.Wait()
					return nil
				})
			})
		})
		require.NoError(t, err)
		require.NoError(t, unary.Err())
		require.NoError(t, stream.Err())
		require.Error(t, late.Err())
		require.Error(t, lateStream.Err())
	})
}

// pipe is one end of a connection in memory.
type pipe struct {
	net.Conn
	peer net.Addr
}

func (p pipe) RemoteAddr() net.Addr { return p.peer }

// Ensure that an address's TLS handshakes wait for its calls, and fail if that takes too long, but not
// those of a proxy.
func TestCredentials_InTurn(t *testing.T) {
	t.Parallel()
	certificate, err := tls.LoadX509KeyPair(tlstest.NewAuthority(t).Issue(t))
	require.NoError(t, err)
	synctest.Test(t, func(t *testing.T) {
		f := newFront(t, limits.Limits{limits.ReadsPerAddressPerSecond: 100})
		creds := f.Credentials(&tls.Config{
			NextProtos:     []string{"h2"},
			GetCertificate: func(*tls.ClientHelloInfo) (*tls.Certificate, error) { return &certificate, nil },
		})
		handshake := func(address string) error {
			client, accepted := net.Pipe()
			c, exceeded := f.enter(pipe{accepted, &net.TCPAddr{IP: net.ParseIP(address), Port: 1}})
			require.Empty(t, exceeded)
			go func() {
				_ = tls.Client(client, &tls.Config{InsecureSkipVerify: true, NextProtos: []string{"h2"}}).Handshake()
			}()
			defer client.Close()
			_, _, err := creds.ServerHandshake(c)
			return err
		}
		var leave []func()
		for range max(1, runtime.GOMAXPROCS(0)/2) {
			end, err := f.Budgets.Of(clientAddress).Enter(t.Context(), Reading)
			require.NoError(t, err)
			leave = append(leave, end)
			_, err = f.Budgets.Of(proxyAddress).Enter(t.Context(), Reading)
			require.NoError(t, err)
		}
		began := time.Now()
		require.ErrorContains(t, handshake(clientAddress), "reads from one address a second")
		assert.Equal(t, HandshakeTimeout, time.Since(began))
		require.NoError(t, handshake(otherAddress))
		assert.InDelta(t, Burst*100-1, f.Budgets.Of(otherAddress).reads.Tokens(), 0.1, "a handshake is part of its connection")
		require.NoError(t, handshake(proxyAddress))
		time.AfterFunc(HandshakeTimeout/2, leave[0])
		require.NoError(t, handshake(clientAddress))
	})
}

// Ensure that calls other than moves count as reads, that mistakes do, too, and that the connection of
// an address is closed after many refusals, unless it belongs to a proxy.
func TestTap_Refusals(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		f := newFront(t, limits.Limits{limits.ReadsPerAddressPerSecond: 1})
		closed := 0
		f.Closed = func(string, string) { closed++ }
		fake, c := f.connect(t, clientAddress)
		fakeProxy, proxy := f.connect(t, proxyAddress)
		for _, each := range []*conn{c, proxy} {
			var s *call
			for n := range Burst + refusalBurst - 1 {
				var refusedBy string
				s, _, refusedBy = each.open(pb.GameService_Move_FullMethodName, otherAddress)
				require.Empty(t, refusedBy)
				err := status.Error([]codes.Code{codes.NotFound, codes.PermissionDenied}[n%2], "a mistake")
				_, _ = f.unary(s, func(ctx context.Context, _ any) (any, error) { Paid(ctx); return nil, err })
			}
			_, _, refusedBy := each.open(anyMethod, otherAddress)
			assert.Equal(t, "reads_per_address_per_second", refusedBy)
			_, _, refusedBy = each.open(pb.GameService_Move_FullMethodName, otherAddress)
			require.Empty(t, refusedBy)
			_, _, _ = each.open(anyMethod, otherAddress)
			_, _, _ = each.open(anyMethod, otherAddress)
			s.notice(status.Error(codes.ResourceExhausted, "in progress when the connection was closed"))
		}
		assert.True(t, fake.closed)
		assert.Equal(t, 1, closed)
		assert.False(t, fakeProxy.closed)
		_, _, refusedBy := c.open(anyMethod)
		assert.Empty(t, refusedBy, "the error says that the server stops, so that the client connects again")
		time.Sleep(time.Second) //nolint:forbidigo // The bubble's clock is fake.
		_, _, refusedBy = proxy.open(anyMethod, otherAddress)
		assert.Empty(t, refusedBy)
	})
}

// Ensure that a move counts as a read if it ends before it counts toward its player's limit, and only
// then.
func TestTap_Free(t *testing.T) {
	t.Parallel()
	const move = pb.GameService_Move_FullMethodName
	mistake := status.Error(codes.DeadlineExceeded, "too late")
	for name, tt := range map[string]struct {
		free bool
		make func(f *Front, c *conn)
	}{
		"reset": {false, func(_ *Front, c *conn) {
			_, end, _ := c.open(move)
			end()
		}},
		"without a player": {false, func(f *Front, c *conn) {
			s, _, _ := c.open(move)
			_, _ = f.unary(s, func(context.Context, any) (any, error) { return nil, mistake })
		}},
		"over HTTP": {false, func(f *Front, c *conn) {
			ctx := peer.NewContext(context.Background(), &peer.Peer{Addr: c.RemoteAddr()})
			f.Handler(http.NotFoundHandler()).ServeHTTP(httptest.NewRecorder(), httptest.NewRequestWithContext(ctx, http.MethodPost, move, http.NoBody))
		}},
		"with a player": {true, func(f *Front, c *conn) {
			s, _, _ := c.open(move)
			_, _ = f.unary(s, func(ctx context.Context, _ any) (any, error) { Paid(ctx); return nil, mistake })
		}},
		"without the store": {true, func(f *Front, c *conn) {
			f.StoreUp(false)
			_, end, _ := c.open(move)
			end()
		}},
	} {
		synctest.Test(t, func(t *testing.T) {
			f := newFront(t, limits.Limits{limits.ReadsPerAddressPerSecond: 1})
			_, c := f.connect(t, clientAddress)
			for range Burst {
				tt.make(f, c)
				synctest.Wait()
			}
			_, _, refusedBy := c.open(anyMethod)
			assert.Equal(t, tt.free, refusedBy == "", name)
		})
	}
}

// Ensure that what a client sends counts as reads unless it is part of a request or comes from a proxy, and that the
// client pays for it before its address opens new connections, at the rate of its calls.
func TestConn_Read(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		f := newFront(t, limits.Limits{limits.ReadsPerAddressPerSecond: 1})
		fake, c := f.connect(t, clientAddress)
		go func() { <-f.http.conns }()
		require.ErrorIs(t, (&handshake{front: f}).dispatch(c, c), credentials.ErrConnDispatched)
		handler := f.Handler(http.HandlerFunc(func(http.ResponseWriter, *http.Request) {}))
		request := httptest.NewRequestWithContext(peer.NewContext(t.Context(), &peer.Peer{Addr: c.RemoteAddr()}),
			http.MethodPost, pb.GameService_GetGame_FullMethodName, http.NoBody)
		for range 2 * (Burst + refusalBurst) {
			time.Sleep(time.Second) //nolint:forbidigo // The bubble's clock is fake.
			_, _ = c.Read(make([]byte, bytesPerRequest))
			handler.ServeHTTP(httptest.NewRecorder(), request)
		}
		assert.InDelta(t, Burst, c.budget.reads.Tokens(), 1.5, "requests count only as calls")
		assert.False(t, fake.closed)
		for range 4 * (Burst + refusalBurst) {
			_, _ = c.Read(make([]byte, bytesPerRead/2))
		}
		assert.True(t, fake.closed)
		_, proxy := f.connect(t, proxyAddress)
		_, _ = proxy.Read(make([]byte, bytesPerRead))
		assert.InDelta(t, Burst, proxy.budget.reads.Tokens(), 0)
		_, other := f.connect(t, otherAddress)
		_, _ = other.Read(make([]byte, 20*bytesPerRead))
		for _, want := range []string{"reads_per_address_per_second", ""} {
			_, exceeded := f.enter(&fakeConn{peer: other.RemoteAddr()})
			assert.Equal(t, want, exceeded)
			time.Sleep(2 * time.Second) //nolint:forbidigo // The bubble's clock is fake.
		}
	})
}

// Ensure that responses count until gRPC releases them, that the connection of an address with too many
// is closed, and that a call behind a proxy is then refused.
func TestUnread(t *testing.T) {
	t.Parallel()
	f := newFront(t, limits.Limits{limits.HeldBytesPerAddress: 100_000})
	answer := func(c *conn, size int) mem.BufferSlice {
		s, _, _ := c.open(anyMethod, clientAddress)
		reply, err := f.unary(s, func(context.Context, any) (any, error) { return wrapperspb.Bytes(make([]byte, size)), nil })
		require.NoError(t, err)
		buffers, err := passing{}.Marshal(reply)
		require.NoError(t, err)
		return buffers
	}
	fake, c := f.connect(t, clientAddress)
	for range 10 {
		buffers := answer(c, 60_000)
		buffers.Free()
		small := answer(c, 10)
		small.Free()
	}
	assert.Zero(t, c.budget.unread.Load())
	kept := answer(c, 60_000)
	assert.False(t, fake.closed)
	more := answer(c, 60_000)
	assert.True(t, fake.closed)
	kept.Free()
	more.Free()
	assert.Zero(t, c.budget.unread.Load(), "a closed connection holds nothing")

	fake, proxy := f.connect(t, proxyAddress)
	kept = append(answer(proxy, 60_000), answer(proxy, 60_000)...)
	_, _, refusedBy := proxy.open(anyMethod, clientAddress)
	assert.Equal(t, "held_bytes_per_address", refusedBy)
	_, _, refusedBy = proxy.open(anyMethod, otherAddress)
	require.Empty(t, refusedBy)
	assert.False(t, fake.closed)
	kept.Free()
	_, _, refusedBy = proxy.open(anyMethod, clientAddress)
	require.Empty(t, refusedBy)
}

// Ensure that a stream learns when gRPC has written or dropped a message, however small.
func TestNotify(t *testing.T) {
	t.Parallel()
	released := 0
	message := Notify(mem.BufferSlice{mem.SliceBuffer("an "), mem.SliceBuffer("event")}, func() { released++ })
	assert.Equal(t, "an event", string(message.Materialize()))
	message.Ref() // in gRPC's queue
	message.Free()
	assert.Zero(t, released)
	message.Free()
	assert.Equal(t, 1, released)
}

// hijackable is a response whose connection can be hijacked.
type hijackable struct{ *httptest.ResponseRecorder }

func (hijackable) Hijack() (net.Conn, *bufio.ReadWriter, error) { return nil, nil, nil }

// Ensure that a request that has hijacked its connection counts until that is closed.
func TestHandler_Hijacked(t *testing.T) {
	t.Parallel()
	f := newFront(t, limits.Limits{})
	_, c := f.connect(t, clientAddress)
	ctx := peer.NewContext(t.Context(), &peer.Peer{Addr: c.RemoteAddr()})
	f.Handler(http.HandlerFunc(func(w http.ResponseWriter, _ *http.Request) {
		_, _, err := w.(http.Hijacker).Hijack()
		assert.NoError(t, err)
	})).ServeHTTP(hijackable{httptest.NewRecorder()}, httptest.NewRequestWithContext(ctx, http.MethodGet, "/", http.NoBody))
	assert.Equal(t, 1, f.Open())
	require.NoError(t, c.Close())
	assert.Zero(t, f.Open())
}

// Ensure that HTTP requests count as calls until their handler returns.
func TestHandler(t *testing.T) {
	t.Parallel()
	f := newFront(t, limits.Limits{limits.StreamsPerAddress: 2})
	_, c := f.connect(t, clientAddress)
	request := func(path string) *http.Request {
		return httptest.NewRequestWithContext(peer.NewContext(t.Context(), &peer.Peer{Addr: c.RemoteAddr()}), http.MethodGet, path, http.NoBody)
	}
	depth := 0
	var codes []int
	var handler http.Handler
	handler = f.Handler(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		if depth++; depth < 3 {
			inner := httptest.NewRecorder()
			handler.ServeHTTP(inner, request("/"))
			codes = append(codes, inner.Code)
		}
		_, _ = w.Write([]byte("done"))
	}))
	outer := httptest.NewRecorder()
	handler.ServeHTTP(outer, request("/"))
	assert.Equal(t, http.StatusOK, outer.Code)
	assert.Equal(t, []int{http.StatusTooManyRequests, http.StatusOK}, codes)
	assert.True(t, c.proven.Load())
	assert.Zero(t, f.Open())
	assert.Zero(t, c.budget.unread.Load())
	f.Stop()
	handler.ServeHTTP(outer, request("/"))
	assert.Equal(t, 2, depth)
}

// requests is a stream on which any number of requests arrive.
type requests struct {
	grpc.ServerStream
	ctx context.Context
}

func (r requests) Context() context.Context { return r.ctx }
func (requests) RecvMsg(any) error          { return nil }

// Ensure that each request on a stream of another service counts as reads.
func TestStream_Paced(t *testing.T) {
	t.Parallel()
	f := newFront(t, limits.Limits{limits.ReadsPerAddressPerSecond: 1})
	_, c := f.connect(t, clientAddress)
	s, _, _ := c.open("/grpc.reflection.v1.ServerReflection/ServerReflectionInfo")
	received := 0
	err := f.stream(requests{ctx: s}, &grpc.StreamServerInfo{FullMethod: "/grpc.reflection.v1.ServerReflection/ServerReflectionInfo"},
		func(_ any, stream grpc.ServerStream) error {
			for {
				if err := stream.RecvMsg(nil); err != nil {
					return err
				}
				received++
			}
		})
	assert.Equal(t, "reads_per_address_per_second", fieldOf(err))
	assert.Equal(t, (Burst-2)/streamReads, received, "the connection and the call count, too")
}
