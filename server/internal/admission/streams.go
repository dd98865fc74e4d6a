package admission

import (
	"context"
	"strings"
	"sync/atomic"

	"google.golang.org/grpc"
	"google.golang.org/grpc/codes"
	"google.golang.org/grpc/health/grpc_health_v1"
	"google.golang.org/grpc/metadata"
	"google.golang.org/grpc/peer"
	"google.golang.org/grpc/status"
	"google.golang.org/grpc/tap"

	"github.com/gridstand/gridstand/server/limits"
)

// call is a stream, or a request by HTTP, from the arrival of its headers on. It is the
// context of its handler.
type call struct {
	context.Context                    // ends with the stream
	cancel          context.CancelFunc // nil for HTTP
	conn            *conn
	from            *addressState
	headers         int64 // size of the headers
	opened          int64 // sweep
	// began is the sweep in which a handler began to wait for the request, 0
	// before that.
	began atomic.Int64
	// overdue is set before cancel if the request did not arrive in time.
	overdue atomic.Bool

	at      int  // place in conn.waiting
	state   int8 // guarded by conn.mu
	late    bool // guarded by conn.mu
	running bool // for the handler alone
	// multiplexed says that the connection carries other requests by HTTP at the same
	// time.
	multiplexed bool
}

// States of a call.
const (
	waiting = int8(iota) // for its request
	open
	gone
)

func (s *call) index() *int { return &s.at }

type callKey struct{}

// Value implements context.Context.
func (s *call) Value(key any) any {
	if key == (callKey{}) {
		return s
	}
	return s.Context.Value(key)
}

// Err implements context.Context. gRPC answers with it if the request did not arrive.
func (s *call) Err() error {
	err := s.Context.Err()
	if err != nil && s.overdue.Load() {
		return context.DeadlineExceeded
	}
	return err
}

func callOf(ctx context.Context) *call {
	c, _ := ctx.Value(callKey{}).(*call)
	return c
}

// Options make a gRPC server enforce the limits on its streams.
func (c *Control) Options() []grpc.ServerOption {
	return []grpc.ServerOption{
		grpc.InTapHandle(c.admit), grpc.ChainStreamInterceptor(c.stream), grpc.ForceServerCodecV2(newCodec()),
	}
}

// admit counts a stream whose headers arrived. gRPC calls it before it makes the
// stream, and answers with the error.
func (c *Control) admit(ctx context.Context, info *tap.Info) (context.Context, error) {
	p, ok := peer.FromContext(ctx)
	if !ok {
		return ctx, nil
	}
	addr, ok := p.Addr.(*peerAddr)
	if !ok {
		return ctx, nil
	}
	if c.stopping.Load() {
		return ctx, c.Stopping
	}
	s := &call{conn: addr.conn, from: addr.conn.from, headers: sizeOf(info.Header), opened: c.sweeps.Load()}
	s.Context, s.cancel = context.WithCancel(ctx)
	open := s.enter(info.Header["x-forwarded-for"])
	s.conn.mu.Lock()
	exceeded, closed := c.exceeded(s, open), s.conn.closed
	if exceeded == nil && !closed {
		s.conn.waiting.add(s)
		s.conn.waits.Add(1)
		c.waiting.Add(1)
	} else {
		s.state = gone
	}
	s.conn.mu.Unlock()
	if closed { // gRPC had its headers in a buffer.
		s.cancel()
		s.release()
		return ctx, c.Stopping
	}
	if exceeded != nil {
		s.cancel()
		s.release()
		s.conn.slow(refusedPenalty)
		return ctx, s.refuse(exceeded)
	}
	return s, nil
}

// enter counts a call until release, and returns how many its address has open.
func (s *call) enter(forwarded []string) (open int64) {
	c := s.conn.control
	if s.conn.proxy {
		s.from, _ = c.addresses.Enter(c.Proxies.Of(s.conn.RemoteAddr(), forwarded), 0)
	}
	s.from.held.Add(s.headers)
	c.open.Add(1)
	return s.from.open.Add(1)
}

