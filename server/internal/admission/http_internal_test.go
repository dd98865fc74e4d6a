package admission

import (
	"bufio"
	"context"
	"errors"
	"io"
	"net"
	"net/http"
	"net/http/httptest"
	"strings"
	"testing"
	"time"

	middleware "github.com/grpc-ecosystem/go-grpc-middleware/v2"
	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
	"golang.org/x/time/rate"
	"google.golang.org/grpc"
	"google.golang.org/grpc/codes"
	"google.golang.org/grpc/peer"
	"google.golang.org/grpc/status"

	waittest "github.com/gridstand/gridstand/internal/testkit/wait"
	"github.com/gridstand/gridstand/server/internal/ratelimit"
	"github.com/gridstand/gridstand/server/limits"
)

// served is an HTTP server that serves a Control's HTTP connections.
type served struct {
	*Control
	addr   string
	closed chan string // name of the exceeded limit, for each connection that was closed because of one
}

// serveHTTP starts a server with the given handler. If proxies is set, the Control trusts
// its clients as proxies.
func serveHTTP(t *testing.T, l *limits.Limits, proxies bool, handler http.Handler) *served {
	t.Helper()
	listener, err := net.Listen("tcp", "127.0.0.1:0")
	require.NoError(t, err)
	s := &served{addr: listener.Addr().String(), closed: make(chan string, 100)}
	c := Config{
		Limits: l, Stopping: errors.New("stopping"), Stall: waittest.Patience,
		Refuse: func(e *limits.ExceededError) error { return e },
		Answer: func(w http.ResponseWriter, _ *http.Request, err error) {
			status := http.StatusServiceUnavailable
			if exceeded := new(limits.ExceededError); errors.As(err, &exceeded) {
				status = http.StatusTooManyRequests
				w.Header().Set("Limit", exceeded.Field)
			}
			w.WriteHeader(status)
		},
		Closed: func(limit, _ string) { s.closed <- limit }, Refused: func(string, string) {},
	}
	if proxies {
		c.Proxies, err = ratelimit.ParseProxies("127.0.0.1")
		require.NoError(t, err)
	}
	s.Control = New(listener, c)
	server := &http.Server{
		Handler: s.Handler(handler),
		ConnContext: func(ctx context.Context, conn net.Conn) context.Context {
			return peer.NewContext(ctx, &peer.Peer{Addr: conn.RemoteAddr()})
		},
	}
	done := make(chan struct{}, 2)
	go func() {
		defer func() { done <- struct{}{} }()
		for {
			accepted, err := s.Accept()
			if err != nil {
				return
			}
			if _, _, err := s.Credentials(nil).ServerHandshake(accepted); errors.Is(err, io.EOF) {
				_ = accepted.Close()
			}
		}
	}()
	go func() {
		defer func() { done <- struct{}{} }()
		_ = server.Serve(s.HTTP())
	}()
	t.Cleanup(func() {
		_ = s.Close()
		s.CloseAll()
		<-done
		<-done
		_ = server.Shutdown(context.Background())
		waittest.Until(t, "the connections and handlers end", func() bool { return s.Connections() == 0 && s.Handlers() == 0 })
		assert.Zero(t, s.Running())
		open, waiting := s.Streams()
		assert.Zero(t, open)
		assert.Zero(t, waiting)
		assert.Zero(t, s.addresses.Len())
	})
	return s
}

// send writes a request, or the beginning of one, to a new connection.
func (s *served) send(t *testing.T, request string) net.Conn {
	t.Helper()
	conn, err := (&net.Dialer{}).DialContext(t.Context(), "tcp", s.addr)
	require.NoError(t, err)
	t.Cleanup(func() { _ = conn.Close() })
	require.NoError(t, conn.SetDeadline(time.Now().Add(waittest.Patience)))
	_, err = io.WriteString(conn, request)
	require.NoError(t, err)
	return conn
}

// answerOf reads the response to a request.
func answerOf(t *testing.T, conn net.Conn) (*http.Response, string) {
	t.Helper()
	response, err := http.ReadResponse(bufio.NewReader(conn), nil)
	require.NoError(t, err)
	body, err := io.ReadAll(response.Body)
	require.NoError(t, err)
	require.NoError(t, response.Body.Close())
	return response, string(body)
}

func get(headers ...string) string {
	return strings.Join(append([]string{"GET / HTTP/1.1", "Host: gridstand"}, headers...), "\r\n") + "\r\n\r\n"
}

// post returns a POST request with the given Content-Length and body. If the body is
// shorter than that, the request is incomplete.
func post(length, body string) string {
	return "POST / HTTP/1.1\r\nHost: gridstand\r\nContent-Length: " + length + "\r\n\r\n" + body
}

