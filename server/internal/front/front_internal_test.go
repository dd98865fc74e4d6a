package front

import (
	"context"
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
	"google.golang.org/grpc/mem"
	"google.golang.org/grpc/metadata"
	"google.golang.org/grpc/peer"
	"google.golang.org/grpc/status"
	"google.golang.org/grpc/tap"
	"google.golang.org/protobuf/types/known/wrapperspb"

	pb "github.com/gridstand/gridstand/proto/gridstand/v1"
	"github.com/gridstand/gridstand/server/internal/store"
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

func fieldOf(err error) string {
	var exceeded *limits.ExceededError
	errors.As(err, &exceeded)
	if exceeded == nil {
		return ""
	}
	return exceeded.Field
}

// Ensure that an address may have a number of connections, and another one when one is closed, and that
// this does not apply to proxies.
func TestEnter_Connections(t *testing.T) {
	t.Parallel()
	f := newFront(t, limits.Limits{ConnectionsPerAddress: 2})
	f.connect(t, clientAddress)
	_, second := f.connect(t, clientAddress)
	full := &fakeConn{peer: second.Conn.RemoteAddr()}
	_, exceeded := f.enter(full)
	assert.Equal(t, "connections_per_address", exceeded)
	f.connect(t, otherAddress)
	require.NoError(t, second.Close())
	require.NoError(t, second.Close(), "only the first counts")
	f.connect(t, clientAddress)
	_, exceeded = f.enter(full)
	assert.Equal(t, "connections_per_address", exceeded)
	for range 3 {
		f.connect(t, proxyAddress)
	}
	f.CloseAll()
	assert.Zero(t, f.Connections())
}

// Ensure that an address opens new connections at the rate of its calls.
func TestEnter_Rate(t *testing.T) {
	t.Parallel()
	f := newFront(t, limits.Limits{ReadsPerAddressPerSecond: 1})
	for range Burst {
		f.connect(t, clientAddress)
	}
	_, exceeded := f.enter(&fakeConn{peer: &net.TCPAddr{IP: net.ParseIP(clientAddress)}})
	assert.Equal(t, "reads_per_address_per_second", exceeded)
}

// Ensure that the oldest connection that has proven nothing makes room for another one of its address,
// and that this closes neither connections that are in use nor those of a proxy.
func TestEnter_Unproven(t *testing.T) {
	t.Parallel()
	f := newFront(t, limits.Limits{})
	inUse, used := f.connect(t, clientAddress)
	used.prove()
	proxy, _ := f.connect(t, proxyAddress)
	other, _ := f.connect(t, otherAddress)
	first, _ := f.connect(t, clientAddress)
	second, _ := f.connect(t, clientAddress)
	for range maxUnproven - 1 {
		f.connect(t, clientAddress)
	}
	assert.True(t, first.closed)
	for _, c := range []*fakeConn{inUse, second, proxy, other} {
		assert.False(t, c.closed)
	}
	f.Stop()
	assert.True(t, second.closed)
	assert.False(t, inUse.closed)
}

// Ensure that an address may have a number of open calls, whether or not a handler has begun, also
// behind a proxy, and that others have their own.
func TestTap_Calls(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		f := newFront(t, limits.Limits{StreamsPerAddress: 2})
		_, c := f.connect(t, clientAddress)
		_, leave, refusedBy := c.open(anyMethod)
		require.Empty(t, refusedBy)
		s, end, refusedBy := c.open(anyMethod)
		require.Empty(t, refusedBy)
		_, _, refusedBy = c.open(anyMethod)
		assert.Equal(t, "streams_per_address", refusedBy)
		_, _, refusedBy = c.open(pb.GameService_Move_FullMethodName)
		assert.Equal(t, "streams_per_address", refusedBy)
		_, proxy := f.connect(t, proxyAddress)
		_, _, refusedBy = proxy.open(anyMethod, clientAddress)
		assert.Equal(t, "streams_per_address", refusedBy)
		_, endOther, refusedBy := proxy.open(anyMethod, otherAddress)
		require.Empty(t, refusedBy)

		leave() // before its handler has begun
		synctest.Wait()
		_, endThird, refusedBy := c.open(anyMethod)
		require.Empty(t, refusedBy)
		_, err := f.Unary(s, nil, nil, func(context.Context, any) (any, error) {
			assert.Equal(t, 1, f.Running())
			end() // The call counts until its handler returns.
			synctest.Wait()
			assert.Equal(t, 3, f.Open())
			return nil, nil
		})
		require.NoError(t, err)
		assert.Equal(t, 2, f.Open())
		endThird()
		endOther()
		synctest.Wait()
		assert.Zero(t, f.Open())
	})
}