// exceeded returns the error for the limit that a stream exceeds, or nil. It is
// called under the connection's mu.
func (c *Control) exceeded(s *call, open int64) *limits.ExceededError {
	l := c.Limits
	switch {
	case exceeds(open, l.StreamsPerAddress):
		return l.Exceeded(&l.StreamsPerAddress, "streams of one address at once", retryAfter)
	case !s.conn.proxy && exceeds(s.conn.late+1, l.IncompletePerConnection):
		return l.Exceeded(&l.IncompletePerConnection,
			"streams of one connection whose request has not arrived", retryAfter)
	case exceeds(s.from.late.Load()+1, l.IncompletePerAddress):
		return l.Exceeded(&l.IncompletePerAddress,
			"streams of one address whose request has not arrived", retryAfter)
	case exceeds(s.from.held.Load(), l.HeldBytesPerAddress):
		return c.holdsTooMuch()
	}
	return nil
}

func (c *Control) holdsTooMuch() *limits.ExceededError {
	l := c.Limits
	return l.Exceeded(&l.HeldBytesPerAddress,
		"bytes held for one address: answers that it has not read and headers of streams", retryAfter)
}

// sizeOf returns the approximate size of headers.
func sizeOf(header metadata.MD) (n int64) {
	for key, values := range header {
		for _, value := range values {
			n += int64(len(key) + len(value))
		}
	}
	return n
}

// begin notes that a handler waits for the request.
func (s *call) begin() { s.began.Store(s.conn.control.sweeps.Load()) }

// arrived notes that the request has arrived.
func (s *call) arrived() {
	s.conn.mu.Lock()
	if s.state == waiting {
		s.unlist()
		s.state = open
	}
	s.conn.mu.Unlock()
}

// unlist removes a stream from those without a request. It is called under the
// connection's mu.
func (s *call) unlist() {
	s.conn.waiting.remove(s)
	s.conn.waits.Add(-1)
	s.conn.control.waiting.Add(-1)
	if s.late {
		s.late = false
		s.conn.late--
		s.from.late.Add(-1)
	}
}

// end ends the call when its handler returns, or a stream without a handler ends.
func (s *call) end() {
	s.conn.mu.Lock()
	was := s.state
	if was == waiting {
		s.unlist()
	}
	s.state = gone
	s.conn.mu.Unlock()
	if was != gone {
		if s.cancel != nil {
			s.cancel()
		}
		s.release()
	}
}

// release removes a stream from all counts.
func (s *call) release() {
	s.from.held.Add(-s.headers)
	s.conn.release(s.from)
}

// release removes a stream of an address from the counts of streams.
func (c *conn) release(from *addressState) {
	c.control.open.Add(-1)
	from.open.Add(-1)
	if c.proxy {
		c.control.addresses.Leave(from.key)
	}
}

// sweep ends streams whose request is overdue, and late ones over the limit.
func (c *Control) sweep() {
	now := c.sweeps.Add(1)
	for _, conn := range c.all() {
		if conn.waits.Load() > 0 {
			conn.sweep(now)
		}
	}
}

func (c *conn) sweep(now int64) {
	l := c.control.Limits
	var over, overdue []*call
	c.mu.Lock()
	for _, s := range c.waiting.all {
		began := s.began.Load()
		switch {
		case began == 0:
			// gRPC answers some streams itself, for example those of unknown methods.
			if s.Context.Err() != nil {
				over = append(over, s)
			}
		case now-s.opened > requestTimeout:
			overdue = append(overdue, s)
		case !s.late && now-began >= lateAfter:
			s.late = true
			c.late++
			if exceeds(s.from.late.Add(1), l.IncompletePerAddress) || !c.proxy && exceeds(c.late, l.IncompletePerConnection) {
				overdue = append(overdue, s)
			}
		}
	}
	c.mu.Unlock()
	for _, s := range over {
		s.end()
	}
	for _, s := range overdue {
		s.overdue.Store(true)
		if s.cancel != nil {
			s.cancel()
		} else {
			s.stopReading()
		}
	}
}

// Registrar returns a registrar that passes services on to r. Their unary calls are
// counted until they are answered.
func (c *Control) Registrar(r grpc.ServiceRegistrar) grpc.ServiceRegistrar { return registrar{c, r} }

type registrar struct {
	control *Control
	next    grpc.ServiceRegistrar
}