// Ensure that a request counts like a stream until its response is complete, that it
// counts toward the address that the proxy reports, and that a request over the limit is
// refused.
func TestHandler_Open(t *testing.T) {
	t.Parallel()
	entered, finish := make(chan struct{}), make(chan struct{})
	s := serveHTTP(t, &limits.Limits{StreamsPerAddress: 2}, true, http.HandlerFunc(func(http.ResponseWriter, *http.Request) {
		entered <- struct{}{}
		<-finish
	}))
	first, second := "X-Forwarded-For: 192.0.2.1", "X-Forwarded-For: 192.0.2.2"
	var conns []net.Conn
	for range 2 {
		conns = append(conns, s.send(t, get(first)))
		<-entered
	}
	open, waiting := s.Streams()
	assert.Equal(t, 2, open)
	assert.Zero(t, waiting)
	assert.Equal(t, 2, s.Running())
	response, _ := answerOf(t, s.send(t, get(first)))
	assert.Equal(t, http.StatusTooManyRequests, response.StatusCode)
	assert.Equal(t, "streams_per_address", response.Header.Get("Limit"))
	conns = append(conns, s.send(t, get(second)))
	<-entered
	close(finish)
	for _, conn := range conns {
		response, _ := answerOf(t, conn)
		assert.Equal(t, http.StatusOK, response.StatusCode)
	}
	conn := s.send(t, get(first))
	<-entered
	answerOf(t, conn)

	s.Stop()
	response, _ = answerOf(t, s.send(t, get(second)))
	assert.Equal(t, http.StatusServiceUnavailable, response.StatusCode)
}

// Ensure that a request counts as incomplete while its handler waits for the body, that
// the wait times out, and that only complete requests count as running.
func TestHandler_Incomplete(t *testing.T) {
	t.Parallel()
	read := make(chan error, 10)
	s := serveHTTP(t, &limits.Limits{MessageBytes: 100, IncompletePerAddress: 2}, false, http.HandlerFunc(func(_ http.ResponseWriter, r *http.Request) {
		_, err := io.ReadAll(r.Body)
		read <- err
	}))
	var conns []net.Conn
	for range 3 {
		conns = append(conns, s.send(t, post("9", "a part")))
	}
	waittest.Until(t, "requests wait", func() bool { _, waiting := s.Streams(); return waiting == 3 })
	assert.Zero(t, s.Running())
	for range lateAfter {
		s.sweep()
	}
	require.ErrorIs(t, <-read, context.DeadlineExceeded, "over the limit")
	waittest.Until(t, "requests wait", func() bool { _, waiting := s.Streams(); return waiting == 2 })
	response, _ := answerOf(t, s.send(t, get()))
	assert.Equal(t, "incomplete_per_address", response.Header.Get("Limit"))
	for range requestTimeout {
		s.sweep()
	}
	require.ErrorIs(t, <-read, context.DeadlineExceeded)
	require.ErrorIs(t, <-read, context.DeadlineExceeded)
	for _, conn := range conns { // The server must close these: it would read the rest of a body as the next request.
		response, _ := answerOf(t, conn)
		assert.True(t, response.Close)
	}

	complete := s.send(t, post("9", "is all of"))
	require.NoError(t, <-read)
	response, _ = answerOf(t, complete)
	assert.False(t, response.Close)
	long := s.send(t, post("2000000000", strings.Repeat("long", 1000)))
	var tooLong *http.MaxBytesError
	require.ErrorAs(t, <-read, &tooLong)
	response, _ = answerOf(t, long)
	assert.True(t, response.Close)
}

// Ensure that a response counts toward the limit until the client has read it, that its
// request does not count as running in the meantime, and that a connection with too many
// unread bytes is closed.
func TestHandler_Unread(t *testing.T) {
	t.Parallel()
	const block = 1 << 20
	l := &limits.Limits{HeldBytesPerAddress: connectionShare * block}
	wrote := make(chan error, 1)
	s := serveHTTP(t, l, false, http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		size := block
		if r.Header.Get("More") != "" {
			size++
		}
		for err := error(nil); ; {
			if _, err = w.Write(make([]byte, size)); err != nil {
				wrote <- err
				return
			}
		}
	}))
	unread := s.send(t, get())
	waittest.Until(t, "nothing is held", func() bool { return s.held("127.0.0.1") == block && s.Running() == 0 })
	_ = unread.Close()
	require.Error(t, <-wrote)
	waittest.Until(t, "nothing is held", func() bool { return s.held("127.0.0.1") == 0 })
	s.send(t, get("More: yes"))
	require.Error(t, <-wrote)
	assert.Equal(t, "held_bytes_per_address", <-s.closed)
}