// Ensure that calls other than moves count as reads, that mistakes do, too, and that the connection of
// an address is closed after many refusals, unless it belongs to a proxy.
func TestTap_Refusals(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		f := newFront(t, limits.Limits{ReadsPerAddressPerSecond: 1})
		fake, c := f.connect(t, clientAddress)
		fakeProxy, proxy := f.connect(t, proxyAddress)
		for _, each := range []*conn{c, proxy} {
			s, _, refusedBy := each.open(pb.GameService_Move_FullMethodName, otherAddress)
			require.Empty(t, refusedBy)
			for range Burst + refusalBurst - 1 {
				err := status.Error(codes.NotFound, "no such game")
				_, _ = f.Unary(s, nil, nil, func(context.Context, any) (any, error) { return nil, err })
			}
			_, _, refusedBy = each.open(anyMethod, otherAddress)
			assert.Equal(t, "reads_per_address_per_second", refusedBy)
			_, _, refusedBy = each.open(pb.GameService_Move_FullMethodName, otherAddress)
			require.Empty(t, refusedBy)
			_, _, _ = each.open(anyMethod, otherAddress)
			_, _, _ = each.open(anyMethod, otherAddress)
		}
		assert.True(t, fake.closed)
		assert.False(t, fakeProxy.closed)
		_, _, refusedBy := c.open(anyMethod)
		assert.Empty(t, refusedBy, "the error says that the server stops, so that the client connects again")
		time.Sleep(time.Second) //nolint:forbidigo // The bubble's clock is fake.
		_, _, refusedBy = proxy.open(anyMethod, otherAddress)
		assert.Empty(t, refusedBy)
	})
}

// Ensure that what a client sends counts as reads, even if it is no call.
func TestConn_Read(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		f := newFront(t, limits.Limits{ReadsPerAddressPerSecond: 1})
		fake, c := f.connect(t, clientAddress)
		fakeProxy, proxy := f.connect(t, proxyAddress)
		for _, each := range []*conn{c, proxy} {
			for range 2 * (Burst + refusalBurst) {
				_, _ = each.Read(make([]byte, bytesPerRead/2))
			}
			_, _ = each.Read(make([]byte, bytesPerRead))
		}
		assert.True(t, fake.closed)
		assert.False(t, fakeProxy.closed)
	})
}

// Ensure that a client that sends more than it may pays for it before its address connects again, also
// if its request is longer than a message.
func TestCharge(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		f := newFront(t, limits.Limits{ReadsPerAddressPerSecond: 1, MessageBytes: 1})
		connects := func(address string) bool {
			_, exceeded := f.enter(&fakeConn{peer: &net.TCPAddr{IP: net.ParseIP(address), Port: 1}})
			return exceeded == ""
		}
		_, c := f.connect(t, clientAddress)
		_, _ = c.Read(make([]byte, 20*bytesPerRead))
		assert.False(t, connects(clientAddress))
		time.Sleep(2 * time.Second)
		assert.True(t, connects(clientAddress))

		_, c = f.connect(t, otherAddress)
		request := httptest.NewRequestWithContext(peer.NewContext(t.Context(), &peer.Peer{Addr: c.RemoteAddr()}), http.MethodPost, "/", http.NoBody)
		request.ContentLength = 1 << 40
		f.Handler(http.NotFoundHandler()).ServeHTTP(httptest.NewRecorder(), request)
		assert.False(t, connects(otherAddress))
	})
}

// Ensure that responses count until gRPC releases them, that the connection of an address with too many
// is closed, and that a call behind a proxy is then refused.
func TestUnread(t *testing.T) {
	t.Parallel()
	f := newFront(t, limits.Limits{HeldBytesPerAddress: 100_000})
	answer := func(s *call, size int) mem.BufferSlice {
		reply, err := f.Unary(s, nil, nil, func(context.Context, any) (any, error) { return wrapperspb.Bytes(make([]byte, size)), nil })
		require.NoError(t, err)
		buffers, err := newCodec().Marshal(reply)
		require.NoError(t, err)
		return buffers
	}
	fake, c := f.connect(t, clientAddress)
	s, _, _ := c.open(anyMethod)
	for range 10 {
		buffers := answer(s, 60_000)
		buffers.Free()
		small := answer(s, 10)
		small.Free()
	}
	assert.Zero(t, c.budget.unread.Load())
	kept := answer(s, 60_000)
	assert.False(t, fake.closed)
	more := answer(s, 60_000)
	assert.True(t, fake.closed)
	kept.Free()
	more.Free()
	assert.Zero(t, c.budget.unread.Load(), "a closed connection holds nothing")

	fake, proxy := f.connect(t, proxyAddress)
	s, _, _ = proxy.open(anyMethod, clientAddress)
	kept = append(answer(s, 60_000), answer(s, 60_000)...)
	_, _, refusedBy := proxy.open(anyMethod, clientAddress)
	assert.Equal(t, "held_bytes_per_address", refusedBy)
	_, _, refusedBy = proxy.open(anyMethod, otherAddress)
	require.Empty(t, refusedBy)
	assert.False(t, fake.closed)
	kept.Free()
	_, _, refusedBy = proxy.open(anyMethod, clientAddress)
	require.Empty(t, refusedBy)
}