// RegisterService implements grpc.ServiceRegistrar.
func (r registrar) RegisterService(desc *grpc.ServiceDesc, service any) {
	d := *desc
	d.Methods = make([]grpc.MethodDesc, len(desc.Methods))
	for i, m := range desc.Methods {
		d.Methods[i] = grpc.MethodDesc{MethodName: m.MethodName, Handler: r.control.unary(m.Handler)}
	}
	r.next.RegisterService(&d, service)
}

func (c *Control) unary(handle grpc.MethodHandler) grpc.MethodHandler {
	return func(service any, ctx context.Context, decode func(any) error, interceptor grpc.UnaryServerInterceptor) (any, error) {
		s := callOf(ctx)
		if s == nil {
			return handle(service, ctx, decode, interceptor)
		}
		defer s.end()
		s.begin()
		reply, err := handle(service, ctx, func(request any) error {
			err := decode(request)
			if err == nil {
				s.arrived()
				s.running = true
				c.running.Add(1)
			}
			return err
		}, interceptor)
		if s.running {
			c.running.Add(-1)
		}
		if s.Context.Err() != nil || status.Code(err) == codes.ResourceExhausted {
			s.conn.slow(callPenalty)
		}
		if err != nil {
			return nil, err
		}
		return s.answer(reply)
	}
}

// stream counts a stream until its handler ends.
func (c *Control) stream(service any, stream grpc.ServerStream, info *grpc.StreamServerInfo, handler grpc.StreamHandler) error {
	s := callOf(stream.Context())
	if s == nil {
		return handler(service, stream)
	}
	defer s.end()
	s.begin()
	with := arriving{stream, s}
	l := c.Limits
	switch {
	case strings.HasPrefix(info.FullMethod, "/gridstand."):
		// Its unread bytes are bounded in package match.
		err := handler(service, &with)
		if status.Code(err) == codes.ResourceExhausted {
			s.conn.slow(callPenalty)
		}
		return err
	case info.FullMethod == grpc_health_v1.Health_Watch_FullMethodName:
		defer s.from.healthWatches.Add(-1)
		if exceeds(s.from.healthWatches.Add(1), l.HealthWatchesPerAddress) {
			s.conn.slow(refusedPenalty)
			return s.refuse(l.Exceeded(&l.HealthWatchesPerAddress,
				"health watches of one address at once", retryAfter))
		}
		return handler(service, &counting{with})
	default:
		defer s.from.reflections.Add(-1)
		if exceeds(s.from.reflections.Add(1), l.ReflectionsPerAddress) {
			s.conn.slow(refusedPenalty)
			return s.refuse(l.Exceeded(&l.ReflectionsPerAddress,
				"reflection streams of one address at once", retryAfter))
		}
		return handler(service, &paced{counting{with}})
	}
}

// refuse returns the status for a limit that the stream exceeds.
func (s *call) refuse(e *limits.ExceededError) error {
	s.conn.control.Refused(e.Field, s.from.key)
	return s.conn.control.Refuse(e)
}

// arriving is a stream that notes when its request has arrived.
type arriving struct {
	grpc.ServerStream
	call *call
}

func (a *arriving) RecvMsg(m any) error {
	err := a.ServerStream.RecvMsg(m)
	if err == nil {
		a.call.arrived()
	}
	return err
}

// Unwrap returns the stream within.
func (a *arriving) Unwrap() grpc.ServerStream { return a.ServerStream }

// counting is a stream whose answers count until the client has read them.
type counting struct{ arriving }

func (c *counting) SendMsg(m any) error {
	reply, err := c.call.answer(m)
	if err != nil {
		return err
	}
	return c.ServerStream.SendMsg(reply)
}

// paced is a stream that limits the rate of requests of an address.
type paced struct{ counting }

func (p *paced) RecvMsg(m any) error {
	if err := p.counting.RecvMsg(m); err != nil {
		return err
	}
	c := p.call.conn.control
	if c.reflections.Take(p.call.from.key) {
		return nil
	}
	l := c.Limits
	return p.call.refuse(l.Exceeded(&l.ReflectionsPerAddressPerSecond,
		"reflection requests of one address in a second", c.reflections.Wait()))
}