// Ensure that an address behind a proxy that uses HTTP/2 does not use up the connection's share
// for other addresses, and that the address's own limit applies.
func TestHandler_UnreadBehindProxy(t *testing.T) {
	t.Parallel()
	const block, size = 1 << 20, 3 << 18 // a write of one response alone is below the connection's share
	listener, err := net.Listen("tcp", "127.0.0.1:0")
	require.NoError(t, err)
	proxies, err := ratelimit.ParseProxies("127.0.0.1")
	require.NoError(t, err)
	refused := make(chan string, 1)
	c := New(listener, Config{
		Limits: &limits.Limits{HeldBytesPerAddress: connectionShare * block}, Proxies: proxies, Stall: waittest.Patience,
		Refused: func(limit, address string) { refused <- limit + " " + address },
	})
	server := &http.Server{
		Handler: c.Handler(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
			for err := error(nil); err == nil && r.URL.Path == "/endless"; {
				_, err = w.Write(make([]byte, size))
			}
		})),
		ConnContext: func(ctx context.Context, conn net.Conn) context.Context {
			return peer.NewContext(ctx, &peer.Peer{Addr: conn.RemoteAddr()})
		},
		Protocols: new(http.Protocols),
	}
	server.Protocols.SetUnencryptedHTTP2(true)
	done := make(chan error, 1)
	go func() { done <- server.Serve(c.Beside(listener)) }()
	// The window of a stream is smaller than a block, so that the first write of each response waits
	// until the client reads.
	transport := &http.Transport{Protocols: new(http.Protocols), HTTP2: &http.HTTP2Config{MaxReceiveBufferPerStream: 64 << 10}}
	transport.Protocols.SetUnencryptedHTTP2(true)
	t.Cleanup(func() {
		c.CloseAll()
		_ = server.Close()
		transport.CloseIdleConnections()
		require.ErrorIs(t, <-done, http.ErrServerClosed)
		waittest.Until(t, "no handler runs", func() bool { return c.Handlers() == 0 })
	})
	send := func(path, address string) error {
		request, err := http.NewRequestWithContext(t.Context(), http.MethodGet, "http://"+listener.Addr().String()+path, http.NoBody)
		require.NoError(t, err)
		request.Header.Set("X-Forwarded-For", address)
		response, err := transport.RoundTrip(request)
		if err == nil {
			t.Cleanup(func() { _ = response.Body.Close() })
		}
		return err
	}
	const greedy = "192.0.2.1"
	for n := int64(1); n <= connectionShare*block/size; n++ {
		require.NoError(t, send("/endless", greedy))
		waittest.Until(t, "the bytes are counted", func() bool { return c.held(greedy) >= n*size })
	}
	require.Equal(t, 1, c.Connections())
	require.NoError(t, send("/", "192.0.2.2"))
	assert.Empty(t, refused)
	require.Error(t, send("/endless", greedy))
	assert.Equal(t, "held_bytes_per_address "+greedy, <-refused)
}

// held returns the number of bytes held for an address.
func (c *Control) held(address string) int64 {
	from, ok := c.addresses.Enter(address, 0)
	if !ok {
		return 0
	}
	defer c.addresses.Leave(address)
	return from.held.Load()
}

// Ensure that a client that reads nothing is disconnected after the timeout.
func TestHandler_Stall(t *testing.T) {
	t.Parallel()
	wrote := make(chan error, 1)
	s := serveHTTP(t, &limits.Limits{}, false, http.HandlerFunc(func(w http.ResponseWriter, _ *http.Request) {
		for {
			if _, err := w.Write(make([]byte, 1<<20)); err != nil {
				wrote <- err
				return
			}
		}
	}))
	s.Control.Stall = 50 * time.Millisecond
	s.send(t, get())
	var timeout net.Error
	require.ErrorAs(t, <-wrote, &timeout)
	assert.True(t, timeout.Timeout())
}