// Ensure that HTTP requests count as calls until their handler returns.
func TestHandler(t *testing.T) {
	t.Parallel()
	f := newFront(t, limits.Limits{StreamsPerAddress: 2})
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
	f := newFront(t, limits.Limits{ReadsPerAddressPerSecond: 1})
	_, c := f.connect(t, clientAddress)
	s, _, _ := c.open("/grpc.reflection.v1.ServerReflection/ServerReflectionInfo")
	received := 0
	err := f.Stream(nil, requests{ctx: s}, &grpc.StreamServerInfo{FullMethod: "/grpc.reflection.v1.ServerReflection/ServerReflectionInfo"},
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

// pages is a store of endless games.
type pages struct{ store.Games }

func (pages) Entries(_ context.Context, _ string, _ int32, n int) ([]store.Record, error) {
	return make([]store.Record, n), nil
}

// Ensure that the history that an address reads counts as its reads, that a read waits until the
// address has paid for what it read before, and that it is refused if that takes too long.
func TestHistory(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		budgets := NewBudgets(&limits.Limits{ReadsPerAddressPerSecond: 10}, nil)
		games := budgets.History(pages{})
		from := func(address string) context.Context {
			return peer.NewContext(t.Context(), &peer.Peer{Addr: &net.TCPAddr{IP: net.ParseIP(address), Port: 1}})
		}
		read := func(ctx context.Context, events int) (waited time.Duration, err error) {
			began := time.Now()
			_, err = games.Entries(ctx, "a", 1, events)
			return time.Since(began), err
		}
		client := from(clientAddress)
		for range Burst + 1 { // The last one is on credit.
			waited, err := read(client, 500)
			require.NoError(t, err)
			assert.Zero(t, waited)
		}
		require.Error(t, budgets.Check(clientAddress, 1), "other reads of the address count, too")
		waited, err := read(client, 1000)
		require.NoError(t, err)
		assert.Equal(t, time.Second, waited.Round(time.Millisecond))
		_, err = read(client, 500)
		assert.Equal(t, "reads_per_address_per_second", fieldOf(err))
		_, err = read(client, 1)
		require.NoError(t, err, "single entries are free")
		for _, ctx := range []context.Context{from(otherAddress), t.Context()} {
			waited, err := read(ctx, 500)
			require.NoError(t, err)
			assert.Zero(t, waited)
		}
		assert.Len(t, budgets.all, 2)
		time.Sleep(time.Minute) //nolint:forbidigo // The bubble's clock is fake.
		budgets.sweep()
		assert.Empty(t, budgets.all)
	})
}

// Ensure that the calls of an address that run at the same time are few, that others wait, and are
// refused if that takes too long, and that other addresses do not wait.
func TestEnterBudget(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		budgets := NewBudgets(&limits.Limits{ReadsPerAddressPerSecond: 100}, nil)
		var leave func()
		var err error
		for began := time.Now(); time.Since(began) == 0; {
			last := leave
			if leave, err = budgets.Enter(t.Context(), clientAddress); err != nil {
				leave = last
			}
		}
		assert.Equal(t, "reads_per_address_per_second", fieldOf(err))
		other, err := budgets.Enter(t.Context(), otherAddress)
		require.NoError(t, err)
		other()
		time.AfterFunc(maxWait/2, leave)
		_, err = budgets.Enter(t.Context(), clientAddress)
		require.NoError(t, err)
	})
}

// Ensure that a call runs until its response has been encoded: by gRPC, which then ends the stream, or
// before it is written over HTTP.
func TestEnterCall(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		f := newFront(t, limits.Limits{ReadsPerAddressPerSecond: 100})
		_, c := f.connect(t, clientAddress)
		slots := int64(max(1, runtime.GOMAXPROCS(0)/2))
		runs := func() bool {
			synctest.Wait()
			if !c.budget.running.TryAcquire(slots) {
				return true
			}
			c.budget.running.Release(slots)
			return false
		}
		s, cancel, _ := c.open(anyMethod)
		bounded, end := context.WithCancel(s)
		require.NoError(t, f.EnterCall(bounded, clientAddress))
		end()
		assert.True(t, runs())
		cancel()
		assert.False(t, runs())

		request := httptest.NewRequestWithContext(peer.NewContext(t.Context(), &peer.Peer{Addr: c.RemoteAddr()}), http.MethodGet, "/", http.NoBody)
		f.Handler(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
			for range 2 { // A page may need two calls.
				assert.NoError(t, f.EnterCall(r.Context(), clientAddress))
				assert.True(t, runs())
			}
			_, _ = w.Write([]byte("done"))
			assert.False(t, runs())
		})).ServeHTTP(httptest.NewRecorder(), request)
	})
}