// Ensure that requests for events have a separate limit, and that a hijacked request
// counts until its connection is closed.
func TestControl_EnterSSE(t *testing.T) {
	t.Parallel()
	taken := make(chan net.Conn, 10)
	var control *Control
	s := serveHTTP(t, &limits.Limits{SSEPerAddress: 2}, false, http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		leave, err := control.EnterSSE(r.Context())
		if err != nil {
			control.Answer(w, r, err)
			return
		}
		conn, _, err := http.NewResponseController(w).Hijack()
		if assert.NoError(t, err) {
			taken <- &leaving{conn, leave}
		}
	}))
	control = s.Control
	for range 2 {
		s.send(t, get())
	}
	one, other := <-taken, <-taken
	waittest.Until(t, "no handler runs", func() bool { return s.Running() == 0 })
	open, _ := s.Streams()
	assert.Equal(t, 2, open)
	response, _ := answerOf(t, s.send(t, get()))
	assert.Equal(t, "sse_per_address", response.Header.Get("Limit"))
	require.NoError(t, one.Close())
	s.send(t, get())
	third := <-taken
	waittest.Until(t, "only the refused connection is closed", func() bool { return s.Connections() == 2 })
	require.NoError(t, other.Close())
	require.NoError(t, third.Close())
}

// leaving is a connection that calls leave when it is closed.
type leaving struct {
	net.Conn
	leave func()
}

func (l *leaving) Close() error {
	l.leave()
	return l.Conn.Close()
}

// Ensure that a client's first bytes determine the protocol.
func TestCredentials(t *testing.T) {
	t.Parallel()
	s := serveHTTP(t, &limits.Limits{}, false, http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		_, _ = io.WriteString(w, r.RequestURI)
	}))
	response, body := answerOf(t, s.send(t, "GET /a HTTP/1.1\r\nHost: gridstand\r\n\r\n"))
	assert.Equal(t, http.StatusOK, response.StatusCode)
	assert.Equal(t, "/a", body)
	response, body = answerOf(t, s.send(t, "\x16\x03\x01\x02\x00\x01\x00\x01\xfc\x03\x03"+strings.Repeat("hello", 100)))
	assert.Equal(t, http.StatusBadRequest, response.StatusCode)
	assert.Contains(t, body, "does not use TLS")
	closed := s.send(t, "GE")
	require.NoError(t, closed.(*net.TCPConn).CloseWrite())
	rest, err := io.ReadAll(closed)
	require.NoError(t, err)
	assert.Empty(t, rest)
	assert.True(t, isRequest([]byte("POST ")))
	assert.False(t, isRequest([]byte(preface+"\x00")))
}

// Ensure that a connection is closed after a request on it has been refused because of a
// limit, without handling the requests that the client has already sent, but that a
// proxy's connection stays open.
func TestHandler_Refused(t *testing.T) {
	t.Parallel()
	refusal := status.Error(codes.ResourceExhausted, "too many")
	for name, refuse := range map[string]func(c *Control, w http.ResponseWriter, r *http.Request){
		"status":      func(_ *Control, w http.ResponseWriter, _ *http.Request) { w.WriteHeader(http.StatusTooManyRequests) },
		"gRPC status": func(_ *Control, w http.ResponseWriter, _ *http.Request) { w.Header().Set("Grpc-Status", "8") },
		"call": func(c *Control, w http.ResponseWriter, r *http.Request) {
			_, err := c.UnaryHTTP(r.Context(), nil, nil, func(context.Context, any) (any, error) { return nil, refusal })
			assert.Equal(t, refusal, err)
			_, _ = io.WriteString(w, "refused")
		},
		"stream": func(c *Control, w http.ResponseWriter, r *http.Request) {
			stream := &middleware.WrappedServerStream{WrappedContext: r.Context()}
			err := c.StreamHTTP(nil, stream, nil, func(any, grpc.ServerStream) error { return refusal })
			assert.Equal(t, refusal, err)
			assert.NoError(t, http.NewResponseController(w).Flush())
		},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			for _, proxies := range []bool{false, true} {
				var s *served
				s = serveHTTP(t, &limits.Limits{}, proxies, http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
					if r.Header.Get("Refuse") != "" {
						refuse(s.Control, w, r)
					}
				}))
				all := bufio.NewReader(s.send(t, get()+get("Refuse: yes")+get()))
				next := func() (closing bool, err error) {
					response, err := http.ReadResponse(all, nil)
					if err != nil {
						return false, err
					}
					_, err = io.Copy(io.Discard, response.Body)
					require.NoError(t, err)
					return response.Close, response.Body.Close()
				}
				for _, want := range []bool{false, !proxies} {
					closing, err := next()
					require.NoError(t, err)
					assert.Equal(t, want, closing)
				}
				_, err := next()
				assert.Equal(t, proxies, err == nil, "a request after the refused one")
			}
		})
	}
}

// Ensure that a connection is closed after a mistake if its address makes too many, that
// malformed calls count as mistakes whatever the status of their response, and that errors of
// the server do not count.
func TestHandler_Failures(t *testing.T) {
	t.Parallel()
	broken := status.Error(codes.NotFound, "no such game")
	for name, tt := range map[string]struct {
		request string
		handle  func(c *Control, w http.ResponseWriter, r *http.Request)
		counted bool
	}{
		"success": {get(), func(*Control, http.ResponseWriter, *http.Request) {}, false},
		"status":  {get(), func(_ *Control, w http.ResponseWriter, _ *http.Request) { w.WriteHeader(http.StatusNotFound) }, true},
		"call": {post("0", ""), func(c *Control, _ http.ResponseWriter, r *http.Request) {
			_, _ = c.UnaryHTTP(r.Context(), nil, nil, func(context.Context, any) (any, error) { return nil, nil })
		}, false},
		"failed call": {post("0", ""), func(c *Control, _ http.ResponseWriter, r *http.Request) {
			_, _ = c.UnaryHTTP(r.Context(), nil, nil, func(context.Context, any) (any, error) { return nil, broken })
		}, true},
		"unavailable call": {post("0", ""), func(c *Control, w http.ResponseWriter, r *http.Request) {
			_, _ = c.UnaryHTTP(r.Context(), nil, nil, func(context.Context, any) (any, error) { return nil, status.Error(codes.Unavailable, "") })
			w.WriteHeader(http.StatusServiceUnavailable)
		}, false},
		"unavailable": {get(), func(_ *Control, w http.ResponseWriter, _ *http.Request) { w.WriteHeader(http.StatusServiceUnavailable) }, false},
		"stream": {post("0", ""), func(c *Control, w http.ResponseWriter, r *http.Request) {
			_ = c.StreamHTTP(nil, &middleware.WrappedServerStream{WrappedContext: r.Context()}, nil, func(any, grpc.ServerStream) error {
				return http.NewResponseController(w).Flush()
			})
		}, false},
		"failed stream": {post("0", ""), func(c *Control, _ http.ResponseWriter, r *http.Request) {
			_ = c.StreamHTTP(nil, &middleware.WrappedServerStream{WrappedContext: r.Context()}, nil, func(any, grpc.ServerStream) error { return broken })
		}, true},
		"malformed call": {post("0", ""), func(_ *Control, w http.ResponseWriter, _ *http.Request) { w.WriteHeader(http.StatusOK) }, true},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			var s *served
			s = serveHTTP(t, &limits.Limits{}, false, http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) { tt.handle(s.Control, w, r) }))
			s.failures = ratelimit.NewPacer(rate.Every(time.Hour), 2)
			all := bufio.NewReader(s.send(t, strings.Repeat(tt.request, 4)))
			answered, closing := 0, false
			for ; answered < 4 && !closing; answered++ {
				response, err := http.ReadResponse(all, nil)
				require.NoError(t, err)
				_, err = io.Copy(io.Discard, response.Body)
				require.NoError(t, err)
				require.NoError(t, response.Body.Close())
				closing = response.Close
			}
			assert.Equal(t, tt.counted, closing)
			if tt.counted {
				assert.Equal(t, 3, answered)
			}
		})
	}
}

// Ensure that requests of HTTP/2 connections keep the server busy, except streams.
func TestHandler_Busy(t *testing.T) {
	t.Parallel()
	read := func(_ *Control, r *http.Request) { _, _ = io.ReadAll(r.Body) }
	for name, tt := range map[string]struct {
		major  int
		handle func(*Control, *http.Request)
		busy   int64
	}{
		"a request": {2, read, 1},
		"HTTP/1.1":  {1, read, 0},
		"Server-Sent Events": {2, func(c *Control, r *http.Request) {
			leave, _ := c.EnterSSE(r.Context())
			leave()
		}, 0},
		"a stream": {2, func(c *Control, r *http.Request) {
			stream := &middleware.WrappedServerStream{WrappedContext: r.Context()}
			_ = c.StreamHTTP(nil, stream, nil, func(any, grpc.ServerStream) error {
				read(c, r)
				return nil
			})
		}, 0},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			c := newControl(t)
			_, conns := connections(t, c, "192.0.2.1", 1)
			r := httptest.NewRequest(http.MethodPost, "/", strings.NewReader("request"))
			r.ProtoMajor = tt.major
			r = r.WithContext(peer.NewContext(r.Context(), &peer.Peer{Addr: conns[0].RemoteAddr()}))
			c.Handler(http.HandlerFunc(func(_ http.ResponseWriter, r *http.Request) {
				tt.handle(c, r)
				assert.Equal(t, tt.busy, conns[0].from.busy.Load())
			})).ServeHTTP(httptest.NewRecorder(), r)
			assert.Zero(t, conns[0].from.busy.Load())
			require.NoError(t, conns[0].Close())
			requireEmpty(t, c)
		})
	}
}
